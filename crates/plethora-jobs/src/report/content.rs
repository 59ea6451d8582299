//! What a report says; as JSON, `report.json`.

use plethora_core::metrics::{
    BootstrapConfig, Difference, Estimates, FrequencyGroup, LengthGroup, Reliability,
    ReliabilityBin,
};
use serde::{Serialize, Serializer};

use super::published::PublishedResults;
use super::training_curves::TrainingCurve;
use crate::evaluation::Speed;

/// A report.
#[derive(Debug, Serialize)]
pub struct Report {
    pub(super) format_version: u32,
    pub(super) program_version: &'static str,
    pub(super) data: DataSummary,
    pub(super) settings: ReportSettings,
    pub(super) models: Vec<ModelReport>,
    pub(super) comparisons: Vec<PairReport>,
    pub(super) published: PublishedResults,
}

/// The documents.
#[derive(Debug, Serialize)]
pub(super) struct DataSummary {
    /// As it is shown, for JSON has no names that are not Unicode.
    pub(super) path: String,
    #[serde(rename = "n_docs")]
    pub(super) num_documents: u64,
    #[serde(rename = "n_docs_without_labels")]
    pub(super) num_without_labels: u64,
    /// Different true labels.
    #[serde(rename = "n_labels")]
    pub(super) num_labels: u64,
    /// Pairs of a document and a true label.
    #[serde(rename = "n_assignments")]
    pub(super) num_assignments: u64,
    /// What lengths are counted in.
    pub(super) length_unit: &'static str,
}

/// How everything was measured.
#[derive(Debug, Serialize)]
pub(super) struct ReportSettings {
    pub(super) k: Vec<usize>,
    pub(super) depth: usize,
    pub(super) threshold: f32,
    /// Whether the thresholds of the models counted, not this one.
    #[serde(rename = "tuned_thresholds")]
    pub(super) is_tuned: bool,
    #[serde(rename = "A")]
    pub(super) a: f64,
    #[serde(rename = "B")]
    pub(super) b: f64,
    #[serde(flatten)]
    pub(super) bootstrap: BootstrapConfig,
}

impl ReportSettings {
    pub(super) fn largest_k(&self) -> usize {
        self.k.iter().copied().max().unwrap_or(1)
    }
}

/// One model.
#[derive(Debug, Serialize)]
pub(super) struct ModelReport {
    /// What tables call it.
    pub(super) name: String,
    /// As it is shown, for JSON has no names that are not Unicode.
    pub(super) path: String,
    pub(super) system: String,
    #[serde(rename = "n_labels")]
    pub(super) num_labels: u64,
    #[serde(rename = "n_train_docs")]
    pub(super) num_train_documents: u64,
    #[serde(rename = "n_unseen_labels")]
    pub(super) num_unseen_labels: u64,
    #[serde(rename = "n_unseen_assignments")]
    pub(super) num_unseen_assignments: u64,
    pub(super) speed: Speed,
    pub(super) metrics: Estimates,
    pub(super) buckets: Vec<BucketReport>,
    pub(super) lengths: Vec<LengthGroup>,
    pub(super) test_frequency: Vec<FrequencyGroup>,
    pub(super) calibration: CalibrationReport,
    pub(super) missed_labels: Vec<MissedLabelReport>,
    pub(super) worst_documents: Vec<WorstDocument>,
    pub(super) training: Vec<TrainingCurve>,
}

/// Head, torso or tail.
#[derive(Debug, Serialize)]
pub(super) struct BucketReport {
    pub(super) bucket: &'static str,
    pub(super) min_train_frequency: u32,
    #[serde(rename = "n_labels")]
    pub(super) num_labels: u64,
    #[serde(rename = "n_test_labels")]
    pub(super) num_test_labels: u64,
    #[serde(rename = "n_test_assignments")]
    pub(super) num_test_assignments: u64,
    pub(super) metrics: Estimates,
}

/// How far scores can be read as probabilities.
#[derive(Debug, Serialize)]
pub(super) struct CalibrationReport {
    /// Places down to the largest depth.
    pub(super) top: ReliabilityReport,
    /// All ranked places.
    pub(super) all: ReliabilityReport,
}

/// Scores against hits.
#[derive(Debug, Serialize)]
pub(super) struct ReliabilityReport {
    pub(super) expected_calibration_error: f64,
    #[serde(rename = "n_pairs")]
    pub(super) num_pairs: u64,
    pub(super) bins: Vec<ReliabilityBin>,
}

impl From<&Reliability> for ReliabilityReport {
    fn from(reliability: &Reliability) -> Self {
        Self {
            expected_calibration_error: reliability.expected_calibration_error(),
            num_pairs: reliability.num_pairs(),
            bins: reliability.bins.clone(),
        }
    }
}

/// A label that many documents should have had.
#[derive(Debug, Serialize)]
pub(super) struct MissedLabelReport {
    pub(super) key: String,
    pub(super) name: String,
    pub(super) train_frequency: u32,
    pub(super) test_frequency: u32,
    #[serde(rename = "n_found")]
    pub(super) num_found: u32,
    #[serde(rename = "n_missed")]
    pub(super) num_missed: u32,
}

/// A document that got bad labels.
#[derive(Debug, Clone, Serialize)]
pub(super) struct WorstDocument {
    pub(super) id: String,
    pub(super) ndcg: f64,
    /// The beginning of the text.
    pub(super) text: String,
    #[serde(rename = "n_true_labels")]
    pub(super) num_true_labels: usize,
    /// Names of true labels, the first few.
    pub(super) true_labels: Vec<String>,
    pub(super) predictions: Vec<PredictedLabel>,
}

/// A place of a ranking.
#[derive(Debug, Clone, Serialize)]
pub(super) struct PredictedLabel {
    pub(super) name: String,
    pub(super) score: f32,
    pub(super) is_true: bool,
}

/// Two models on the same documents.
#[derive(Debug, Serialize)]
pub(super) struct PairReport {
    pub(super) first: String,
    pub(super) second: String,
    /// Mean share of common labels among the first k, for k from 1 on.
    pub(super) overlap: Vec<f64>,
    /// The first model's values less the second's.
    #[serde(serialize_with = "as_object")]
    pub(super) differences: Vec<(String, Difference)>,
}

impl PairReport {
    pub(super) fn get(&self, key: &str) -> Option<Difference> {
        let found = self.differences.iter().find(|(known, _)| known == key);
        found.map(|&(_, difference)| difference)
    }
}

fn as_object<S: Serializer>(
    differences: &[(String, Difference)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(differences.iter().map(|(key, value)| (key, value)))
}

impl Report {
    /// The metrics that charts and comparisons show, of all that there are.
    pub(super) fn main_metrics(&self) -> Vec<String> {
        let k = self.settings.largest_k();
        let mut keys = vec!["P@1".to_owned()];
        for name in ["P", "nDCG", "RP", "PSP"] {
            keys.push(format!("{name}@{k}"));
        }
        keys.extend(["microF1".to_owned(), "docF1".to_owned()]);
        keys.dedup();
        let has = |key: &String| {
            let first = self.models.first();
            first.is_some_and(|model| model.metrics.get(key).is_some())
        };
        keys.retain(has);
        keys
    }

    /// The metrics of the models, in their order.
    pub fn metrics(&self) -> impl Iterator<Item = &Estimates> {
        self.models.iter().map(|model| &model.metrics)
    }

    /// Names of two models, and how much higher a metric is for the first.
    pub fn differences<'a>(
        &'a self,
        metric: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str, Difference)> {
        self.comparisons.iter().filter_map(move |pair| {
            let difference = pair.get(metric)?;
            Some((pair.first.as_str(), pair.second.as_str(), difference))
        })
    }

    /// The depth at which single figures are shown.
    pub fn largest_k(&self) -> usize {
        self.settings.largest_k()
    }

    /// What the user should know of the data.
    pub fn warnings(&self) -> &[String] {
        &self.published.warnings
    }

    /// Names of the models, in their order.
    pub fn names(&self) -> Vec<&str> {
        let models = self.models.iter();
        models.map(|model| model.name.as_str()).collect()
    }
}
