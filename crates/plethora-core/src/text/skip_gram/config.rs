//! Settings of skip-gram.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::checks::{share, share_above_zero, within};

/// How word vectors are learnt from word sequences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkipGramConfig {
    /// Numbers per word.
    pub width: usize,
    /// Largest distance between a word and the neighbours it predicts; each word draws its own up
    /// to this.
    pub window: usize,
    /// Words drawn at random against each true neighbour.
    pub negatives: usize,
    /// Passes over the documents.
    pub epochs: usize,
    /// Learning rate at the start; it falls to nearly zero towards the end.
    pub learning_rate: f32,
    /// Words that make up a larger share of the text than this are skipped at random, the more
    /// often the more frequent they are; 0 skips none.
    pub subsample: f32,
}

impl SkipGramConfig {
    /// Refuses values that cannot work.
    pub fn validate(&self) -> Result<()> {
        within("skip_gram.width", self.width, 1..=65_536)?;
        within("skip_gram.window", self.window, 1..=1000)?;
        within("skip_gram.negatives", self.negatives, 1..=1000)?;
        within("skip_gram.epochs", self.epochs, 1..=100_000)?;
        share_above_zero("skip_gram.learning_rate", f64::from(self.learning_rate))?;
        share("skip_gram.subsample", self.subsample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_values_are_refused_by_name() {
        type Change = fn(&mut SkipGramConfig);
        let config = SkipGramConfig {
            width: 100,
            window: 5,
            negatives: 5,
            epochs: 5,
            learning_rate: 0.025,
            subsample: 0.001,
        };
        assert!(config.validate().is_ok());
        let broken: [(Change, &str); 7] = [
            (|config| config.width = 0, "skip_gram.width"),
            (|config| config.window = 0, "skip_gram.window"),
            (|config| config.negatives = 0, "skip_gram.negatives"),
            (|config| config.epochs = 0, "skip_gram.epochs"),
            (
                |config| config.learning_rate = 0.0,
                "skip_gram.learning_rate",
            ),
            (
                |config| config.learning_rate = f32::NAN,
                "skip_gram.learning_rate",
            ),
            (|config| config.subsample = -0.1, "skip_gram.subsample"),
        ];
        for (change, key) in broken {
            let mut config = config.clone();
            change(&mut config);
            let message = config.validate().unwrap_err().to_string();
            assert!(message.starts_with(key), "{message}");
        }
    }
}
