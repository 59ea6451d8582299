//! The training batches of a network of pieces.

use plethora_core::IndexRows;

use super::batch::{Cut, PieceBatch};
use super::pieces::PieceRows;
use crate::train::BatchMaker;

/// Makes batches of training documents.
pub(crate) struct PieceBatches<'a> {
    pub(crate) sequences: &'a PieceRows,
    pub(crate) cut: Cut,
    /// Numbers of the documents that are trained on.
    pub(crate) documents: &'a [u32],
    /// True labels of all documents.
    pub(crate) labels: &'a IndexRows,
    pub(crate) device: tch::Device,
}

impl BatchMaker for PieceBatches<'_> {
    type Batch = PieceBatch;

    fn num_documents(&self) -> usize {
        self.documents.len()
    }

    fn length(&self, document: usize) -> usize {
        let document = self.documents[document] as usize;
        self.cut.length(self.sequences.row(document))
    }

    fn make(&self, documents: &[u32]) -> PieceBatch {
        let numbers = documents
            .iter()
            .map(|&place| self.documents[place as usize] as usize);
        let pieces: Vec<&[u32]> = numbers
            .clone()
            .map(|document| self.sequences.row(document))
            .collect();
        PieceBatch::new(&pieces, self.cut)
            .with_labels(numbers.map(|document| self.labels.row(document)))
            .pinned(self.device)
    }
}
