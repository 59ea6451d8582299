//! The settings of an ensemble.

use plethora_core::artifact::ModelReader;
use plethora_core::{Error, Result};
use plethora_linear::CONFIG_FILE;
use serde::{Deserialize, Serialize};

use crate::open_system::as_model_error;

/// Labels that each member ranks where no more are asked for, as the published ensembles do. A
/// constant, so that a ranking of five is the start of a ranking of ten.
const DEFAULT_DEPTH: usize = 100;

/// How the scores of the members become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Combination {
    /// The weighted mean; a label that a member does not rank has the score 0 there.
    #[default]
    Mean,
}

/// How an ensemble ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnsembleConfig {
    /// How the scores of the members become one.
    pub combination: Combination,
    /// Labels that each member ranks, or as many as are asked for if these are more.
    pub depth: usize,
    /// How much each member counts; only their proportions matter.
    pub weights: Vec<f64>,
}

impl EnsembleConfig {
    /// The defaults for a number of members, which all count the same.
    pub fn equal(num_members: usize) -> Self {
        Self {
            combination: Combination::default(),
            depth: DEFAULT_DEPTH,
            weights: vec![1.0; num_members],
        }
    }

    /// The settings of a saved ensemble.
    ///
    /// # Errors
    /// [`Error::Model`] if they cannot work.
    pub fn of(ensemble: &ModelReader) -> Result<Self> {
        let config: Self = ensemble.read_json(CONFIG_FILE)?;
        match config.validate(config.weights.len()) {
            Ok(()) => Ok(config),
            Err(error) => Err(as_model_error(error, ensemble)),
        }
    }

    /// Checks that these settings can work for a number of members.
    ///
    /// # Errors
    /// [`Error::Config`] with the first setting that cannot.
    pub fn validate(&self, num_members: usize) -> Result<()> {
        if num_members < 2 {
            return Err(Error::config(
                "members",
                format!("an ensemble needs at least two models, found {num_members}"),
            ));
        }
        if self.weights.len() != num_members {
            return Err(Error::config(
                "weights",
                format!(
                    "expected one weight for each of the {num_members} models, found {}",
                    self.weights.len()
                ),
            ));
        }
        let is_usable = |weight: &f64| weight.is_finite() && *weight > 0.0;
        if let Some(weight) = self.weights.iter().find(|weight| !is_usable(weight)) {
            return Err(Error::config(
                "weights",
                format!("expected numbers above 0, found {weight}"),
            ));
        }
        if !self.weights.iter().sum::<f64>().is_finite() {
            return Err(Error::config("weights", "too large to be summed"));
        }
        if self.depth == 0 {
            return Err(Error::config("depth", "expected at least 1, found 0"));
        }
        Ok(())
    }

    /// The weights as shares of their sum.
    pub(super) fn shares(&self) -> Vec<f64> {
        let total: f64 = self.weights.iter().sum();
        self.weights.iter().map(|weight| weight / total).collect()
    }
}

impl Combination {
    /// The score of a label from those of the members that rank it, each with the member's share
    /// of the weights.
    pub(super) fn score(self, votes: impl Iterator<Item = (f64, f32)>) -> f32 {
        match self {
            Self::Mean => votes
                .map(|(share, score)| share * f64::from(score))
                .sum::<f64>() as f32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_work_are_refused() {
        let with_weights = |weights: &[f64]| EnsembleConfig {
            weights: weights.to_vec(),
            ..EnsembleConfig::equal(2)
        };
        assert!(EnsembleConfig::equal(2).validate(2).is_ok());
        for (config, num_members, message) in [
            (
                EnsembleConfig::equal(1),
                1,
                "members: an ensemble needs at least two models, found 1",
            ),
            (
                with_weights(&[1.0, 2.0]),
                3,
                "weights: expected one weight for each of the 3 models, found 2",
            ),
            (
                with_weights(&[1.0, 0.0]),
                2,
                "weights: expected numbers above 0, found 0",
            ),
            (
                with_weights(&[-0.5, 1.0]),
                2,
                "weights: expected numbers above 0, found -0.5",
            ),
            (
                with_weights(&[1.0, f64::NAN]),
                2,
                "weights: expected numbers above 0, found NaN",
            ),
            (
                with_weights(&[f64::MAX, f64::MAX]),
                2,
                "weights: too large to be summed",
            ),
            (
                EnsembleConfig {
                    depth: 0,
                    ..EnsembleConfig::equal(2)
                },
                2,
                "depth: expected at least 1, found 0",
            ),
        ] {
            let error = config.validate(num_members).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn settings_are_kept_in_words() {
        let text = serde_json::to_string(&EnsembleConfig::equal(2)).unwrap();
        assert_eq!(
            text,
            r#"{"combination":"mean","depth":100,"weights":[1.0,1.0]}"#
        );
        let read: EnsembleConfig = serde_json::from_str(&text).unwrap();
        assert_eq!(read, EnsembleConfig::equal(2));
    }
}
