//! The pretrained vectors of a vocabulary.

use std::path::Path;

use super::collector::{Collected, Collector};
use super::layout::{Encoding, Layout};
use super::{binary, text_lines};
use crate::corpus::Source;
use crate::text::Words;
use crate::{IndexRows, Result};

/// Vectors from a file for the words that a vocabulary has.
#[derive(Debug, Clone, PartialEq)]
pub struct WordVectors {
    width: usize,
    num_in_file: u64,
    rows: Vec<u32>,
    values: Vec<f32>,
}

/// How much of a vocabulary and of the text written with it has vectors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coverage {
    /// Words of the vocabulary.
    pub num_words: usize,
    /// Those of them that have a vector.
    pub num_covered: usize,
    /// Share of the words in the documents, repetitions and unknown words counted, that have a
    /// vector.
    pub share_of_running_words: f64,
}

impl WordVectors {
    /// Reads the vectors of the words that `words` knows, from a file in any of the formats.
    ///
    /// A word takes the vector under its own spelling; where the file has none, the first under
    /// a spelling that the tokenizer turns into it (`Paris` for `paris`). Numbers are checked
    /// for these words alone.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) where the file is none of word vectors, is damaged, has not
    /// `expected_width` numbers per word, or has no word of the vocabulary.
    pub fn read(path: &Path, words: &Words, expected_width: Option<usize>) -> Result<Self> {
        let source = Source::open_binary(path)?;
        let layout = Layout::detect(&source)?;
        let (reader, origin) = source.into_reader();
        let width = layout.width;
        if let Some(expected) = expected_width.filter(|&expected| expected != width) {
            return Err(origin.error(
                None,
                format!("has {width} numbers per word where {expected} were expected"),
            ));
        }
        let mut collector = Collector::new(words, width);
        match layout.encoding {
            Encoding::Text => text_lines::read(reader, &origin, layout, &mut collector)?,
            Encoding::Binary => binary::read(reader, &origin, layout, &mut collector)?,
        }
        let Collected {
            rows,
            values,
            num_in_file,
        } = collector.finish();
        if rows.is_empty() {
            return Err(origin.error(
                None,
                format!("none of its {num_in_file} words is in the vocabulary"),
            ));
        }
        Ok(Self {
            width,
            num_in_file,
            rows,
            values,
        })
    }

    /// Numbers per word.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of words in the file, known and unknown.
    pub fn num_in_file(&self) -> u64 {
        self.num_in_file
    }

    /// The rows of the words that have a vector, rising.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The vectors, one after another in the order of [`rows`](Self::rows).
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// How much of `words` and of `sequences`, made with it, these vectors cover.
    pub fn coverage(&self, words: &Words, sequences: &IndexRows) -> Coverage {
        let mut is_covered = vec![false; words.num_rows()];
        for &row in &self.rows {
            is_covered[row as usize] = true;
        }
        let running = sequences.rows().flatten();
        let num_running_covered = running.filter(|&&row| is_covered[row as usize]).count();
        Coverage {
            num_words: words.vocabulary().len(),
            num_covered: self.rows.len(),
            share_of_running_words: num_running_covered as f64
                / sequences.num_items().max(1) as f64,
        }
    }
}
