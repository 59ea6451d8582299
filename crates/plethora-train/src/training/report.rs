//! What came out of a training run.

use std::path::{Path, PathBuf};

use plethora_core::Result;
use plethora_core::artifact::{Check, ModelReader};
use serde::{Serialize, Serializer};

use crate::evaluation::MeasuredModel;

/// Stage of which nothing is shown where nothing was evaluated.
pub(super) const EVALUATING: &str = "evaluating";

/// What passes without anything to evaluate takes less.
const MIN_EVALUATING_S: f64 = 1e-3;

/// What came out of a training run.
#[derive(Debug, Serialize)]
pub struct TrainingReport {
    /// Folder of the model.
    pub model: PathBuf,
    /// Its system.
    pub system: String,
    /// Documents that it learned from.
    #[serde(rename = "n_documents")]
    pub num_documents: u64,
    /// Documents that had no labels and were left out.
    #[serde(rename = "n_documents_without_labels")]
    pub num_without_labels: u64,
    /// Labels that it knows.
    #[serde(rename = "n_labels")]
    pub num_labels: u64,
    /// What it knows of documents.
    #[serde(flatten)]
    pub size: ModelSize,
    /// Bytes of its files.
    pub model_bytes: u64,
    /// Wall time.
    pub seconds: Seconds,
    /// Processor time of the process so far.
    pub cpu_seconds: f64,
    /// Most memory that the process has held.
    pub peak_memory_bytes: Option<u64>,
    /// How it does on the validation documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<MeasuredModel>,
}

/// What a model knows of documents, as its family counts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ModelSize {
    /// Of a linear system.
    Linear {
        /// Features of documents.
        #[serde(rename = "n_features")]
        num_features: u64,
        /// Features that are not 0 in a document, over all documents.
        #[serde(rename = "n_feature_entries")]
        num_feature_entries: u64,
    },
    /// Of a neural system.
    #[cfg(feature = "torch")]
    Neural {
        /// What it reads: words or pieces.
        reads: &'static str,
        /// Words or pieces that it tells apart.
        #[serde(rename = "n_words")]
        num_words: u64,
        /// Numbers that training changed.
        #[serde(rename = "n_parameters")]
        num_parameters: u64,
        /// Where it was trained.
        device: String,
        /// Memory of the GPU that was in use at most.
        #[serde(skip_serializing_if = "Option::is_none")]
        gpu_memory_bytes: Option<u64>,
    },
}

/// Wall time of the stages, in their order; which there are depends on the family.
#[derive(Debug, Clone, Default)]
pub struct Seconds {
    stages: Vec<(&'static str, f64)>,
    /// From beginning to end.
    pub total: f64,
}

impl Seconds {
    /// Adds a stage that is over.
    pub(super) fn add(&mut self, stage: &'static str, seconds: f64) {
        self.stages.push((stage, seconds));
    }

    /// The stages that took place.
    pub fn stages(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let is_shown =
            |(stage, seconds): &(&str, f64)| *stage != EVALUATING || *seconds >= MIN_EVALUATING_S;
        self.stages.iter().copied().filter(is_shown)
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let total = ("total", self.total);
        serializer.collect_map(self.stages.iter().copied().chain([total]))
    }
}

/// Bytes of all files of a model.
pub(super) fn size_of_model(path: &Path) -> Result<u64> {
    let folder = ModelReader::open_with(path, Check::Sizes)?;
    Ok(folder.manifest().files.values().map(|file| file.size).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_keep_their_order_and_idle_ones_are_not_shown() {
        let mut seconds = Seconds::default();
        seconds.add("reading", 2.0);
        seconds.add(EVALUATING, 0.0);
        seconds.add("saving", 0.0);
        seconds.total = 3.0;
        let shown: Vec<_> = seconds.stages().collect();
        assert_eq!(shown, [("reading", 2.0), ("saving", 0.0)]);
        assert_eq!(
            serde_json::to_string(&seconds).unwrap(),
            r#"{"reading":2.0,"evaluating":0.0,"saving":0.0,"total":3.0}"#
        );
    }
}
