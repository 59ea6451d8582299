//! From documents in pieces to their best labels.

use plethora_core::{IndexRows, ScoredLabel};
use tch::Kind;

use super::batch::{Cut, PieceBatch};
use super::network::PieceNetwork;
use crate::Result;
use crate::systems::ranked_batches::{BatchLimits, RankedBatches, ReadsBatches};
use crate::systems::rankings::{flat, to_rankings};
use crate::systems::vectors::unit_halves;

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

/// What a network says of a document.
#[derive(Debug, Clone, Default)]
pub(crate) struct SaidOfDocument {
    /// The best labels, best first.
    pub(crate) ranking: Vec<ScoredLabel>,
    /// A vector of unit length, in half precision.
    pub(crate) vector: Vec<u16>,
}

impl PieceRanker<'_> {
    /// The best labels of each document, best first.
    pub(crate) fn rank(&self, sequences: &IndexRows) -> Result<Vec<Vec<ScoredLabel>>> {
        let said = self.read(sequences, false)?.into_iter();
        Ok(said.map(|said| said.ranking).collect())
    }

    /// The best labels of each document, unless none are to be kept, and its vector.
    pub(crate) fn said(&self, sequences: &IndexRows) -> Result<Vec<SaidOfDocument>> {
        self.read(sequences, true)
    }

    fn read(&self, sequences: &IndexRows, gives_vectors: bool) -> Result<Vec<SaidOfDocument>> {
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
                gives_vectors,
            },
            |_| Ok(()),
        )
    }
}

/// A ranker and the documents that it ranks.
struct Reading<'a> {
    ranker: &'a PieceRanker<'a>,
    sequences: &'a IndexRows,
    gives_vectors: bool,
}

#[expect(unsafe_code, reason = "tch marks no tensor as one that threads share")]
// SAFETY: ranking reads the weights of the network and writes to tensors of its own batch alone;
// nobody else has the network meanwhile, since whoever ranks has borrowed it.
unsafe impl ReadsBatches for Reading<'_> {
    type Said = SaidOfDocument;

    fn read(&self, documents: &[u32]) -> Result<Vec<SaidOfDocument>> {
        let pieces: Vec<&[u32]> = documents
            .iter()
            .map(|&document| self.sequences.row(document as usize))
            .collect();
        let ranker = self.ranker;
        let batch = PieceBatch::new(&pieces, ranker.cut);
        let network = ranker.network;
        let (ranked, vectors) = network.rank_with_vectors(&batch, ranker.beam, ranker.keep);
        let mut said = vec![SaidOfDocument::default(); documents.len()];
        if let Some(ranked) = ranked {
            for (said, ranking) in said.iter_mut().zip(to_rankings(&ranked)) {
                said.ranking = ranking;
            }
        }
        if self.gives_vectors {
            let values: Vec<f32> = flat(&vectors.to_kind(Kind::Float));
            for (said, vector) in said.iter_mut().zip(values.chunks(network.vector_width())) {
                said.vector = unit_halves(vector);
            }
        }
        Ok(said)
    }
}
