//! A report as Markdown.

use std::fmt::Write as _;

use plethora_core::grouped;

use super::content::{Report, WorstDocument};
use super::table::{Table, in_markdown};

/// Documents of each model; the page has more.
const SHOWN_DOCUMENTS: usize = 5;

impl Report {
    /// The tables of the report, without its pictures.
    pub(super) fn to_markdown(&self) -> String {
        let mut text = format!(
            "# Evaluation of {}\n\n{}\n",
            in_markdown(&self.names().join(", ")),
            in_markdown(&self.data_line())
        );
        let mut add = |heading: &str, note: &str, tables: &[String]| {
            let _ = write!(text, "\n## {heading}\n\n");
            if !note.is_empty() {
                let _ = write!(text, "{note}\n\n");
            }
            text.push_str(&tables.join("\n"));
        };
        let metrics = [
            self.model_table().to_markdown(),
            self.metric_table().to_markdown(),
        ];
        add("Metrics", &self.interval_note(), &metrics);
        for section in self.table_sections() {
            let warnings = section.warnings.iter();
            let warnings = warnings.map(|warning| format!("> Warning: {}\n", in_markdown(warning)));
            let mut parts: Vec<String> = warnings.collect();
            let filled = section.tables.iter().filter(|table| !table.rows.is_empty());
            parts.extend(filled.map(Table::to_markdown));
            // Some sections have pictures alone.
            if !parts.is_empty() {
                add(section.heading, &section.note, &parts);
            }
        }
        let k = self.settings.largest_k();
        let missed = self
            .models
            .iter()
            .map(|model| model.missed_table(k).to_markdown());
        add("Most missed labels", "", &missed.collect::<Vec<_>>());
        let documents = self.models.iter().map(|model| {
            let shown = model.worst_documents.iter().take(SHOWN_DOCUMENTS);
            let documents: String = shown.map(WorstDocument::to_markdown).collect();
            format!("{}\n\n{documents}", in_markdown(&model.name))
        });
        add("Worst documents", "", &documents.collect::<Vec<_>>());
        text
    }

    /// What the models were measured on.
    pub(super) fn data_line(&self) -> String {
        let data = &self.data;
        format!(
            "{}: {} documents ({} without labels), {} different true labels, {} assignments",
            data.path,
            grouped(data.num_documents),
            grouped(data.num_without_labels),
            grouped(data.num_labels),
            grouped(data.num_assignments)
        )
    }

    /// How intervals are made and read.
    pub(super) fn interval_note(&self) -> String {
        let bootstrap = self.settings.bootstrap;
        let threshold = if self.settings.is_tuned {
            "the model's tuned threshold".to_owned()
        } else {
            self.settings.threshold.to_string()
        };
        format!(
            "Intervals hold {} % of {} bootstrap draws (seed {}): of documents, and of labels for \
             macroF1 and coverage. F1 counts labels with a score from {} on among the best {}. \
             Propensities: A = {}, B = {}.",
            100.0 * bootstrap.confidence,
            grouped(bootstrap.resamples as u64),
            bootstrap.seed,
            threshold,
            self.settings.depth,
            self.settings.a,
            self.settings.b
        )
    }
}

impl WorstDocument {
    fn to_markdown(&self) -> String {
        let predictions = self.predictions.iter().map(|place| {
            let mark = if place.is_true { " (true)" } else { "" };
            format!("{} {:.3}{mark}", in_markdown(&place.name), place.score)
        });
        format!(
            "- {} (nDCG {:.2}): {}\n  - true: {}{}\n  - predicted: {}\n",
            in_markdown(&self.id),
            100.0 * self.ndcg,
            in_markdown(&self.text),
            in_markdown(&self.true_labels.join("; ")),
            self.more_labels(),
            predictions.collect::<Vec<_>>().join("; ")
        )
    }

    /// Says that more labels are true than are named.
    pub(super) fn more_labels(&self) -> String {
        match self.num_true_labels.saturating_sub(self.true_labels.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn the_text_has_all_sections_and_tables() {
        let text = sample::report().to_markdown();
        for heading in [
            "# Evaluation of linear \\<b\\>, neural",
            "## Metrics",
            "## Published results",
            "## Differences",
            "## Agreement",
            "## Frequent and rare labels",
            "## Short and long documents",
            "## Calibration",
            "## Most missed labels",
            "## Worst documents",
        ] {
            assert!(text.contains(heading), "{heading}\n{text}");
        }
        assert!(
            text.contains("| P@1 | **80.00** (75.00\u{2013}85.00) |"),
            "{text}"
        );
        assert!(!text.contains("<script>"));
    }
}
