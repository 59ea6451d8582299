//! The documents of a training set as numbers.

use plethora_core::IndexRows;

use crate::pieces::PieceRows;

/// The words or pieces of each document.
#[derive(Debug)]
pub enum Sequences {
    /// Words, in memory.
    Words(IndexRows),
    /// Pieces, in mapped files where there is a cache.
    Pieces(PieceRows),
}

impl Sequences {
    /// Number of documents.
    pub fn num_rows(&self) -> usize {
        match self {
            Self::Words(rows) => rows.num_rows(),
            Self::Pieces(rows) => rows.num_rows(),
        }
    }

    /// Words or pieces of all documents.
    pub fn num_items(&self) -> usize {
        match self {
            Self::Words(rows) => rows.num_items(),
            Self::Pieces(rows) => rows.num_items(),
        }
    }

    /// A document.
    pub fn row(&self, index: usize) -> &[u32] {
        match self {
            Self::Words(rows) => rows.row(index),
            Self::Pieces(rows) => rows.row(index),
        }
    }

    /// All documents in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.num_rows()).map(|index| self.row(index))
    }
}
