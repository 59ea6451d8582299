//! What training label trees will cost.
//!
//! Time has a part that grows with documents, terms and labels per document, and one that grows with
//! labels; one-vs-all looks at every document for every label. The rates were measured on two
//! corpora of some 40,000 documents and hold within a factor of two or so.

use plethora_system::{Estimate, TrainingSize};

use super::config::LinearConfig;

/// Seconds of CPU for one unit of each kind of work.
struct Rates {
    /// An entry of a document, for each of its labels and each tree.
    entry_and_label: f64,
    /// A label of each tree.
    label: f64,
    /// How often the entries of all documents are in memory, in one form or another.
    copies: u64,
}

/// Trees that are trained on the documents of their own nodes.
const OWN_DOCUMENTS: Rates = Rates {
    entry_and_label: 2.35e-7,
    label: 5.0e-4,
    copies: 3,
};

/// Trees that are trained on hard negatives, too.
const HARD_NEGATIVES: Rates = Rates {
    entry_and_label: 2.5e-7,
    label: 4.8e-4,
    copies: 4,
};

/// Seconds of CPU for an entry of a document and a label of the corpus, where all meet.
const ENTRY_AND_ANY_LABEL: f64 = 1.05e-9;

/// Entries that runs of words and parts of words add, for each entry of a word: measured on titles, abstracts
/// and laws, where words repeat themselves more.
const RUN_ENTRIES: f64 = 1.2;
const PART_ENTRIES: f64 = 9.0;

impl LinearConfig {
    /// The size with the runs and parts of words that are terms beside the words.
    fn with_all_terms(&self, size: &TrainingSize) -> TrainingSize {
        let mut times = 1.0 + RUN_ENTRIES * (self.text.max_ngram - 1) as f64;
        if !self.text.parts.is_off() {
            let words = size.num_entries as f64 / size.num_documents.max(1) as f64;
            let taken_apart = (self.text.parts.max_words as f64 / words.max(1.0)).min(1.0);
            times += PART_ENTRIES * taken_apart;
        }
        TrainingSize {
            num_entries: (size.num_entries as f64 * times) as _,
            ..*size
        }
    }

    /// What training will cost.
    pub(super) fn cost(&self, size: &TrainingSize) -> Estimate {
        let size = &self.with_all_terms(size);
        let (entries, labels) = (size.num_entries as f64, size.num_labels as f64);
        let trees = self.num_trees as f64;
        if self.tree.max_depth == 0 {
            return Estimate {
                cpu_seconds: trees * ENTRY_AND_ANY_LABEL * entries * labels,
                peak_memory_bytes: size.feature_bytes(HARD_NEGATIVES.copies),
                gpu_share: 0.0,
            };
        }
        let rates = match self.hard_negatives {
            0 => OWN_DOCUMENTS,
            _ => HARD_NEGATIVES,
        };
        let labels_per_document = size.num_assignments as f64 / size.num_documents.max(1) as f64;
        Estimate {
            cpu_seconds: trees
                * (rates.entry_and_label * entries * labels_per_document + rates.label * labels),
            peak_memory_bytes: size.feature_bytes(rates.copies),
            gpu_share: 0.0,
        }
    }
}
