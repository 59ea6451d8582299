//! The settings of a system, whatever family it is of.

use plethora_core::Result;
use plethora_linear::LinearConfig;
use plethora_linear::knn::{KNN, KnnConfig};
#[cfg(feature = "torch")]
use plethora_neural::NeuralConfig;
use plethora_predict::Precision;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Settings of a run. A new family of systems is one more arm.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SystemConfig {
    /// Of a linear system.
    Linear(Box<LinearConfig>),
    /// Of the nearest documents.
    Knn(Box<KnnConfig>),
    /// Of a neural system.
    #[cfg(feature = "torch")]
    Neural(Box<NeuralConfig>),
}

impl SystemConfig {
    /// The settings of `system`, which is known, from a text with all of them.
    pub(super) fn from_toml(system: &str, text: &str) -> Result<Self, toml::de::Error> {
        if plethora_linear::recipe(system).is_some() {
            return toml::from_str(text).map(Self::Linear);
        }
        if system == KNN {
            return toml::from_str(text).map(Self::Knn);
        }
        #[cfg(feature = "torch")]
        return toml::from_str(text).map(Self::Neural);
        #[cfg(not(feature = "torch"))]
        unreachable!("this program has no neural systems")
    }

    /// The same system with other settings.
    pub(super) fn replaced_by(&self, settings: Value) -> Result<Self, serde_json::Error> {
        match self {
            Self::Linear(_) => Deserialize::deserialize(settings).map(Self::Linear),
            Self::Knn(_) => Deserialize::deserialize(settings).map(Self::Knn),
            #[cfg(feature = "torch")]
            Self::Neural(_) => Deserialize::deserialize(settings).map(Self::Neural),
        }
    }

    /// Refuses settings that cannot work, naming the key.
    pub fn validate(&self) -> Result<()> {
        match self {
            Self::Linear(config) => config.validate(),
            Self::Knn(config) => config.validate(),
            #[cfg(feature = "torch")]
            Self::Neural(config) => config.validate(),
        }
    }

    /// Trains with these numbers, where some were asked for.
    pub fn set_precision(&mut self, precision: Precision) {
        if precision == Precision::Auto {
            return;
        }
        match self {
            Self::Linear(_) | Self::Knn(_) => tracing::warn!(
                "{} computes with f32, not with {}",
                self.system(),
                precision.name()
            ),
            #[cfg(feature = "torch")]
            Self::Neural(config) => config.train_mut().precision = precision.into(),
        }
    }

    /// The seed of all random choices.
    pub fn seed(&self) -> u64 {
        match self {
            Self::Linear(config) => config.seed,
            // It draws nothing.
            Self::Knn(_) => 0,
            #[cfg(feature = "torch")]
            Self::Neural(config) => config.seed(),
        }
    }

    /// Name of the system.
    pub fn system(&self) -> &str {
        match self {
            Self::Linear(config) => &config.system,
            Self::Knn(config) => &config.system,
            #[cfg(feature = "torch")]
            Self::Neural(config) => config.system(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recipe_is_valid() {
        for (system, text) in super::super::recipes() {
            let config = SystemConfig::from_toml(system, text).unwrap();
            assert_eq!(config.system(), system);
            config.validate().unwrap();
        }
    }
}
