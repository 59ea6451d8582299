//! A check as people read it.

use std::fmt::Write as _;

use plethora_core::{grouped, one_field};

use super::content_hashes::Duplicates;
use super::report::{AgainstReport, CheckReport, CorpusReport, MissingLabels, SystemEstimate};
use crate::figures::{bytes, duration};

/// Longest bar of the histogram.
const BAR_WIDTH: u64 = 40;

impl CheckReport {
    /// All of it.
    pub fn render(&self) -> String {
        let mut text = render_corpus(&self.data);
        text.push_str(&render_duplicates("duplicates", &self.data.duplicates));
        if let Some(missing) = &self.unknown_to_vocabulary {
            text.push_str(&render_missing("unknown to the vocabulary", missing));
        }
        for line in &self.vocabulary_mistakes {
            let _ = writeln!(text, "vocabulary: {line}");
        }
        if self.data.num_assignments > 0 {
            text.push_str(&render_histogram(&self.data));
            text.push_str(&render_frequent(&self.data));
        }
        if let Some(against) = &self.against {
            text.push_str(&render_against(against));
        }
        text.push_str(&self.render_estimates());
        text
    }

    /// The counts and the histogram alone.
    pub fn render_briefly(&self) -> String {
        render_corpus(&self.data) + &render_histogram(&self.data)
    }

    fn render_estimates(&self) -> String {
        if self.estimates.is_empty() {
            return "\nNo document has labels, so there is nothing to train on.\n".into();
        }
        let mut text = format!(
            "\nTraining would take about this much; it is an estimate from {} features and {} \
             entries,\noften wrong by a factor of two.\n{:18}{:>12}{:>24}{:>14}\n",
            grouped(self.size.num_features),
            grouped(self.size.num_entries),
            "system",
            "CPU time",
            format!("with {} threads", self.num_threads),
            "memory",
        );
        for SystemEstimate { system, estimate } in &self.estimates {
            let _ = writeln!(
                text,
                "{:18}{:>12}{:>24}{:>14}",
                system,
                duration(estimate.cpu_seconds),
                duration(estimate.cpu_seconds / self.num_threads as f64),
                bytes(estimate.peak_memory_bytes)
            );
        }
        if self.has_devices {
            text.push_str("Neural systems take a small part of this time on a GPU.\n");
        }
        text
    }
}

fn render_corpus(corpus: &CorpusReport) -> String {
    let with_labels = corpus.num_documents - corpus.num_documents_without_labels;
    format!(
        "documents        {} ({})\n\
         without labels   {}\n\
         empty            {}\n\
         labels           {}\n\
         labels/document  {:.2} on average, {} at most\n\
         documents/label  {:.2} on average\n",
        grouped(corpus.num_documents),
        corpus.format,
        grouped(corpus.num_documents_without_labels),
        grouped(corpus.num_empty_documents),
        grouped(corpus.num_labels),
        corpus.num_assignments as f64 / with_labels.max(1) as f64,
        corpus.max_labels_per_document,
        corpus.num_assignments as f64 / corpus.num_labels.max(1) as f64,
    )
}

fn render_duplicates(name: &str, duplicates: &Duplicates) -> String {
    let examples = render_examples(&duplicates.examples);
    format!(
        "{name:16} {}{examples}\n",
        grouped(duplicates.num_documents)
    )
}

fn render_missing(name: &str, missing: &MissingLabels) -> String {
    format!(
        "{name}: {} labels, {} assignments{}\n",
        grouped(missing.num_labels),
        grouped(missing.num_assignments),
        render_examples(&missing.examples)
    )
}

fn render_examples(examples: &[String]) -> String {
    match examples {
        [] => String::new(),
        examples => format!(" (as {})", one_field(&examples.join(", "))),
    }
}

fn render_histogram(corpus: &CorpusReport) -> String {
    let mut text = format!("\n{:>10}{:>12}\n", "documents", "labels");
    let ranges = &corpus.label_frequencies;
    let most = ranges.iter().map(|range| range.num_labels).max();
    for range in ranges {
        let width = BAR_WIDTH * range.num_labels / most.unwrap_or(0).max(1);
        let _ = writeln!(
            text,
            "{:>10}{:>12}  {}",
            range.documents,
            grouped(range.num_labels),
            "#".repeat(width as usize)
        );
    }
    text
}

fn render_frequent(corpus: &CorpusReport) -> String {
    let mut text = String::from("\nmost frequent labels\n");
    for (key, count) in &corpus.most_frequent_labels {
        let count = grouped(u64::from(*count));
        let _ = writeln!(text, "{count:>10}  {}", one_field(key));
    }
    text
}

fn render_against(against: &AgainstReport) -> String {
    let mut text = String::from("\nagainst\n");
    text.push_str(&render_corpus(&against.corpus));
    text.push_str(&render_duplicates("duplicates", &against.corpus.duplicates));
    text.push_str(&render_duplicates("also in data", &against.also_in_data));
    text.push_str(&render_missing(
        "labels that the data lacks",
        &against.unseen_labels,
    ));
    text
}
