//! The parts of a report that have tables.

use super::content::Report;
use super::table::Table;

const DIFFERENCE_NOTE: &str = "Paired bootstrap: the same draws of documents for both models. p-values are \
    two-sided and not corrected for the number of comparisons; those below 0.05 are marked.";
const FREQUENCY_NOTE: &str = "Head labels carry half of the training assignments, tail labels have one to \
    five training documents, the torso is between. P@k and PSP@k are what a group's hits contribute to \
    those of all labels, to which they add up; R@k is the share of its assignments that are found. AUC and \
    AUPR are means over labels with at least five test documents, in three groups of about as many \
    assignments; labels that are not ranked for a document are tied at the bottom.";
const LENGTH_NOTE: &str = "Quarters of the documents, shortest first.";
const CALIBRATION_NOTE: &str = "Places with a score near p should be hits with probability p: on the \
    diagonal, scores can be read as probabilities. The expected calibration error is the mean distance \
    from it.";

/// A part of the report with tables; the page adds pictures.
#[derive(Default)]
pub(super) struct Section {
    pub(super) id: &'static str,
    pub(super) heading: &'static str,
    pub(super) note: String,
    pub(super) warnings: Vec<String>,
    pub(super) tables: Vec<Table>,
}

impl Section {
    fn new(id: &'static str, heading: &'static str, note: &str, tables: Vec<Table>) -> Self {
        Self {
            id,
            heading,
            note: note.to_owned(),
            warnings: Vec::new(),
            tables,
        }
    }
}

impl Report {
    /// The parts between metrics and lists; those that say nothing about these models are left out.
    pub(super) fn table_sections(&self) -> Vec<Section> {
        let mut sections: Vec<Section> = self.published_section().into_iter().collect();
        if !self.comparisons.is_empty() {
            let differences = vec![self.difference_table()];
            sections.push(Section::new(
                "differences",
                "Differences",
                DIFFERENCE_NOTE,
                differences,
            ));
            let overlaps = vec![self.overlap_table()];
            sections.push(Section::new("agreement", "Agreement", "", overlaps));
        }
        let groups = vec![self.bucket_table(), self.frequency_table()];
        let heading = "Frequent and rare labels";
        sections.push(Section::new("frequency", heading, FREQUENCY_NOTE, groups));
        let lengths = vec![self.length_table()];
        let heading = "Short and long documents";
        sections.push(Section::new("length", heading, LENGTH_NOTE, lengths));
        let errors = vec![self.calibration_table()];
        sections.push(Section::new(
            "calibration",
            "Calibration",
            CALIBRATION_NOTE,
            errors,
        ));
        if self.models.iter().any(|model| !model.training.is_empty()) {
            sections.push(Section::new("training", "Training", "", Vec::new()));
        }
        sections
    }

    fn published_section(&self) -> Option<Section> {
        let (id, heading) = ("published", "Published results");
        let published = &self.published;
        if let Some(dataset) = &published.dataset {
            let note = format!(
                "Recognised by {}. {}",
                published.matched_by.as_deref().unwrap_or_default(),
                dataset.note.as_deref().unwrap_or_default()
            );
            return Some(Section::new(
                id,
                heading,
                &note,
                vec![self.published_table(dataset)],
            ));
        }
        (!published.warnings.is_empty()).then(|| Section {
            warnings: published.warnings.clone(),
            ..Section::new(id, heading, "", Vec::new())
        })
    }
}
