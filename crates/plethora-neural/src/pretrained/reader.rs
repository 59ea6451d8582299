//! How texts become pieces.

use plethora_core::IndexRows;

use super::pieces::Pieces;

/// The vocabulary of an encoder, and how many of its pieces are read of a text.
#[derive(Debug, Clone)]
pub struct PieceReader {
    /// The vocabulary.
    pub pieces: Pieces,
    /// Pieces of a document beyond this many are cut.
    pub max_length: usize,
}

impl PieceReader {
    /// The pieces of a text.
    pub fn sequence(&self, text: &str) -> Vec<u32> {
        self.pieces.encode(text, self.max_length)
    }

    /// The pieces of many texts.
    pub fn sequences(&self, texts: &[impl AsRef<str> + Sync]) -> IndexRows {
        self.pieces.encode_all(texts, self.max_length)
    }
}
