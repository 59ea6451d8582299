//! Settings of TF-IDF features.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parts::PartsConfig;
use super::tokenizer::{TermRuns, TokenizerConfig};
use super::vocabulary_builder::TermSelection;
use crate::Result;
use crate::checks::{at_least, share_above_zero, within};

/// Longest n-gram: beyond it nearly every n-gram occurs once and only memory is spent.
const MAX_NGRAM: usize = 8;
/// A first line that counts more often is all that counts.
const MAX_FIRST_LINE_TIMES: usize = 100;

/// How documents become TF-IDF rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TfIdfConfig {
    /// Count a term that occurs `tf` times as `1 + ln(tf)` rather than as `tf`.
    pub sublinear: bool,
    /// Fewest training documents a term must occur in.
    pub min_df: u32,
    /// Largest share of the training documents a term may occur in, between 0 and 1.
    pub max_df: f64,
    /// Most terms to keep, by document frequency; all where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_features: Option<usize>,
    /// Longest run of words that makes a term: 1 for words alone, 2 for words and pairs.
    pub max_ngram: usize,
    /// How often terms of the first line count, where other lines follow: of titles, mostly.
    pub first_line_times: usize,
    /// Parts of words as further terms.
    #[serde(skip_serializing_if = "PartsConfig::is_off")]
    pub parts: PartsConfig,
    /// How text is cut into words.
    pub tokenizer: TokenizerConfig,
}

impl Default for TfIdfConfig {
    fn default() -> Self {
        Self {
            sublinear: true,
            min_df: 2,
            max_df: 1.0,
            max_features: None,
            max_ngram: 1,
            first_line_times: 1,
            parts: PartsConfig::default(),
            tokenizer: TokenizerConfig::default(),
        }
    }
}

impl TfIdfConfig {
    /// Refuses values that cannot work.
    pub fn validate(&self) -> Result<()> {
        at_least("text.min_df", self.min_df, 1)?;
        share_above_zero("text.max_df", self.max_df)?;
        at_least("text.max_features", self.max_features, 1)?;
        within("text.max_ngram", self.max_ngram, 1..=MAX_NGRAM)?;
        let times = 1..=MAX_FIRST_LINE_TIMES;
        within("text.first_line_times", self.first_line_times, times)?;
        self.parts.validate()
    }

    pub(super) fn runs(&self) -> TermRuns {
        TermRuns {
            max_ngram: self.max_ngram,
            first_line_times: self.first_line_times,
        }
    }

    pub(super) fn selection(&self) -> TermSelection {
        TermSelection {
            min_df: self.min_df,
            max_df: self.max_df,
            max_terms: self.max_features,
            min_part_df: self.parts.min_df,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_values_are_refused_by_name() {
        let default = TfIdfConfig::default;
        assert!(default().validate().is_ok());
        let broken = [
            (
                TfIdfConfig {
                    min_df: 0,
                    ..default()
                },
                "text.min_df",
            ),
            (
                TfIdfConfig {
                    max_df: 0.0,
                    ..default()
                },
                "text.max_df",
            ),
            (
                TfIdfConfig {
                    max_df: f64::NAN,
                    ..default()
                },
                "text.max_df",
            ),
            (
                TfIdfConfig {
                    max_features: Some(0),
                    ..default()
                },
                "text.max_features",
            ),
            (
                TfIdfConfig {
                    max_ngram: 0,
                    ..default()
                },
                "text.max_ngram",
            ),
            (
                TfIdfConfig {
                    first_line_times: 0,
                    ..default()
                },
                "text.first_line_times",
            ),
        ];
        for (config, key) in broken {
            assert!(config.validate().unwrap_err().to_string().starts_with(key));
        }
    }

    #[test]
    fn unknown_settings_are_refused() {
        let read = serde_json::from_str::<TfIdfConfig>;
        assert_eq!(read(r#"{"min_df": 3}"#).unwrap().min_df, 3);
        assert!(read(r#"{"mindf": 3}"#).is_err());
        assert!(read(r#"{"tokenizer": {"lower": true}}"#).is_err());
    }
}
