//! What a model folder keeps of a calibration.

use serde::{Deserialize, Serialize};

use super::{BandValues, CalibrationConfig, FrequencyBands, Quality, ScoreMap, Thresholds};
use crate::artifact::ModelReader;
use crate::metrics::BucketName;
use crate::{Error, LabelId, Result, ScoredLabel};

/// Name of the calibration in a model folder; models without one have no such file.
pub const CALIBRATION_FILE: &str = "calibration.json";

/// Maps of the scores of one model, and thresholds for what they give.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// How it was fitted.
    pub config: CalibrationConfig,
    /// Validation documents with labels that it was fitted to.
    #[serde(rename = "n_documents")]
    pub num_documents: u64,
    /// Pairs of a document and a ranked label.
    #[serde(rename = "n_pairs")]
    pub num_pairs: u64,
    /// Those of them whose label is true.
    #[serde(rename = "n_true")]
    pub num_true: u64,
    /// Where bands of labels begin.
    pub bands: FrequencyBands,
    /// The map of all labels whose band has none.
    pub map: ScoreMap,
    /// Maps of bands of labels.
    #[serde(default, skip_serializing_if = "BandValues::is_empty")]
    pub band_maps: BandValues<ScoreMap>,
    /// Thresholds tuned for F1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<Thresholds>,
    /// How good scores were before and after.
    pub quality: Quality,
}

impl Calibration {
    /// The calibration of a model, if it has one.
    ///
    /// # Errors
    /// [`Error::Model`] if it cannot be one of a model with so many labels.
    pub fn of(model: &ModelReader, num_labels: usize) -> Result<Option<Self>> {
        if !model.contains(CALIBRATION_FILE) {
            return Ok(None);
        }
        let read: Self = model.read_json(CALIBRATION_FILE)?;
        read.validate(num_labels).map_err(|error| {
            Error::model(&model.folder().join(CALIBRATION_FILE), error.to_string())
        })?;
        Ok(Some(read))
    }

    fn validate(&self, num_labels: usize) -> Result<()> {
        self.config.validate()?;
        let maps = self.band_maps.iter().map(|(_, map)| map);
        for map in maps.chain([&self.map]) {
            map.validate()?;
        }
        match &self.thresholds {
            Some(thresholds) => thresholds.validate(num_labels),
            None => Ok(()),
        }
    }

    /// The probability that a score of a label with so many training documents stands for.
    pub fn probability(&self, score: f32, train_frequency: u32) -> f32 {
        self.map_of(self.bands.band(train_frequency)).apply(score)
    }

    pub(super) fn map_of(&self, band: BucketName) -> &ScoreMap {
        self.band_maps.get(band).unwrap_or(&self.map)
    }

    /// The tuned threshold of a label with so many training documents.
    pub fn threshold(&self, label: LabelId, train_frequency: u32) -> Option<f32> {
        let thresholds = self.thresholds.as_ref()?;
        Some(thresholds.of(label, self.bands.band(train_frequency)))
    }

    /// Labels to rank so that the best `top_k` are among them: with maps by band, labels change
    /// places.
    pub fn rank_depth(&self, top_k: usize) -> usize {
        if self.band_maps.is_empty() {
            top_k
        } else {
            top_k.max(self.config.depth)
        }
    }

    /// Gives the labels of a ranking their probabilities, best first; equal ones stay in the order
    /// of their scores.
    pub fn apply(&self, ranking: &mut [ScoredLabel], train_counts: &[u32]) {
        for scored in ranking.iter_mut() {
            let frequency = train_counts.get(scored.label.index()).copied();
            scored.score = self.probability(scored.score, frequency.unwrap_or(0));
        }
        if !self.band_maps.is_empty() {
            ranking.sort_by(|left, right| right.score.total_cmp(&left.score));
        }
    }
}
