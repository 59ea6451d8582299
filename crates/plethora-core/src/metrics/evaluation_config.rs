//! Settings of an evaluation.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::checks::{check, within};
use crate::{Error, Result};

/// What is measured and with which constants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvaluationConfig {
    /// Depths of the ranking at which it is measured.
    pub ks: Vec<usize>,
    /// `A` of the propensity model: 0.55 unless the field uses another value for a data set (0.6
    /// for Amazon-670K and Amazon-3M, 0.5 for Wikipedia-500K).
    pub a: f64,
    /// `B` of the propensity model: 1.5 unless the field uses another value for a data set (2.6
    /// for Amazon-670K and Amazon-3M, 0.4 for Wikipedia-500K).
    pub b: f64,
    /// Labels with at least this score count as assigned, for F1 and the table of labels.
    pub threshold: f32,
}

/// Far beyond what anybody uses; propensities of larger values are too large or small to compute.
const A_RANGE: RangeInclusive<f64> = 0.0..=10.0;
/// As [`A_RANGE`].
const B_RANGE: RangeInclusive<f64> = 1e-3..=1e6;

impl Default for EvaluationConfig {
    fn default() -> Self {
        Self {
            ks: vec![1, 3, 5],
            a: 0.55,
            b: 1.5,
            threshold: 0.5,
        }
    }
}

impl EvaluationConfig {
    /// Refuses values that cannot work.
    pub fn validate(&self) -> Result<()> {
        if self.ks.is_empty() || self.ks.contains(&0) {
            return Err(Error::config(
                "eval.ks",
                "must hold at least one depth, each at least 1",
            ));
        }
        if (1..self.ks.len()).any(|place| self.ks[..place].contains(&self.ks[place])) {
            return Err(Error::config("eval.ks", "must not hold a depth twice"));
        }
        within("eval.a", self.a, A_RANGE)?;
        within("eval.b", self.b, B_RANGE)?;
        let is_number = !self.threshold.is_nan();
        check(is_number, "eval.threshold", "must be a number")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_values_are_refused_by_name() {
        let default = EvaluationConfig::default;
        assert!(default().validate().is_ok());
        let broken = [
            (
                EvaluationConfig {
                    ks: vec![],
                    ..default()
                },
                "eval.ks",
            ),
            (
                EvaluationConfig {
                    ks: vec![1, 0],
                    ..default()
                },
                "eval.ks",
            ),
            (
                EvaluationConfig {
                    ks: vec![3, 1, 3],
                    ..default()
                },
                "eval.ks",
            ),
            (
                EvaluationConfig {
                    a: -0.1,
                    ..default()
                },
                "eval.a",
            ),
            (
                EvaluationConfig {
                    a: 1e3,
                    ..default()
                },
                "eval.a",
            ),
            (
                EvaluationConfig {
                    b: 0.0,
                    ..default()
                },
                "eval.b",
            ),
            (
                EvaluationConfig {
                    b: f64::INFINITY,
                    ..default()
                },
                "eval.b",
            ),
            (
                EvaluationConfig {
                    threshold: f32::NAN,
                    ..default()
                },
                "eval.threshold",
            ),
        ];
        for (config, key) in broken {
            assert!(config.validate().unwrap_err().to_string().starts_with(key));
        }
    }
}
