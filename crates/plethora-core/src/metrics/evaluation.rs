//! The finished evaluation.

use std::io;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::EvaluationConfig;
use super::buckets::{BucketEvaluation, train_frequency};
use super::label_table::{LabelEvaluation, LabelTable, write_tsv};
use crate::LabelId;

/// The values of all metrics, as fractions between 0 and 1.
///
/// As JSON it is one flat object with stable keys (`P@1`, `nDCG@5`, `microF1`, ...), the counts
/// and constants behind them, and an object for each bucket of labels.
#[derive(Debug, Clone)]
pub struct Evaluation {
    pub(super) config: EvaluationConfig,
    pub(super) num_documents: u64,
    pub(super) num_documents_without_labels: u64,
    pub(super) num_train_documents: u64,
    pub(super) values: Vec<(String, f64)>,
    pub(super) buckets: Vec<BucketEvaluation>,
    pub(super) labels: LabelTable,
    pub(super) train_counts: Arc<[u32]>,
}

impl Evaluation {
    /// The settings.
    pub fn config(&self) -> &EvaluationConfig {
        &self.config
    }

    /// Number of documents.
    pub fn num_documents(&self) -> u64 {
        self.num_documents
    }

    /// Number of documents without a true label.
    pub fn num_documents_without_labels(&self) -> u64 {
        self.num_documents_without_labels
    }

    /// All metrics with their keys, in the order in which to show them.
    pub fn values(&self) -> &[(String, f64)] {
        &self.values
    }

    /// The metric with this key, as `P@5`.
    pub fn get(&self, key: &str) -> Option<f64> {
        self.values
            .iter()
            .find(|(name, _)| name == key)
            .map(|&(_, value)| value)
    }

    /// Head, torso, tail and unseen labels apart.
    pub fn buckets(&self) -> &[BucketEvaluation] {
        &self.buckets
    }

    /// The table of labels, in the order of their ids: all of the label space, then true or
    /// assigned labels beyond it.
    pub fn labels(&self) -> impl Iterator<Item = LabelEvaluation> {
        self.labels.entries().map(|(label, counts)| {
            LabelEvaluation::new(label, train_frequency(&self.train_counts, label), counts)
        })
    }

    /// Writes the table of labels as tab-separated values with a header: the columns of Annif's
    /// per-subject results, and after them the training frequency. `describe` gives the key and
    /// the name of a label.
    pub fn write_labels<'a>(
        &self,
        output: &mut dyn io::Write,
        describe: impl FnMut(LabelId) -> (&'a str, &'a str),
    ) -> io::Result<()> {
        write_tsv(self.labels(), output, describe)
    }
}

impl Serialize for Evaluation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in &self.values {
            map.serialize_entry(key, value)?;
        }
        map.serialize_entry("k", &self.config.ks)?;
        map.serialize_entry("n_docs", &self.num_documents)?;
        map.serialize_entry("n_docs_without_labels", &self.num_documents_without_labels)?;
        map.serialize_entry("n_train_docs", &self.num_train_documents)?;
        map.serialize_entry("threshold", &self.config.threshold)?;
        map.serialize_entry("A", &self.config.a)?;
        map.serialize_entry("B", &self.config.b)?;
        map.serialize_entry("propensity_source", "train")?;
        map.serialize_entry("propensity_normalised", &true)?;
        map.serialize_entry("buckets", &ByName(&self.buckets))?;
        map.end()
    }
}

/// Buckets as an object with their names as keys, from frequent to rare.
struct ByName<'a>(&'a [BucketEvaluation]);

impl Serialize for ByName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|bucket| (bucket.bucket.as_str(), bucket)))
    }
}
