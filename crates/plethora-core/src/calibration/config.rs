//! Settings of a calibration.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// How scores become probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Any rising map: for many pairs.
    #[default]
    Isotonic,
    /// A logistic curve with two parameters: for few.
    Platt,
}

/// What has a threshold of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdScope {
    /// All labels have one together.
    Global,
    /// Frequent, middling and rare labels have one each.
    Band,
    /// Each label has its own.
    Label,
}

impl ThresholdScope {
    /// The word for it in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Band => "band",
            Self::Label => "label",
        }
    }
}

impl Method {
    /// The word for it in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Isotonic => "isotonic",
            Self::Platt => "platt",
        }
    }
}

/// How to calibrate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationConfig {
    /// How scores become probabilities.
    pub method: Method,
    /// Whether frequent, middling and rare labels have maps of their own.
    pub by_frequency: bool,
    /// Which thresholds are tuned for F1, if any.
    pub thresholds: Option<ThresholdScope>,
    /// Labels of a ranking that are looked at.
    pub depth: usize,
    /// Pairs with a true label below which nothing is fitted at all.
    pub min_true: u64,
    /// Pairs with a true label below which a band uses the map and the threshold of all labels.
    pub min_band_true: u64,
    /// Pairs with a true label below which a label uses the threshold of its band.
    pub min_label_true: u64,
}

impl Default for CalibrationConfig {
    fn default() -> Self {
        Self {
            method: Method::Isotonic,
            by_frequency: false,
            thresholds: None,
            // As deep as ensembles look, so that what they see of a member is what was fitted.
            depth: 100,
            min_true: 10,
            min_band_true: 100,
            min_label_true: 10,
        }
    }
}

impl CalibrationConfig {
    /// Refuses values that cannot work.
    pub fn validate(&self) -> Result<()> {
        for (key, value) in [
            ("depth", self.depth as u64),
            ("min_true", self.min_true),
            ("min_band_true", self.min_band_true),
            ("min_label_true", self.min_label_true),
        ] {
            if value == 0 {
                return Err(Error::config(key, "expected at least 1, found 0"));
            }
        }
        Ok(())
    }
}
