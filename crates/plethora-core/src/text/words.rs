//! The fitted transformer from text to word sequences.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use super::tokenizer::Tokenizer;
use super::vocabulary::Vocabulary;
use super::words_config::WordsConfig;
use crate::{IndexRows, TermId};

/// Documents that one thread turns into sequences at a time.
const CHUNK_SIZE: usize = 256;

/// Turns texts into sequences of rows of an embedding table, with the vocabulary of training
/// documents.
///
/// The table has a row for padding, one for all unknown words, and then one for each word in the
/// order of the vocabulary. Made by a [`WordsBuilder`](super::WordsBuilder).
#[derive(Debug, Clone)]
pub struct Words {
    config: WordsConfig,
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
}

impl Words {
    /// The row that pads short sequences of a batch. No sequence has it.
    pub const PADDING: u32 = 0;
    /// The row of every word outside the vocabulary, and of a text without words.
    pub const UNKNOWN: u32 = 1;
    /// The row of the vocabulary's first word.
    pub const FIRST_WORD: u32 = 2;

    pub(super) fn new(config: WordsConfig, vocabulary: Vocabulary) -> Self {
        Self {
            tokenizer: Tokenizer::new(config.tokenizer.clone()),
            config,
            vocabulary,
        }
    }

    /// The settings it was fitted with.
    pub fn config(&self) -> &WordsConfig {
        &self.config
    }

    /// The tokenizer that finds its words.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Its words.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Number of rows of the embedding table: the words, padding and unknown.
    pub fn num_rows(&self) -> usize {
        self.vocabulary.len() + Self::FIRST_WORD as usize
    }

    /// The word of a row; none for padding, unknown and rows past the end.
    pub fn word(&self, row: u32) -> Option<&str> {
        let id = row.checked_sub(Self::FIRST_WORD)?;
        ((id as usize) < self.vocabulary.len()).then(|| self.vocabulary.term(TermId(id)))
    }

    /// The row of a word, spelt as the tokenizer spells it.
    pub fn row(&self, word: &str) -> Option<u32> {
        self.vocabulary.id(word).map(|id| id.0 + Self::FIRST_WORD)
    }

    /// The rows of the first `max_length` words of `text`; a text without words is one unknown
    /// word. The text behind these words is not looked at.
    pub fn sequence(&self, text: &str) -> Vec<u32> {
        let mut rows: Vec<u32> = self.rows_of(text).map(|(row, _)| row).collect();
        if rows.is_empty() {
            rows.push(Self::UNKNOWN);
        }
        rows
    }

    /// The sequences of `texts` in their order, computed in parallel.
    pub fn sequences(&self, texts: &[impl AsRef<str> + Sync]) -> IndexRows {
        let chunks: Vec<Vec<Vec<u32>>> = texts
            .par_chunks(CHUNK_SIZE)
            .map(|chunk| {
                let sequences = chunk.iter().map(|text| self.sequence(text.as_ref()));
                sequences.collect()
            })
            .collect();
        chunks.into_iter().flatten().collect()
    }

    /// The rows of [`sequence`](Self::sequence), each with the bytes of its word in `text`; the
    /// one unknown word of a text without words has none.
    pub fn spans(&self, text: &str) -> Vec<(u32, Range<usize>)> {
        let mut spans: Vec<_> = self.rows_of(text).collect();
        if spans.is_empty() {
            spans.push((Self::UNKNOWN, 0..0));
        }
        spans
    }

    fn rows_of<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (u32, Range<usize>)> + use<'a> {
        words_of(&self.tokenizer, &self.config, text)
            .take(self.config.max_length)
            .map(|(word, bytes)| (self.row(&word).unwrap_or(Self::UNKNOWN), bytes))
    }
}

/// The words that fitting and transforming see of a text, before it is cut, with their bytes.
pub(super) fn words_of<'a>(
    tokenizer: &'a Tokenizer,
    config: &'a WordsConfig,
    text: &'a str,
) -> impl Iterator<Item = (Cow<'a, str>, Range<usize>)> {
    let separator = config.separator.as_deref();
    let parts = separator.zip(text.split_once('\n')).filter(has_two_parts);
    let (title, rest) = parts.map_or(("", text), |(_, parts)| parts);
    let end = text.len() - rest.len();
    let separator = parts.map(|(word, _)| (Cow::Borrowed(word), title.len()..end));
    let of_rest = tokenizer
        .words(rest)
        .map(move |(word, bytes)| (word, bytes.start + end..bytes.end + end));
    tokenizer.words(title).chain(separator).chain(of_rest)
}

/// A separator stands between a title and a text, not beside one of them alone.
fn has_two_parts((_, (title, rest)): &(&str, (&str, &str))) -> bool {
    !title.trim().is_empty() && !rest.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use proptest::prelude::*;

    use super::super::{TokenizerConfig, WordsBuilder};
    use super::*;

    fn words(max_length: usize) -> Words {
        let config = WordsConfig {
            tokenizer: TokenizerConfig::default(),
            max_vocabulary: 100,
            min_df: 1,
            max_length,
            counts_whole_documents: None,
            separator: None,
        };
        let mut builder = WordsBuilder::new(config).unwrap();
        builder.push_batch(&["The Sea über a", "b é 日"]);
        builder.finish().unwrap().0
    }

    #[test]
    fn sequences_keep_order_and_repetition() {
        let words = words(10);
        let (sea, the) = (words.row("sea").unwrap(), words.row("the").unwrap());
        assert_eq!(
            words.sequence("the SEA: the fire, the sea"),
            [the, sea, the, Words::UNKNOWN, the, sea]
        );
        assert_eq!(words.word(sea), Some("sea"));
        assert_eq!(words.word(Words::PADDING), None);
        assert_eq!(words.word(Words::UNKNOWN), None);
        assert_eq!(words.word(words.num_rows() as u32), None);
        assert_eq!(words.num_rows(), 9);
    }

    #[test]
    fn a_text_without_words_is_one_unknown_word() {
        let words = words(10);
        for text in ["", " ... "] {
            assert_eq!(words.sequence(text), [Words::UNKNOWN]);
            assert_eq!(words.spans(text), [(Words::UNKNOWN, 0..0)]);
        }
        let rows = words.sequences(&["", "sea"]);
        assert_eq!((rows.num_rows(), rows.row(0)), (2, [1].as_slice()));
    }

    #[test]
    fn a_separator_stands_between_title_and_text() {
        let config = WordsConfig {
            separator: Some("/SEP/".to_owned()),
            max_length: 4,
            ..words(4).config().clone()
        };
        let mut builder = WordsBuilder::new(config).unwrap();
        builder.push_batch(&["The sea\nwaves, and the sea", "a\nb\nc"]);
        let (words, sequences) = builder.finish().unwrap();
        let row = |word: &str| words.row(word).unwrap();
        let expected = [row("the"), row("sea"), row("/SEP/"), row("waves")];
        assert_eq!(sequences.row(0), expected);
        assert_eq!(
            sequences.row(1),
            [row("a"), row("/SEP/"), row("b"), row("c")]
        );
        let spans = words.spans("The é\nsea");
        assert_eq!(
            spans[1..],
            [
                (Words::UNKNOWN, 4..6),
                (row("/SEP/"), 6..7),
                (row("sea"), 7..10)
            ]
        );
        for alone in ["the sea", "the sea\n", "\nthe sea", " \n the sea"] {
            assert_eq!(words.sequence(alone), [row("the"), row("sea")], "{alone:?}");
        }
    }

    #[test]
    fn the_text_behind_the_last_word_is_not_looked_at() {
        let words = words(3);
        let text = "the sea a b ".repeat(2_000_000);
        let started = Instant::now();
        assert_eq!(words.tokenizer().tokens(&text).count(), 8_000_000);
        let whole = started.elapsed();
        let started = Instant::now();
        assert_eq!(words.sequence(&text).len(), 3);
        assert_eq!(words.spans(&text).len(), 3);
        assert!(started.elapsed() < whole / 4);
    }

    #[test]
    fn many_texts_in_parallel_are_each_text_alone() {
        let words = words(4);
        let texts: Vec<String> = (0..1000)
            .map(|n| ["the ", "sea ", "x ", "a "].repeat(n % 3).concat() + "b")
            .collect();
        let rows = words.sequences(&texts);
        let expected: IndexRows = texts.iter().map(|text| words.sequence(text)).collect();
        assert_eq!(rows, expected);
    }

    proptest! {
        #[test]
        fn spans_are_the_sequence_and_slice_back_to_its_words(
            text in "(\\PC|[a-bÜé日 \u{301}]|the|SEA|ÜBER){0,20}"
        ) {
            let words = words(5);
            let spans = words.spans(&text);
            let rows: Vec<u32> = spans.iter().map(|&(row, _)| row).collect();
            prop_assert_eq!(&rows, &words.sequence(&text));
            prop_assert!(rows.len() <= 5 && !rows.contains(&Words::PADDING));
            for (row, bytes) in spans {
                if let Some(word) = words.word(row) {
                    let respelt: Vec<_> = words.tokenizer().tokens(&text[bytes]).collect();
                    prop_assert_eq!(respelt.len(), 1);
                    prop_assert_eq!(respelt[0].text.as_ref(), word);
                }
            }
        }
    }
}
