//! What came out of a training run.

use std::path::PathBuf;

use plethora_core::Result;
use plethora_system::{Facts, Stages};
use serde::{Serialize, Serializer};

use crate::evaluation::MeasuredModel;

/// Stage that is not shown where nothing was evaluated.
pub(super) const EVALUATING: &str = "evaluating";

/// The stage takes less than this where there is nothing to evaluate.
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
    /// What else its family tells of its size.
    #[serde(flatten, serialize_with = "values")]
    pub facts: Facts,
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

/// Wall time of the stages, in their order; which there are depends on the family.
#[derive(Debug, Clone, Default)]
pub struct Seconds {
    /// The stages.
    pub(super) stages: Stages,
    /// From beginning to end.
    pub total: f64,
}

impl Seconds {
    /// The stages that took place.
    pub fn stages(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let is_shown =
            |(stage, seconds): &(&str, f64)| *stage != EVALUATING || *seconds >= MIN_EVALUATING_S;
        self.stages.iter().filter(is_shown)
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let total = ("total", self.total);
        serializer.collect_map(self.stages.iter().chain([total]))
    }
}

/// The values of facts, among those of the report.
fn values<S: Serializer>(facts: &Facts, serializer: S) -> Result<S::Ok, S::Error> {
    facts.values.serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_keep_their_order_and_idle_ones_are_not_shown() {
        let mut seconds = Seconds::default();
        seconds.stages.add("reading", 2.0);
        seconds.stages.add(EVALUATING, 0.0);
        seconds.stages.add("saving", 0.0);
        seconds.total = 3.0;
        let shown: Vec<_> = seconds.stages().collect();
        assert_eq!(shown, [("reading", 2.0), ("saving", 0.0)]);
        assert_eq!(
            serde_json::to_string(&seconds).unwrap(),
            r#"{"reading":2.0,"evaluating":0.0,"saving":0.0,"total":3.0}"#
        );
    }
}
