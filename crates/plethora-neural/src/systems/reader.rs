//! How texts become numbers.

use std::ops::Range;
use std::path::Path;

use plethora_core::IndexRows;
use plethora_core::text::Words;

use crate::Result;
use crate::pieces::Pieces;

/// What a system reads.
#[derive(Debug, Clone)]
pub enum TextReader {
    /// Words, by a vocabulary of the training texts.
    Words(Words),
    /// Pieces of words, by the vocabulary of a pretrained transformer.
    Pieces {
        /// The vocabulary.
        pieces: Box<Pieces>,
        /// Pieces of a document beyond this many are cut.
        max_length: usize,
    },
}

impl TextReader {
    /// The numbers of a text.
    pub fn sequence(&self, text: &str) -> Vec<u32> {
        match self {
            Self::Words(words) => words.sequence(text),
            Self::Pieces { pieces, max_length } => pieces.encode(text, *max_length),
        }
    }

    /// The numbers of many texts.
    pub fn sequences(&self, texts: &[impl AsRef<str> + Sync]) -> IndexRows {
        match self {
            Self::Words(words) => words.sequences(texts),
            Self::Pieces { pieces, max_length } => pieces.encode_all(texts, *max_length),
        }
    }

    /// The numbers of a text with the bytes that each stands for.
    pub fn spans(&self, text: &str) -> Vec<(u32, Range<usize>)> {
        match self {
            Self::Words(words) => words.spans(text),
            Self::Pieces { pieces, max_length } => pieces.spans(text, *max_length),
        }
    }

    /// Number of words or pieces that are known.
    pub fn num_known(&self) -> usize {
        match self {
            Self::Words(words) => words.vocabulary().len(),
            Self::Pieces { pieces, .. } => pieces.vocab_size(),
        }
    }

    /// Writes it into a model folder.
    pub(crate) fn save_to(&self, folder: &Path) -> Result<()> {
        match self {
            Self::Words(words) => {
                words.save_to(folder)?;
            }
            Self::Pieces { pieces, .. } => pieces.save_to(folder)?,
        }
        Ok(())
    }
}
