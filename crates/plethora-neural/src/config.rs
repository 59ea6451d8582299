//! Settings of the neural systems.

use plethora_core::{Error, Result};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::piece_config::PieceConfig;
use crate::recipe::{PIECE_SYSTEMS, TREADER, recipe};
use crate::train::TrainConfig;
use crate::treader::TReaderConfig;
use crate::word_config::WordConfig;

/// Settings of a neural system.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum NeuralConfig {
    /// A system that reads words.
    Words(WordConfig),
    /// A system that reads the pieces of a pretrained transformer.
    Pieces(PieceConfig),
    /// A system that reads the labels of neighbours beside words.
    TReader(TReaderConfig),
}

/// Which family settings belong to follows from the system, so that a mistake in them is told as one
/// of that family.
impl<'de> Deserialize<'de> for NeuralConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let settings = Value::deserialize(deserializer)?;
        let system = settings["system"].as_str().unwrap_or_default();
        if PIECE_SYSTEMS.contains(&system) {
            PieceConfig::deserialize(settings).map(Self::Pieces)
        } else if system == TREADER {
            TReaderConfig::deserialize(settings).map(Self::TReader)
        } else {
            WordConfig::deserialize(settings).map(Self::Words)
        }
        .map_err(D::Error::custom)
    }
}

impl NeuralConfig {
    /// The settings of a system's recipe.
    pub fn of_system(system: &str) -> Result<Self> {
        let text = recipe(system).ok_or_else(|| {
            Error::config("system", format!("no neural system is called {system}"))
        })?;
        toml::from_str(text).map_err(|error| Error::config(system, error.to_string()))
    }

    /// Refuses settings that cannot work, naming the key.
    pub fn validate(&self) -> Result<()> {
        match self {
            Self::Words(config) => config.validate(),
            Self::Pieces(config) => config.validate(),
            Self::TReader(config) => config.validate(),
        }
    }

    /// Name of the system, which is its recipe's.
    pub fn system(&self) -> &str {
        match self {
            Self::Words(config) => &config.system,
            Self::Pieces(config) => &config.system,
            Self::TReader(config) => &config.system,
        }
    }

    /// Draws first weights, the order of documents and what dropout leaves out.
    pub fn seed(&self) -> u64 {
        match self {
            Self::Words(config) => config.seed,
            Self::Pieces(config) => config.seed,
            Self::TReader(config) => config.seed,
        }
    }

    /// How the weights are found, to be changed.
    pub fn train_mut(&mut self) -> &mut TrainConfig {
        match self {
            Self::Words(config) => &mut config.train,
            Self::Pieces(config) => &mut config.train,
            Self::TReader(config) => &mut config.train,
        }
    }

    /// How the weights are found.
    pub fn train(&self) -> &TrainConfig {
        match self {
            Self::Words(config) => &config.train,
            Self::Pieces(config) => &config.train,
            Self::TReader(config) => &config.train,
        }
    }
}
