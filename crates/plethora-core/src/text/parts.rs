//! Parts of words as further terms: `ener*`, `*nerg*` and `*gie` are parts of `energie`.
//!
//! Words of one stem, compounds and spellings share parts where they share no word. Short texts gain from
//! that most: a title has few words, and most of them are rare.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tokenizer::WordBuffer;
use crate::Result;
use crate::checks::{at_least, number_from, within};

/// Stands for the rest of the word; no word has it.
const REST: char = '*';

/// Letters of the longest part: longer ones are words of their own, mostly.
const MAX_LENGTH: usize = 12;

/// Which parts of words are terms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PartsConfig {
    /// Weight of all parts of a text together, as a share of that of its words; 0 for no parts.
    pub weight: f64,
    /// Letters of the shortest part.
    pub min_length: usize,
    /// Letters of the longest part.
    pub max_length: usize,
    /// Fewest training documents that a part must occur in.
    pub min_df: u32,
    /// Words of a text that are taken apart, from its beginning.
    pub max_words: usize,
}

impl Default for PartsConfig {
    fn default() -> Self {
        Self {
            weight: 0.0,
            min_length: 3,
            max_length: 5,
            min_df: 2,
            max_words: 64,
        }
    }
}

impl PartsConfig {
    /// True where words are not taken apart.
    pub fn is_off(&self) -> bool {
        self.weight == 0.0
    }

    pub(super) fn validate(&self) -> Result<()> {
        number_from("text.parts.weight", self.weight, 0.0)?;
        let lengths = 1..=self.max_length.min(MAX_LENGTH);
        within("text.parts.max_length", self.max_length, 1..=MAX_LENGTH)?;
        within("text.parts.min_length", self.min_length, lengths)?;
        at_least("text.parts.min_df", self.min_df, 1)?;
        at_least("text.parts.max_words", self.max_words, 1)
    }

    /// All parts of a word, spelt as terms are, with the places of their letters' bytes in it.
    pub fn for_each(&self, word: &str, mut act: impl FnMut(&str, std::ops::Range<usize>)) {
        if self.is_off() {
            return;
        }
        let mut starts: Vec<usize> = word.char_indices().map(|(byte, _)| byte).collect();
        starts.push(word.len());
        let num_letters = starts.len() - 1;
        let mut part = String::new();
        for length in self.min_length..=self.max_length.min(num_letters) {
            for first in 0..=num_letters - length {
                if length == num_letters {
                    // The word is a term already.
                    continue;
                }
                let place = starts[first]..starts[first + length];
                part.clear();
                if first > 0 {
                    part.push(REST);
                }
                part.push_str(&word[place.clone()]);
                if first + length < num_letters {
                    part.push(REST);
                }
                act(&part, place);
            }
        }
    }
}

/// True for terms that are parts of words.
pub(super) fn is_part(term: &str) -> bool {
    term.starts_with(REST) || term.ends_with(REST)
}

/// The parts of the words of one text, one behind the other.
#[derive(Debug, Default)]
pub(super) struct PartBuffer {
    buffer: String,
    ends: Vec<usize>,
}

impl PartBuffer {
    /// Replaces the content by the parts of these words.
    pub(super) fn fill(&mut self, words: &WordBuffer, config: &PartsConfig) {
        self.buffer.clear();
        self.ends.clear();
        for word in words.words().take(config.max_words) {
            config.for_each(word, |part, _| {
                self.buffer.push_str(part);
                self.ends.push(self.buffer.len());
            });
        }
    }

    pub(super) fn terms(&self) -> impl Iterator<Item = &str> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| &self.buffer[start..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(config: &PartsConfig, word: &str) -> Vec<String> {
        let mut parts = Vec::new();
        config.for_each(word, |part, place| {
            assert_eq!(part.trim_matches(REST), &word[place]);
            parts.push(part.to_owned());
        });
        parts
    }

    #[test]
    fn parts_tell_where_in_the_word_they_are() {
        let config = PartsConfig {
            weight: 1.0,
            min_length: 3,
            max_length: 4,
            ..PartsConfig::default()
        };
        let expected = ["tür*", "*ürs*", "*rsc*", "*sch", "türs*", "*ürsc*", "*rsch"];
        assert_eq!(parts(&config, "türsch"), expected);
        assert_eq!(parts(&config, "meer"), ["mee*", "*eer"]);
        assert_eq!(parts(&config, "see"), [""; 0]);
        assert!(parts(&PartsConfig::default(), "meer").is_empty());
        for part in expected {
            assert!(is_part(part), "{part}");
        }
        assert!(!is_part("sea air"));
    }

    #[test]
    fn impossible_lengths_are_refused() {
        let refused = |config: PartsConfig| config.validate().unwrap_err().to_string();
        let one = PartsConfig {
            min_length: 6,
            ..PartsConfig::default()
        };
        assert_eq!(
            refused(one),
            "text.parts.min_length: must be from 1 to 5, found 6"
        );
        let one = PartsConfig {
            weight: f64::NAN,
            ..PartsConfig::default()
        };
        assert!(refused(one).starts_with("text.parts.weight"));
        let one = PartsConfig {
            max_length: 99,
            ..PartsConfig::default()
        };
        assert!(refused(one).starts_with("text.parts.max_length"));
    }
}
