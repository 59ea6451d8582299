//! A map from scores to probabilities.

use serde::{Deserialize, Serialize};

use super::score_table::{group, within_bounds};
use super::{Isotonic, Method, Platt, ScoreCount};
use crate::Result;

/// A rising map of scores from 0 to 1 into the same range. A new method is one more arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ScoreMap {
    /// Pooled adjacent violators.
    Isotonic(Isotonic),
    /// A logistic curve.
    Platt(Platt),
}

impl ScoreMap {
    /// Fits to scores that rise, each once.
    ///
    /// # Panics
    /// Without any score.
    pub fn fit(method: Method, counts: &[ScoreCount]) -> Self {
        assert!(!counts.is_empty(), "there is nothing to fit to");
        match method {
            Method::Isotonic => Self::Isotonic(Isotonic::fit(counts)),
            Method::Platt => Self::Platt(Platt::fit(counts)),
        }
    }

    /// The value at a score, both in double precision.
    pub fn value(&self, score: f64) -> f64 {
        match self {
            Self::Isotonic(map) => map.value(score),
            Self::Platt(map) => map.value(score),
        }
    }

    /// The probability that a score stands for.
    pub fn apply(&self, score: f32) -> f32 {
        within_bounds(self.value(f64::from(within_bounds(score))) as f32)
    }

    /// Counts of scores as counts of their probabilities.
    pub(super) fn apply_to(&self, counts: &[ScoreCount]) -> Vec<ScoreCount> {
        let mapped = counts.iter().map(|count| ScoreCount {
            score: self.apply(count.score),
            ..*count
        });
        group(mapped.collect())
    }

    pub(super) fn validate(&self) -> Result<()> {
        match self {
            Self::Isotonic(map) => map.validate(),
            Self::Platt(map) => map.validate(),
        }
    }
}
