//! From documents in pieces to their best labels.

use plethora_core::{IndexRows, ScoredLabel};

use super::batch::{Cut, PieceBatch};
use super::network::PieceNetwork;
use crate::Result;
use crate::systems::ranked_batches::{BatchLimits, RankedBatches, ReadsBatches};
use crate::systems::rankings::to_rankings;

/// Documents that are read together on a GPU.
pub(crate) const ON_GPU: BatchLimits = BatchLimits {
    places: 1 << 16,
    documents: 512,
    is_recurrent: false,
};

/// As [`ON_GPU`], on a processor, whose caches hold fewer.
pub(crate) const ON_CPU: BatchLimits = BatchLimits {
    places: 1 << 12,
    documents: 512,
    is_recurrent: false,
};

/// A network, ready to rank.
pub(crate) struct PieceRanker<'a> {
    pub(crate) network: &'a PieceNetwork,
    pub(crate) cut: Cut,
    /// Clusters whose labels are ranked, where there are some.
    pub(crate) beam: usize,
    /// Labels kept per document.
    pub(crate) keep: usize,
}

impl PieceRanker<'_> {
    /// The best labels of each document, best first.
    pub(crate) fn rank(&self, sequences: &IndexRows) -> Result<Vec<Vec<ScoredLabel>>> {
        RankedBatches {
            sequences,
            device: self.network.device(),
            on_gpu: ON_GPU,
            on_cpu: ON_CPU,
        }
        .rank(
            &Reading {
                ranker: self,
                sequences,
            },
            |_| Ok(()),
        )
    }
}

/// A ranker and the documents that it ranks.
struct Reading<'a> {
    ranker: &'a PieceRanker<'a>,
    sequences: &'a IndexRows,
}

#[expect(unsafe_code, reason = "tch marks no tensor as one that threads share")]
// SAFETY: ranking reads the weights of the network and writes to tensors of its own batch alone;
// nobody else has the network meanwhile, since whoever ranks has borrowed it.
unsafe impl ReadsBatches for Reading<'_> {
    type Said = Vec<ScoredLabel>;

    fn read(&self, documents: &[u32]) -> Result<Vec<Vec<ScoredLabel>>> {
        let pieces: Vec<&[u32]> = documents
            .iter()
            .map(|&document| self.sequences.row(document as usize))
            .collect();
        let ranker = self.ranker;
        let batch = PieceBatch::new(&pieces, ranker.cut);
        let ranked = ranker.network.rank(&batch, ranker.beam, ranker.keep);
        Ok(to_rankings(&ranked))
    }
}
