//! From documents in pieces to their best labels.

use plethora_core::{IndexRows, LabelId, ScoredLabel};
use tch::{Device, Kind};

use super::beam::flat;
use crate::Result;
use crate::batch::longest_first;
use crate::head::Ranked;
use crate::piece_batch::{Cut, PieceBatch};
use crate::piece_network::PieceNetwork;

/// Pieces (documents x longest document) that are read together in prediction on a GPU.
const PLACES_PER_BATCH_GPU: usize = 1 << 16;

/// As [`PLACES_PER_BATCH_GPU`], on a processor, whose caches hold fewer.
const PLACES_PER_BATCH_CPU: usize = 1 << 12;

/// Documents that are read together at most.
const DOCUMENTS_PER_BATCH: usize = 512;

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
        let all: Vec<u32> = (0..sequences.num_rows() as u32).collect();
        let sorted = longest_first(&all, sequences);
        let mut rankings = vec![Vec::new(); sorted.len()];
        let places = match self.network.device() {
            Device::Cpu => PLACES_PER_BATCH_CPU,
            _ => PLACES_PER_BATCH_GPU,
        };
        let mut rest = sorted.as_slice();
        while let Some(&longest) = rest.first() {
            let length = sequences.row(longest as usize).len().max(1);
            let count = (places / length).clamp(1, DOCUMENTS_PER_BATCH);
            let (documents, later) = rest.split_at(count.min(rest.len()));
            rest = later;
            let pieces: Vec<&[u32]> = documents
                .iter()
                .map(|&document| sequences.row(document as usize))
                .collect();
            let batch = PieceBatch::new(&pieces, self.cut);
            let ranked = self.network.rank(&batch, self.beam, self.keep)?;
            for (&document, ranking) in documents.iter().zip(to_rankings(&ranked)) {
                rankings[document as usize] = ranking;
            }
        }
        Ok(rankings)
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
