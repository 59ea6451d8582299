//! The settings of an ensemble.

use plethora_core::artifact::{CONFIG_FILE, ModelReader};
use plethora_core::{Error, Result};
use serde::{Deserialize, Serialize};

use super::fusion::Fusion;
use super::label_weights::LabelWeights;
use super::link::MemberLink;
use super::powers::Powers;
use super::stacking::{Stacking, check_weights};
use crate::predictor::as_model_error;

/// Labels that each member ranks where no more are asked for, as the published ensembles do. A
/// constant, so that a ranking of five is the start of a ranking of ten.
const DEFAULT_DEPTH: usize = 100;

/// The forest of a fused ensemble.
pub(super) const FUSION_FILE: &str = "fusion.json";

/// The weights of an ensemble that has some for each label.
pub(super) const LABEL_WEIGHTS_FILE: &str = "label_weights.json";

/// How the scores of the members become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Combination {
    /// The weighted mean; a label that a member does not rank has the score 0 there.
    #[default]
    Mean,
    /// One less the product of the chances that a member is wrong, `1 - (1 - p)(1 - q)...`; weights
    /// are exponents, of which equal ones are 1.
    NoisyOr,
    /// The weighted mean of `61 / (60 + rank)`: ranks count, scores do not.
    ReciprocalRank,
    /// A weighted sum with weights by frequency of labels, fitted on validation documents.
    Stacked,
    /// A weighted sum of powers of scores, fitted on validation documents; its scores are
    /// probabilities.
    Powers,
    /// A logistic regression with weights for each label, fitted on validation documents; its scores
    /// are probabilities.
    LabelWeights,
    /// A forest over the scores and ranks of all members, fitted on validation documents; its scores
    /// are probabilities.
    Fused,
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
    /// Fitted weights, for [`Combination::Stacked`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stacking: Option<Stacking>,
    /// Fitted weights and exponents, for [`Combination::Powers`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub powers: Option<Powers>,
    /// Fitted weights, for [`Combination::LabelWeights`]; they have a file of their own.
    #[serde(skip)]
    pub label_weights: Option<LabelWeights>,
    /// The fitted forest, for [`Combination::Fused`]; it has a file of its own.
    #[serde(skip)]
    pub fusion: Option<Fusion>,
    /// Where members are that are not copied into the folder: all of them or none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<MemberLink>,
}

impl EnsembleConfig {
    /// The defaults for a number of members, which all count the same.
    pub fn equal(num_members: usize) -> Self {
        Self {
            combination: Combination::default(),
            depth: DEFAULT_DEPTH,
            weights: vec![1.0; num_members],
            stacking: None,
            powers: None,
            label_weights: None,
            fusion: None,
            links: Vec::new(),
        }
    }

    /// The settings of a saved ensemble.
    ///
    /// # Errors
    /// [`Error::Model`] if they cannot work.
    pub fn of(ensemble: &ModelReader) -> Result<Self> {
        let mut config: Self = ensemble.read_json(CONFIG_FILE)?;
        if config.combination == Combination::Fused {
            config.fusion = Some(ensemble.read_json(FUSION_FILE)?);
        }
        if config.combination == Combination::LabelWeights {
            config.label_weights = Some(ensemble.read_json(LABEL_WEIGHTS_FILE)?);
        }
        let checked = config.validate(config.weights.len());
        match checked.and_then(|()| config.check_complete()) {
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
        if self.depth == 0 {
            return Err(Error::config("depth", "expected at least 1, found 0"));
        }
        if let Some(fusion) = &self.fusion {
            fusion.validate(num_members)?;
        }
        if let Some(powers) = &self.powers {
            powers.validate(num_members)?;
        }
        if let Some(label_weights) = &self.label_weights {
            label_weights.validate(num_members)?;
        }
        if let Some(stacking) = &self.stacking {
            check_weights(&self.weights, num_members)?;
            return stacking.validate(num_members);
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
        Ok(())
    }

    /// Checks that nothing is left to be fitted.
    pub(super) fn check_complete(&self) -> Result<()> {
        for (combination, is_fitted, setting) in [
            (Combination::Stacked, self.stacking.is_some(), "stacking"),
            (Combination::Powers, self.powers.is_some(), "powers"),
            (
                Combination::LabelWeights,
                self.label_weights.is_some(),
                "label_weights",
            ),
            (Combination::Fused, self.fusion.is_some(), "fusion"),
        ] {
            if (self.combination == combination) != is_fitted {
                let name = combination.as_str();
                let message = format!("`{name}` has what was fitted for it, and no other way does");
                return Err(Error::config(setting, message));
            }
        }
        if !self.links.is_empty() && self.links.len() != self.weights.len() {
            let message = format!(
                "expected one for each of the {} members, found {}",
                self.weights.len(),
                self.links.len()
            );
            return Err(Error::config("links", message));
        }
        Ok(())
    }
}

impl Combination {
    /// All ways, the usual one first.
    pub const ALL: [Self; 7] = [
        Self::Mean,
        Self::NoisyOr,
        Self::ReciprocalRank,
        Self::Stacked,
        Self::Powers,
        Self::LabelWeights,
        Self::Fused,
    ];

    /// True where its weights are fitted to validation documents.
    pub const fn is_fitted(self) -> bool {
        matches!(
            self,
            Self::Stacked | Self::Powers | Self::LabelWeights | Self::Fused
        )
    }

    /// The word for it in settings and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::NoisyOr => "noisy-or",
            Self::ReciprocalRank => "reciprocal-rank",
            Self::Stacked => "stacked",
            Self::Powers => "powers",
            Self::LabelWeights => "label-weights",
            Self::Fused => "fused",
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
        for combination in Combination::ALL {
            let text = serde_json::to_string(&combination).unwrap();
            assert_eq!(text, format!("{:?}", combination.as_str()));
        }
        let text = serde_json::to_string(&EnsembleConfig::equal(2)).unwrap();
        assert_eq!(
            text,
            r#"{"combination":"mean","depth":100,"weights":[1.0,1.0]}"#
        );
        let read: EnsembleConfig = serde_json::from_str(&text).unwrap();
        assert_eq!(read, EnsembleConfig::equal(2));
    }
}
