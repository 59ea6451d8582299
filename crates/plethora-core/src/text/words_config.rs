//! Settings of word sequences.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tokenizer::TokenizerConfig;
use super::vocabulary_builder::TermSelection;
use crate::Result;
use crate::checks::{at_least, check, within};

/// Beyond the upper end one document alone would fill a batch.
const LENGTHS: RangeInclusive<usize> = 1..=65_536;

/// Beyond the upper end the embedding table alone takes gigabytes.
const VOCABULARY_SIZES: RangeInclusive<usize> = 1..=10_000_000;

/// How documents become sequences of words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WordsConfig {
    /// How text is cut into words.
    pub tokenizer: TokenizerConfig,
    /// Most words to keep, by the number of training documents they occur in.
    pub max_vocabulary: usize,
    /// Words that occur in fewer training documents are unknown.
    pub min_df: u32,
    /// Words of a document beyond this many are cut.
    pub max_length: usize,
    /// Whether the words that are cut count in the vocabulary, too; absent: they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts_whole_documents: Option<bool>,
    /// A word that stands between the first line of a text, its title, and the rest; none where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separator: Option<String>,
}

impl WordsConfig {
    /// Refuses values that cannot work.
    pub fn validate(&self) -> Result<()> {
        at_least("words.min_df", self.min_df, 1)?;
        within(
            "words.max_vocabulary",
            self.max_vocabulary,
            VOCABULARY_SIZES,
        )?;
        within("words.max_length", self.max_length, LENGTHS)?;
        let is_word = |word: &String| !word.is_empty() && !word.contains(char::is_whitespace);
        check(
            self.separator.as_ref().is_none_or(is_word),
            "words.separator",
            "must be a word without spaces, such as /SEP/",
        )
    }

    pub(super) fn selection(&self) -> TermSelection {
        TermSelection {
            min_df: self.min_df,
            max_df: 1.0,
            max_terms: Some(self.max_vocabulary),
            min_part_df: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> WordsConfig {
        WordsConfig {
            tokenizer: TokenizerConfig::default(),
            max_vocabulary: 500_000,
            min_df: 1,
            max_length: 500,
            counts_whole_documents: None,
            separator: None,
        }
    }

    #[test]
    fn impossible_values_are_refused_by_name() {
        type Change = fn(&mut WordsConfig);
        assert!(config().validate().is_ok());
        let broken: [(Change, &str); 6] = [
            (|config| config.min_df = 0, "words.min_df: "),
            (|config| config.max_length = 0, "words.max_length: "),
            (|config| config.max_length = 65_537, "words.max_length: "),
            (|config| config.max_vocabulary = 0, "words.max_vocabulary: "),
            (
                |config| config.separator = Some("a b".to_owned()),
                "words.separator: must be a word without spaces, such as /SEP/",
            ),
            (
                |config| config.max_vocabulary = 10_000_001,
                "words.max_vocabulary: must be from 1 to 10000000, found 10000001",
            ),
        ];
        for (change, message) in broken {
            let mut config = config();
            change(&mut config);
            let found = config.validate().unwrap_err().to_string();
            assert!(found.starts_with(message), "{found}");
        }
    }

    #[test]
    fn unknown_settings_are_refused() {
        let mut json = serde_json::to_value(config()).unwrap();
        assert_eq!(
            serde_json::from_value::<WordsConfig>(json.clone()).unwrap(),
            config()
        );
        json["max_words"] = 3.into();
        assert!(serde_json::from_value::<WordsConfig>(json).is_err());
    }
}
