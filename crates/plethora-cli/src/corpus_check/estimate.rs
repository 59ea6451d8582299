//! What training will cost, roughly: of the linear systems here, of the others in files of their
//! own.
//!
//! Time has a part that grows with documents, terms and labels a document, and one that grows with
//! labels; one-vs-all looks at every document for every label. The rates were measured on two
//! corpora of some 40,000 documents and hold within a factor of two or so.

use plethora_linear::knn::{KNN, MAX_ASKED};
use serde::Serialize;

/// Terms kept of a label's features, as in the recipes.
const LABEL_FEATURES: u64 = 1000;

/// What the program needs before it reads anything.
const BASE_BYTES: u64 = 30 << 20;

/// Bytes of an entry of a sparse matrix.
const ENTRY_BYTES: u64 = 8;

/// Bytes of a term: its spelling, its place in the table, its frequency.
const TERM_BYTES: u64 = 80;

/// Seconds of CPU for an entry of a document in an index, tokenising included.
const INDEX_ENTRY_S: f64 = 2.5e-7;

/// Seconds of CPU for an entry of the index when a document is asked for its neighbours, to choose
/// how much the nearest count.
const ASKED_ENTRY_S: f64 = 3.5e-10;

/// What decides the cost.
#[expect(clippy::struct_field_names, reason = "they are all counts")]
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct TrainingSize {
    #[serde(rename = "n_documents")]
    pub(crate) num_documents: u64,
    /// Terms of all documents, each once a document.
    #[serde(rename = "n_feature_entries")]
    pub(crate) num_entries: u64,
    #[serde(rename = "n_features")]
    pub(crate) num_features: u64,
    #[serde(rename = "n_labels")]
    pub(crate) num_labels: u64,
    #[serde(rename = "n_assignments")]
    pub(crate) num_assignments: u64,
}

/// What a system will need.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Estimate {
    pub(crate) system: &'static str,
    pub(crate) cpu_seconds: f64,
    pub(crate) peak_memory_bytes: u64,
}

/// Seconds of CPU for one unit of each kind of work.
struct Rates {
    system: &'static str,
    /// An entry of a document, for each of its labels.
    entry_and_label: f64,
    /// A label.
    label: f64,
    /// An entry of a document, for each label of the corpus.
    entry_and_any_label: f64,
    /// How often the entries of all documents are in memory, in one form or another.
    copies: u64,
}

const RATES: [Rates; 4] = [
    Rates {
        system: "wide-tree",
        entry_and_label: 2.5e-7,
        label: 4.8e-4,
        entry_and_any_label: 0.0,
        copies: 4,
    },
    Rates {
        system: "parabel",
        entry_and_label: 6.6e-7,
        label: 1.4e-3,
        entry_and_any_label: 0.0,
        copies: 3,
    },
    Rates {
        system: "bonsai",
        entry_and_label: 7.4e-7,
        label: 1.6e-3,
        entry_and_any_label: 0.0,
        copies: 3,
    },
    Rates {
        system: "one-vs-all",
        entry_and_label: 0.0,
        label: 0.0,
        entry_and_any_label: 1.05e-9,
        copies: 4,
    },
];

/// An estimate for each system.
pub(crate) fn estimates(size: TrainingSize) -> Vec<Estimate> {
    let mut estimates = linear_estimates(size);
    estimates.push(knn_estimate(size));
    #[cfg(feature = "torch")]
    estimates.extend(super::neural_estimate::estimates(size));
    estimates
}

fn linear_estimates(size: TrainingSize) -> Vec<Estimate> {
    RATES
        .iter()
        .map(|rates| {
            let labels_per_document =
                size.num_assignments as f64 / size.num_documents.max(1) as f64;
            let entries = size.num_entries as f64;
            let labels = size.num_labels as f64;
            Estimate {
                system: rates.system,
                cpu_seconds: rates.entry_and_label * entries * labels_per_document
                    + rates.label * labels
                    + rates.entry_and_any_label * entries * labels,
                peak_memory_bytes: memory(size, rates.copies),
            }
        })
        .collect()
}

/// An index holds the entries of all documents once, and is written from a second copy.
fn knn_estimate(size: TrainingSize) -> Estimate {
    let size = with_pairs(size);
    let asked = size.num_documents.min(MAX_ASKED as u64) as f64;
    Estimate {
        system: KNN,
        cpu_seconds: (INDEX_ENTRY_S + ASKED_ENTRY_S * asked) * size.num_entries as f64,
        peak_memory_bytes: BASE_BYTES
            + ENTRY_BYTES * 3 * size.num_entries
            + TERM_BYTES * size.num_features,
    }
}

/// With pairs of words for terms, too, as neighbours are found by: on eurlex57k and gnd-tib memory and time double, and so many
/// pairs occur once that terms are ten times as many while they are counted.
pub(super) fn with_pairs(size: TrainingSize) -> TrainingSize {
    TrainingSize {
        num_entries: size.num_entries * 2,
        num_features: size.num_features * 10,
        ..size
    }
}

/// Documents and labels as rows of features; trees and classifiers go to disk one by one.
pub(super) fn memory(size: TrainingSize, copies: u64) -> u64 {
    let entries_per_document = size.num_entries / size.num_documents.max(1);
    let label_entries =
        (size.num_assignments * entries_per_document).min(size.num_labels * LABEL_FEATURES);
    BASE_BYTES
        + ENTRY_BYTES * (copies * size.num_entries + label_entries)
        + TERM_BYTES * size.num_features
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::recipes;

    #[test]
    fn every_system_has_an_estimate_that_grows_with_the_corpus() {
        let size = |factor: u64| TrainingSize {
            num_documents: 1000 * factor,
            num_entries: 100_000 * factor,
            num_features: 5000 * factor,
            num_labels: 300 * factor,
            num_assignments: 4000 * factor,
        };
        let (small, large) = (estimates(size(1)), estimates(size(10)));
        let systems: Vec<&str> = small.iter().map(|estimate| estimate.system).collect();
        let known: Vec<&str> = recipes().into_iter().map(|(name, _)| name).collect();
        assert_eq!(systems, known);
        for (small, large) in small.iter().zip(large) {
            assert!(small.cpu_seconds > 0.0 && large.cpu_seconds >= 9.9 * small.cpu_seconds);
            assert!(large.peak_memory_bytes > small.peak_memory_bytes);
        }
    }
}
