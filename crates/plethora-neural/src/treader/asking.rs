//! Training and validation documents that ask for their neighbours.

use std::ops::Range;

use plethora_core::neighbours::{Neighbour, Queries};
use plethora_core::{IndexRows, SparseMatrix, SparseVector};

use super::neighbour_index::{MeanNeighbours, TermNeighbours};

/// Documents of a run in the form that an index compares.
pub(super) trait Asks {
    /// The neighbours of some training documents.
    fn of_training(&self, documents: &[u32], queries: &Queries) -> Vec<Vec<Neighbour>>;

    /// The neighbours of some validation documents.
    fn of_validation(&self, documents: Range<usize>, queries: &Queries) -> Vec<Vec<Neighbour>>;
}

/// Asks with features.
pub(super) struct AsksWithTerms<'a> {
    pub(super) index: &'a TermNeighbours,
    /// Of all training documents.
    pub(super) training: &'a SparseMatrix,
    pub(super) validation: &'a [SparseVector],
}

/// Asks with words.
pub(super) struct AsksWithMeans<'a> {
    pub(super) index: &'a MeanNeighbours,
    /// Of all training documents.
    pub(super) training: &'a IndexRows,
    pub(super) validation: &'a IndexRows,
}

impl Asks for AsksWithTerms<'_> {
    fn of_training(&self, documents: &[u32], queries: &Queries) -> Vec<Vec<Neighbour>> {
        self.index
            .nearest(&some_rows(self.training, documents), queries)
    }

    fn of_validation(&self, documents: Range<usize>, queries: &Queries) -> Vec<Vec<Neighbour>> {
        let mut rows = SparseMatrix::builder(self.training.num_columns());
        for row in &self.validation[documents] {
            rows.push(row.as_row());
        }
        self.index.nearest(&rows.finish(), queries)
    }
}

impl Asks for AsksWithMeans<'_> {
    fn of_training(&self, documents: &[u32], queries: &Queries) -> Vec<Vec<Neighbour>> {
        self.index
            .nearest(&some_sequences(self.training, documents), queries)
    }

    fn of_validation(&self, documents: Range<usize>, queries: &Queries) -> Vec<Vec<Neighbour>> {
        let rows = documents.map(|document| self.validation.row(document));
        let sequences: IndexRows = rows.map(|row| row.iter().copied()).collect();
        self.index.nearest(&sequences, queries)
    }
}

/// The features of some documents.
pub(super) fn some_rows(features: &SparseMatrix, documents: &[u32]) -> SparseMatrix {
    let mut rows = SparseMatrix::builder(features.num_columns());
    for &document in documents {
        rows.push(features.row(document as usize));
    }
    rows.finish()
}

/// The words of some documents.
pub(super) fn some_sequences(sequences: &IndexRows, documents: &[u32]) -> IndexRows {
    let rows = documents.iter();
    rows.map(|&document| sequences.row(document as usize).iter().copied())
        .collect()
}
