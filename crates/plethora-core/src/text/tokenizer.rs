//! Words of a text with their places in it.

use std::borrow::Cow;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::normalize::{continues_word, is_han, lowercase, starts_word, unify};

/// How text is cut into words and how these are spelt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TokenizerConfig {
    /// Lower-case every word.
    pub lowercase: bool,
    /// Unify spellings that Unicode holds for equal (NFKC): composed and decomposed accents,
    /// full-width letters, ligatures.
    pub normalize: bool,
}

impl Default for TokenizerConfig {
    fn default() -> Self {
        Self {
            lowercase: true,
            normalize: true,
        }
    }
}

/// A word and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token<'a> {
    /// The word as features see it: unified and lower-cased as configured.
    pub text: Cow<'a, str>,
    /// First character of the word in the raw text, counted in Unicode scalar values from 0 (what
    /// Python calls an index, and not a byte position).
    pub start: usize,
    /// The character after the word's last, counted alike.
    pub end: usize,
}

/// Cuts text into words.
///
/// A word is a maximal run of letters, numbers, underscores and the combining marks that follow
/// them. Each Han ideograph is a word of its own. On text in composed form (NFKC) without Han and
/// without combining marks these are the words of `\w+` in Python, so of scikit-learn with that
/// `token_pattern`.
///
/// ```
/// use plethora_core::text::{Tokenizer, TokenizerConfig};
///
/// let tokenizer = Tokenizer::new(TokenizerConfig::default());
/// let words: Vec<_> = tokenizer.tokens("Über uns: v2_beta").map(|token| token.text).collect();
/// assert_eq!(words, ["über", "uns", "v2_beta"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tokenizer {
    config: TokenizerConfig,
}

impl Tokenizer {
    /// A tokenizer with these settings.
    pub const fn new(config: TokenizerConfig) -> Self {
        Self { config }
    }

    /// The settings.
    pub const fn config(&self) -> &TokenizerConfig {
        &self.config
    }

    /// The words of `text` in order.
    pub fn tokens<'a>(&self, text: &'a str) -> impl Iterator<Item = Token<'a>> + use<'a, '_> {
        Spans::new(text).map(move |span| {
            let word = self.spell(&text[span.bytes.clone()], span.is_ascii);
            let end = span.start + span.num_characters;
            Token {
                text: word,
                start: span.start,
                end,
            }
        })
    }

    /// The words of `text` in order, spelt as features see them, with their bytes in `text`.
    pub fn words<'a>(
        &self,
        text: &'a str,
    ) -> impl Iterator<Item = (Cow<'a, str>, Range<usize>)> + use<'a, '_> {
        Spans::new(text).map(move |span| {
            let word = self.spell(&text[span.bytes.clone()], span.is_ascii);
            (word, span.bytes)
        })
    }

    /// Replaces the content of `words` by the words of `text`, without allocating for each.
    pub(super) fn fill(&self, text: &str, words: &mut WordBuffer) {
        words.clear();
        let first_line = text.find('\n').unwrap_or(0);
        for span in Spans::new(text) {
            words.num_first_line += usize::from(span.bytes.start < first_line);
            let word = &text[span.bytes];
            if span.is_ascii {
                let start = words.buffer.len();
                words.buffer.push_str(word);
                if self.config.lowercase {
                    words.buffer[start..].make_ascii_lowercase();
                }
            } else {
                words.buffer.push_str(&self.spell(word, false));
            }
            words.ends.push(words.buffer.len());
            words.buffer.push(' ');
        }
        if words.num_first_line == words.ends.len() {
            words.num_first_line = 0;
        }
    }

    fn spell<'a>(&self, word: &'a str, is_ascii: bool) -> Cow<'a, str> {
        if is_ascii {
            return if self.config.lowercase && word.bytes().any(|byte| byte.is_ascii_uppercase()) {
                Cow::Owned(word.to_ascii_lowercase())
            } else {
                Cow::Borrowed(word)
            };
        }
        let unified = if self.config.normalize {
            unify(word)
        } else {
            Cow::Borrowed(word)
        };
        if self.config.lowercase {
            lowercase(unified)
        } else {
            unified
        }
    }
}

/// Which runs of words are terms, and how often they count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermRuns {
    /// Words of the longest run.
    pub max_ngram: usize,
    /// How often terms of a text's first line count, where other lines follow.
    pub first_line_times: usize,
}

impl TermRuns {
    /// Single words, each once.
    pub const WORDS: Self = Self {
        max_ngram: 1,
        first_line_times: 1,
    };
}

/// The words of one text, joined by single spaces in one buffer, so that an n-gram is a slice.
#[derive(Debug, Default)]
pub(super) struct WordBuffer {
    buffer: String,
    ends: Vec<usize>,
    /// Words of the first line; none where it is the only one.
    num_first_line: usize,
}

impl WordBuffer {
    fn clear(&mut self) {
        self.buffer.clear();
        self.ends.clear();
        self.num_first_line = 0;
    }

    /// All terms, as often as they count.
    pub(super) fn terms(&self, runs: TermRuns) -> impl Iterator<Item = &str> {
        let again = 1..runs.first_line_times;
        let first_line = again.flat_map(move |_| self.ngrams(self.num_first_line, runs.max_ngram));
        self.ngrams(self.ends.len(), runs.max_ngram)
            .chain(first_line)
    }

    /// All words in order.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.ngrams(self.ends.len(), 1)
    }

    /// All runs of 1 to `max_ngram` of the first `num_words` words.
    fn ngrams(&self, num_words: usize, max_ngram: usize) -> impl Iterator<Item = &str> {
        (0..num_words).flat_map(move |first| {
            let start = first
                .checked_sub(1)
                .map_or(0, |before| self.ends[before] + 1);
            let last = num_words.min(first + max_ngram);
            self.ends[first..last]
                .iter()
                .map(move |&end| &self.buffer[start..end])
        })
    }
}

/// Where a word stands in the raw text.
#[derive(Debug)]
struct Span {
    bytes: Range<usize>,
    start: usize,
    num_characters: usize,
    is_ascii: bool,
}

/// Finds words byte by byte, and decodes characters only outside of ASCII.
#[derive(Debug)]
struct Spans<'a> {
    text: &'a str,
    position: usize,
    /// Bytes before `position` that begin no character: byte position minus character position.
    num_inner_bytes: usize,
}

impl<'a> Spans<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            position: 0,
            num_inner_bytes: 0,
        }
    }

    /// The character at the position; none at the text's end.
    fn character(&self) -> Option<char> {
        self.text[self.position..].chars().next()
    }

    fn step_over(&mut self, character: char) {
        self.position += character.len_utf8();
        self.num_inner_bytes += character.len_utf8() - 1;
    }

    /// Goes to where a word begins and returns its first character.
    fn find_start(&mut self) -> Option<char> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.position)? {
                &byte if is_ascii_word(byte) => return Some(char::from(byte)),
                byte if byte.is_ascii() => self.position += 1,
                _ => {
                    let character = self.character()?;
                    if starts_word(character) {
                        return Some(character);
                    }
                    self.step_over(character);
                }
            }
        }
    }

    /// Goes to where the word around the position ends; true where it was ASCII throughout.
    fn find_end(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let mut only_ascii = true;
        loop {
            let rest = &bytes[self.position..];
            self.position += rest
                .iter()
                .position(|&byte| !is_ascii_word(byte))
                .unwrap_or(rest.len());
            match self.character() {
                Some(next) if !next.is_ascii() && continues_word(next) && !is_han(next) => {
                    self.step_over(next);
                    only_ascii = false;
                }
                _ => return only_ascii,
            }
        }
    }
}

impl Iterator for Spans<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        let first = self.find_start()?;
        let start_byte = self.position;
        let start = start_byte - self.num_inner_bytes;
        self.step_over(first);
        let is_ascii = if is_han(first) {
            false
        } else {
            self.find_end() && first.is_ascii()
        };
        let num_characters = self.position - self.num_inner_bytes - start;
        Some(Span {
            bytes: start_byte..self.position,
            start,
            num_characters,
            is_ascii,
        })
    }
}

const fn is_ascii_word(byte: u8) -> bool {
    ASCII_WORD[byte as usize]
}

/// A table beats the comparisons that the character classes need.
static ASCII_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        Tokenizer::default()
            .tokens(text)
            .map(|token| token.text.into_owned())
            .collect()
    }

    #[test]
    fn words_are_runs_of_letters_numbers_and_underscores() {
        assert_eq!(
            words("It's snake_case, 3.5 mm!"),
            ["it", "s", "snake_case", "3", "5", "mm"]
        );
        assert_eq!(words("ÄRZTE-Straße ΟΔΟΣ"), ["ärzte", "straße", "οδος"]);
        assert_eq!(words(" ... \u{1f600} "), [""; 0]);
    }

    #[test]
    fn combining_marks_stay_in_their_word_and_start_none() {
        assert_eq!(words("हिन्दी भाषा"), ["हिन्दी", "भाषा"]);
        assert_eq!(words("\u{2764}\u{fe0f} a"), ["a"]);
    }

    #[test]
    fn each_han_ideograph_is_a_word() {
        assert_eq!(
            words("日本語をABC学ぶ"),
            ["日", "本", "語", "をabc", "学", "ぶ"]
        );
    }

    #[test]
    fn offsets_count_characters() {
        let tokenizer = Tokenizer::default();
        let offsets: Vec<_> = tokenizer
            .tokens("é 日x Ünï")
            .map(|token| (token.start, token.end))
            .collect();
        assert_eq!(offsets, [(0, 1), (2, 3), (3, 4), (5, 8)]);
    }

    #[test]
    fn words_come_with_their_bytes() {
        let text = "é 日x Ünï";
        let tokenizer = Tokenizer::default();
        let raw: Vec<_> = tokenizer
            .words(text)
            .map(|(_, bytes)| &text[bytes])
            .collect();
        assert_eq!(raw, ["é", "日", "x", "Ünï"]);
    }

    #[test]
    fn ngrams_join_neighbours_with_a_space() {
        let mut buffer = WordBuffer::default();
        Tokenizer::default().fill("A b C", &mut buffer);
        let runs = |max_ngram| TermRuns {
            max_ngram,
            ..TermRuns::WORDS
        };
        assert_eq!(
            buffer.terms(runs(2)).collect::<Vec<_>>(),
            ["a", "a b", "b", "b c", "c"]
        );
        assert_eq!(buffer.terms(runs(9)).count(), 6);
    }

    #[test]
    fn terms_of_the_first_of_several_lines_count_again() {
        let terms = |text: &str| {
            let mut buffer = WordBuffer::default();
            Tokenizer::default().fill(text, &mut buffer);
            let runs = TermRuns {
                max_ngram: 2,
                first_line_times: 3,
            };
            let terms: Vec<String> = buffer.terms(runs).map(ToOwned::to_owned).collect();
            terms
        };
        let line = ["a", "a b", "b"];
        assert_eq!(
            terms("A b\nc"),
            [&["a", "a b", "b", "b c", "c"][..], &line, &line].concat()
        );
        assert_eq!(terms("A b"), line);
        assert_eq!(terms("A b\n"), line);
        assert_eq!(terms("\nA b"), line);
    }

    #[test]
    fn case_and_form_are_kept_on_request() {
        let config = TokenizerConfig {
            lowercase: false,
            normalize: false,
        };
        let tokenizer = Tokenizer::new(config);
        let kept: Vec<_> = tokenizer.tokens("Fit ﬁT").map(|token| token.text).collect();
        assert_eq!(kept, ["Fit", "ﬁT"]);
    }

    proptest! {
        #[test]
        fn offsets_slice_back_to_the_raw_words(text in "(\\PC|[a-zÄß日हिΣ\u{308} _0-9]){0,40}") {
            let characters: Vec<char> = text.chars().collect();
            let plain = Tokenizer::new(TokenizerConfig { lowercase: false, normalize: false });
            let mut previous_end = 0;
            for token in plain.tokens(&text) {
                prop_assert!(previous_end <= token.start && token.start < token.end);
                let slice: String = characters[token.start..token.end].iter().collect();
                prop_assert_eq!(&slice, token.text.as_ref());
                let is_covered = characters[previous_end..token.start].iter().all(|&c| !starts_word(c));
                prop_assert!(is_covered);
                previous_end = token.end;
            }
            prop_assert!(characters[previous_end..].iter().all(|&c| !starts_word(c)));
        }

        #[test]
        fn the_buffer_holds_the_same_words(text in "(\\PC|[A-ZaÄß日ﬁ½ ]){0,40}") {
            let tokenizer = Tokenizer::default();
            let mut buffer = WordBuffer::default();
            tokenizer.fill(&text, &mut buffer);
            let expected: Vec<_> = tokenizer.tokens(&text).map(|token| token.text).collect();
            prop_assert_eq!(buffer.terms(TermRuns::WORDS).collect::<Vec<_>>(), expected.clone());
            prop_assert!(expected.iter().all(|word| word.chars().all(continues_word)));
        }
    }
}
