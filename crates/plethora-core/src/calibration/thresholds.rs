//! Thresholds tuned for F1.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{BandValues, ThresholdScope};
use crate::metrics::BucketName;
use crate::{Error, LabelId, Result};

/// From which score on labels are assigned, as calibrated scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// What has thresholds of its own.
    pub scope: ThresholdScope,
    /// Of all labels that have no other.
    pub global: f32,
    /// Of the labels of a band that have no other.
    #[serde(default, skip_serializing_if = "BandValues::is_empty")]
    pub bands: BandValues<f32>,
    /// Of labels by their ids.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<LabelId, f32>,
}

impl Thresholds {
    /// The threshold of a label of this band.
    pub fn of(&self, label: LabelId, band: BucketName) -> f32 {
        let own = self.labels.get(&label).or_else(|| self.bands.get(band));
        own.copied().unwrap_or(self.global)
    }

    pub(super) fn validate(&self, num_labels: usize) -> Result<()> {
        let bands = self.bands.iter().map(|(_, threshold)| threshold);
        let mut all = bands.chain(self.labels.values()).chain([&self.global]);
        if let Some(threshold) = all.find(|threshold| !(0.0..=1.0).contains(*threshold)) {
            let message = format!("a threshold is from 0 to 1, found {threshold}");
            return Err(Error::data(message));
        }
        match self.labels.keys().find(|label| label.index() >= num_labels) {
            Some(label) => Err(Error::data(format!(
                "there is a threshold for label {}, the model has {num_labels}",
                label.0
            ))),
            None => Ok(()),
        }
    }
}
