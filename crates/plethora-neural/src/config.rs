//! Settings of the neural systems.

use plethora_core::Result;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::piece_config::PieceConfig;
use crate::recipe::{PIECE_SYSTEMS, TREADER, settings_of};
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
    /// A system that knows the labels of neighbours beside words.
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
        settings_of(system, "neural system")
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

    /// The same settings with this share of the epochs, and at least one. Those that are left to the
    /// data stay so.
    pub fn with_epoch_share(&self, share: f64) -> Self {
        let reduced = |epochs: usize| match epochs {
            0 => 0,
            epochs => ((epochs as f64 * share).round() as usize).max(1),
        };
        let mut config = self.clone();
        let train = config.train_mut();
        train.epochs = reduced(train.epochs);
        if let Self::Words(WordConfig { plt: Some(plt), .. }) = &mut config {
            plt.lower_epochs = reduced(plt.lower_epochs);
        }
        config
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_epochs_is_never_none_of_them() {
        let config = NeuralConfig::of_system("attentionxml-plt").unwrap();
        let epochs = |share: f64| match config.with_epoch_share(share) {
            NeuralConfig::Words(config) => (config.train.epochs, config.plt.unwrap().lower_epochs),
            _ => panic!("attentionxml-plt reads words"),
        };
        assert_eq!(epochs(1.0), (15, 8));
        assert_eq!(epochs(1.0 / 3.0), (5, 3));
        assert_eq!(epochs(1.0 / 27.0), (1, 1));
        let open = NeuralConfig::of_system("lightxml").unwrap();
        assert_eq!(open.with_epoch_share(0.1), open);
    }
}
