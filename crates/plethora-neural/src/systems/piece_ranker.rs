//! From documents in pieces to their best labels.

use plethora_core::{IndexRows, LabelId, ScoredLabel};
use tch::Kind;

use super::beam::flat;
use super::ranked_batches::{BatchLimits, RankedBatches};
use crate::Result;
use crate::head::Ranked;
use crate::piece_batch::{Cut, PieceBatch};
use crate::piece_network::PieceNetwork;

/// Documents that are read together on a GPU.
const ON_GPU: BatchLimits = BatchLimits {
    places: 1 << 16,
    documents: 512,
    is_recurrent: false,
};

/// As [`ON_GPU`], on a processor, whose caches hold fewer.
const ON_CPU: BatchLimits = BatchLimits {
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
    /// Labels kept a document.
    pub(crate) keep: usize,
}

impl PieceRanker<'_> {
    /// The best labels of each document, best first.
    pub(crate) fn rank(&self, sequences: &IndexRows) -> Result<Vec<Vec<ScoredLabel>>> {
        let rank = |documents: &[u32]| {
            let pieces: Vec<&[u32]> = documents
                .iter()
                .map(|&document| sequences.row(document as usize))
                .collect();
            let batch = PieceBatch::new(&pieces, self.cut);
            let ranked = self.network.rank(&batch, self.beam, self.keep)?;
            Ok(to_rankings(&ranked))
        };
        RankedBatches {
            sequences,
            device: self.network.device(),
            on_gpu: ON_GPU,
            on_cpu: ON_CPU,
        }
        .rank(rank, |_| Ok(()))
    }
}

/// The labels that were found, as rankings.
pub(super) fn to_rankings(ranked: &Ranked) -> Vec<Vec<ScoredLabel>> {
    let width = ranked.labels.size()[1].max(1) as usize;
    let scores: Vec<f32> = flat(&ranked.log_scores.to_kind(Kind::Float));
    let labels: Vec<i64> = flat(&ranked.labels);
    let ranking = |(scores, labels): (&[f32], &[i64])| {
        let places = scores.iter().zip(labels);
        places
            .filter(|(score, _)| **score > f32::NEG_INFINITY)
            .map(|(score, &label)| ScoredLabel {
                label: LabelId(label as u32),
                score: score.exp(),
            })
            .collect()
    };
    scores
        .chunks(width)
        .zip(labels.chunks(width))
        .map(ranking)
        .collect()
}
