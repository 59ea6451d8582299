//! The parts of a report that have tables.

use super::content::Report;
use super::table::Table;

const DIFFERENCE_NOTE: &str = "Paired bootstrap: the same draws of documents for both models. p-values are \
    two-sided and not corrected for the number of comparisons; those below 0.05 \
    are marked.";
const FREQUENCY_NOTE: &str = "Head labels carry half of the training assignments, tail labels have one to five training \
    documents, the torso is between. P@k and PSP@k are what a group's hits contribute to those \
    of all labels, to which they add up; R@k is the share of its assignments that are found. \
    AUC and AUPR are means over labels with at least five test documents, in three groups of \
    about as many assignments; labels that are not ranked for a document are tied at the bottom.";
const CALIBRATION_NOTE: &str = "Places with a score near p should be hits with probability p: on the diagonal, scores \
    can be read as probabilities. The expected calibration error is the mean distance \
    from it.";

/// A part of the report with tables; the page adds pictures.
pub(super) struct Section {
    pub(super) id: &'static str,
    pub(super) heading: &'static str,
    pub(super) note: String,
    pub(super) tables: Vec<Table>,
}

impl Report {
    /// The parts between metrics and lists; those that say nothing about these models are left out.
    pub(super) fn table_sections(&self) -> Vec<Section> {
        let mut sections = Vec::new();
        let mut add = |id, heading, note: String, tables| {
            sections.push(Section {
                id,
                heading,
                note,
                tables,
            });
        };
        if let Some(dataset) = &self.published.dataset {
            let note = format!(
                "Recognised by {}. {}",
                self.published.matched_by.as_deref().unwrap_or_default(),
                dataset.note.as_deref().unwrap_or_default()
            );
            add(
                "published",
                "Published results",
                note,
                vec![self.published_table(dataset)],
            );
        } else if !self.published.warnings.is_empty() {
            let note = self.published.warnings.join(" ");
            add("published", "Published results", note, Vec::new());
        }
        if !self.comparisons.is_empty() {
            let note = DIFFERENCE_NOTE;
            add(
                "differences",
                "Differences",
                note.into(),
                vec![self.difference_table()],
            );
            add(
                "agreement",
                "Agreement",
                String::new(),
                vec![self.overlap_table()],
            );
        }
        add(
            "frequency",
            "Frequent and rare labels",
            FREQUENCY_NOTE.into(),
            vec![self.bucket_table(), self.frequency_table()],
        );
        let note = "Quarters of the documents, shortest first.";
        add(
            "length",
            "Short and long documents",
            note.into(),
            vec![self.length_table()],
        );
        add(
            "calibration",
            "Calibration",
            note.into(),
            vec![self.calibration_table()],
        );
        if self.models.iter().any(|model| !model.training.is_empty()) {
            add("training", "Training", String::new(), Vec::new());
        }
        sections
    }
}
