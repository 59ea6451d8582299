//! From tensors to rankings, and from those of several networks to one.

use plethora_core::{LabelId, ScoredLabel};
use tch::{Kind, Tensor};

use crate::head::Ranked;

/// Labels that each network ranks at least, where their scores are averaged.
const MEAN_DEPTH: usize = 100;

/// All numbers of a tensor, row by row.
pub(crate) fn flat<T: tch::kind::Element + Clone + Default>(tensor: &Tensor) -> Vec<T> {
    let mut values = vec![T::default(); tensor.numel()];
    let length = values.len();
    tensor.contiguous().copy_data(&mut values, length);
    values
}

/// The labels that were found, as rankings.
pub(crate) fn to_rankings(ranked: &Ranked) -> Vec<Vec<ScoredLabel>> {
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

/// Labels that each of so many networks ranks, for `top_k` of their mean. A label that is not among a
/// network's best counts nothing there, which must not depend on how many labels are asked for.
pub(crate) fn depth(num_networks: usize, top_k: usize) -> usize {
    match num_networks {
        1 => top_k,
        _ => top_k.max(MEAN_DEPTH),
    }
}

/// The mean of what the networks of a system say, or what its only one says.
pub(crate) fn combine(
    mut of_networks: Vec<Vec<Vec<ScoredLabel>>>,
    num_documents: usize,
    top_k: usize,
) -> Vec<Vec<ScoredLabel>> {
    if of_networks.len() == 1 {
        return of_networks.remove(0);
    }
    let mut together = vec![Vec::new(); num_documents];
    let num_networks = of_networks.len();
    for rankings in of_networks {
        for (all, ranking) in together.iter_mut().zip(rankings) {
            all.extend(ranking);
        }
    }
    together
        .into_iter()
        .map(|scored| mean(scored, num_networks, top_k))
        .collect()
}

/// A network that lacks a label counts zero for it.
fn mean(mut scored: Vec<ScoredLabel>, num_networks: usize, top_k: usize) -> Vec<ScoredLabel> {
    scored.sort_by_key(|scored| scored.label);
    let mut sums: Vec<ScoredLabel> = Vec::new();
    for one in scored {
        let share = one.score / num_networks as f32;
        match sums.last_mut() {
            Some(last) if last.label == one.label => last.score += share,
            _ => sums.push(ScoredLabel {
                label: one.label,
                score: share,
            }),
        }
    }
    sums.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.label.cmp(&b.label)));
    sums.truncate(top_k);
    sums
}
