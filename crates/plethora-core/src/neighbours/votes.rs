//! What the labels of neighbours say of a text.

use super::Neighbour;
use crate::{LabelId, ScoredLabel};

/// Each neighbour's share of all votes: its similarity to the power of `power`, so that a higher one
/// leaves more to the nearest. Shares sum to 1.
pub fn shares(neighbours: &[Neighbour], power: f32) -> Vec<f32> {
    // Counted from the nearest: high powers of small similarities would vanish.
    let nearest = neighbours.first().map_or(1.0, |one| one.similarity);
    let weights: Vec<f64> = neighbours
        .iter()
        .map(|one| f64::from(one.similarity / nearest).powf(f64::from(power)))
        .collect();
    let sum: f64 = weights.iter().sum();
    weights
        .into_iter()
        .map(|weight| (weight / sum) as f32)
        .collect()
}

/// The share of votes of each label that a neighbour has, by label; `labels_of` gives the labels of a
/// document, each once.
pub fn votes<Labels: IntoIterator<Item = u32>>(
    neighbours: &[Neighbour],
    power: f32,
    labels_of: impl Fn(u32) -> Labels,
) -> Vec<ScoredLabel> {
    let mut single: Vec<(u32, f32)> = Vec::new();
    for (neighbour, share) in neighbours.iter().zip(shares(neighbours, power)) {
        let labels = labels_of(neighbour.document).into_iter();
        single.extend(labels.map(|label| (label, share)));
    }
    // Stable: the votes of a label add up in the order of the neighbours.
    single.sort_by_key(|&(label, _)| label);
    single
        .chunk_by(|left, right| left.0 == right.0)
        .map(|votes| ScoredLabel {
            label: LabelId(votes[0].0),
            score: votes.iter().map(|(_, share)| share).sum::<f32>().min(1.0),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neighbours(similarities: &[f32]) -> Vec<Neighbour> {
        (0..)
            .zip(similarities)
            .map(|(document, &similarity)| Neighbour {
                document,
                similarity,
            })
            .collect()
    }

    #[test]
    fn shares_sum_to_one_and_powers_favour_the_nearest() {
        let found = neighbours(&[0.8, 0.4]);
        assert_eq!(shares(&found, 0.0), [0.5, 0.5]);
        let shown: Vec<String> = (shares(&found, 2.0).iter())
            .map(|share| format!("{share:.2}"))
            .collect();
        assert_eq!(shown, ["0.80", "0.20"]);
        assert!(shares(&[], 1.0).is_empty());
        let tiny = shares(&neighbours(&[1e-20, 1e-20]), 30.0);
        assert_eq!(tiny, [0.5, 0.5]);
    }

    #[test]
    fn labels_get_the_shares_of_the_documents_that_have_them() {
        let found = neighbours(&[0.5, 0.5, 0.5, 0.5]);
        let labels: [&[u32]; 4] = [&[3, 1], &[1], &[], &[7]];
        let votes = votes(&found, 1.0, |document| {
            labels[document as usize].iter().copied()
        });
        let shown: Vec<(u32, f32)> = votes.iter().map(|one| (one.label.0, one.score)).collect();
        assert_eq!(shown, [(1, 0.5), (3, 0.25), (7, 0.25)]);
    }
}
