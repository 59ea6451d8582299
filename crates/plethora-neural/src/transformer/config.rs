//! Settings of a transformer in a system.

use plethora_core::checks::{at_least, share_below_one};
use plethora_core::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A pretrained transformer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransformerConfig {
    /// The Hugging Face folder or hub name that training starts from.
    pub folder: String,
    /// How many of the last layers' document states are put side by side; 1 reads the last alone.
    pub layers: usize,
    /// How the states of a document's pieces become one.
    pub pooling: Pooling,
    /// Share of the numbers of states that a training step leaves out.
    pub dropout: f64,
    /// Share of the attention weights that a training step leaves out.
    pub attention_dropout: f64,
    /// Whether the biases by distance of `MPNet` learn. There are a few hundred of them, and their
    /// gradient is one of every two pieces of every document: a quarter of a step on a GPU.
    #[serde(default)]
    pub train_distances: bool,
    /// Whether training computes the inside of each layer twice instead of keeping it: slower by
    /// a third, in a fraction of the memory.
    pub checkpointing: bool,
}

/// From the states of pieces to one of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// The state of the piece that stands for the document: `[CLS]`, `<s>` or `<cls>`.
    Cls,
    /// The mean over the pieces of the document, special ones with them.
    Mean,
}

impl TransformerConfig {
    /// Refuses settings that cannot work, naming the key.
    pub fn validate(&self) -> Result<()> {
        at_least("layers", self.layers, 1)?;
        share_below_one("dropout", self.dropout)?;
        share_below_one("attention_dropout", self.attention_dropout)
    }

    /// Refuses to read more layers than there are.
    pub(crate) fn check_layers(&self, num_layers: usize) -> Result<()> {
        self.validate()?;
        if self.layers > num_layers {
            let message = format!(
                "is {}, but the encoder has {num_layers} layers",
                self.layers
            );
            return Err(Error::config("layers", message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_work_are_refused_by_name() {
        let config = TransformerConfig {
            folder: "somewhere".into(),
            layers: 5,
            pooling: Pooling::Cls,
            dropout: 0.1,
            attention_dropout: 0.0,
            train_distances: false,
            checkpointing: false,
        };
        config.check_layers(5).unwrap();
        assert_eq!(
            config.check_layers(4).unwrap_err().to_string(),
            "layers: is 5, but the encoder has 4 layers"
        );
        let refused = |change: &dyn Fn(&mut TransformerConfig)| {
            let mut changed = config.clone();
            change(&mut changed);
            changed.validate().unwrap_err().to_string()
        };
        assert_eq!(
            refused(&|c| c.layers = 0),
            "layers: must be at least 1, found 0"
        );
        assert!(refused(&|c| c.dropout = 1.0).starts_with("dropout: "));
        assert!(refused(&|c| c.attention_dropout = f64::NAN).starts_with("attention_dropout: "));
        let json = serde_json::to_string(&config).unwrap();
        assert!(json.contains(r#""pooling":"cls""#));
        assert_eq!(
            serde_json::from_str::<TransformerConfig>(&json).unwrap(),
            config
        );
        let unknown = json.replace("layers", "leyers");
        assert!(serde_json::from_str::<TransformerConfig>(&unknown).is_err());
    }
}
