//! One ranking from those of the members.

use plethora_core::calibration::{BandValues, FrequencyBands};
use plethora_core::corpus::LabelSpace;
use plethora_core::metrics::BucketName;
use plethora_core::{LabelId, ScoredLabel};

use super::config::{Combination, EnsembleConfig};
use super::fusion::{Fusion, FusionRows};
use super::label_weights::WeightsById;
use super::powers::Powers;

/// Keeps the first ranks of a list from counting for everything, with the value of the paper that
/// reciprocal ranks come from (Cormack, Clarke and Büttcher).
const RANK_OFFSET: f64 = 60.0;

/// The score that a member gives to a label of the ensemble.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vote {
    pub(super) label: LabelId,
    /// Place of the member.
    pub(super) member: usize,
    /// Place of the label in the member's ranking, from 1.
    pub(super) rank: usize,
    pub(super) score: f32,
}

/// How votes become scores.
#[derive(Debug)]
pub(super) enum Combiner {
    Mean { shares: Vec<f64> },
    NoisyOr { exponents: Vec<f64> },
    ReciprocalRank { shares: Vec<f64> },
    Stacked(StackedWeights),
    Powers(Powers),
    LabelWeights(WeightsById),
    Fused(Fusion, usize),
}

/// Weights of members by the band of the label, in a scale in which no score exceeds 1.
#[derive(Debug)]
pub(super) struct StackedWeights {
    bands: FrequencyBands,
    shared: Vec<f64>,
    by_band: BandValues<Vec<f64>>,
}

impl Combiner {
    /// As the settings, in which nothing is left to be fitted, say for an ensemble with these labels.
    pub(super) fn new(config: &EnsembleConfig, labels: &LabelSpace) -> Self {
        let total: f64 = config.weights.iter().sum();
        let times = |factor: f64| config.weights.iter().map(move |weight| weight * factor);
        let shares = times(1.0 / total).collect();
        if let Some(stacking) = &config.stacking {
            let (bands, weights) = (stacking.bands, &stacking.weights);
            return Self::Stacked(StackedWeights::new(bands, &config.weights, weights));
        }
        if let Some(powers) = &config.powers {
            return Self::Powers(powers.clone());
        }
        if let Some(weights) = &config.label_weights {
            return Self::LabelWeights(weights.by_id(labels));
        }
        if let Some(fusion) = &config.fusion {
            return Self::Fused(fusion.clone(), config.weights.len());
        }
        match config.combination {
            Combination::NoisyOr => Self::NoisyOr {
                exponents: times(config.weights.len() as f64 / total).collect(),
            },
            Combination::ReciprocalRank => Self::ReciprocalRank { shares },
            // While members are ranked to fit the others, what they say is not combined.
            _ => Self::Mean { shares },
        }
    }

    /// One ranking from the votes of all members, best first; `train_counts` has the number of
    /// training documents of each label.
    pub(super) fn combine(&self, mut votes: Vec<Vote>, train_counts: &[u32]) -> Vec<ScoredLabel> {
        // Stable, so that scores are summed in the order of the members.
        votes.sort_by_key(|vote| vote.label);
        let by_label = votes.chunk_by(|left, right| left.label == right.label);
        let mut ranking: Vec<ScoredLabel> = match self {
            Self::Fused(fusion, num_members) => {
                let mut rows = FusionRows::new(*num_members);
                rows.add(&votes, |vote| train_counts[vote.label.index()]);
                let scored = by_label.zip(fusion.scores(&rows));
                scored
                    .map(|(votes, score)| ScoredLabel {
                        label: votes[0].label,
                        score,
                    })
                    .collect()
            }
            _ => by_label
                .map(|votes| ScoredLabel {
                    label: votes[0].label,
                    score: self.score(votes, train_counts[votes[0].label.index()]) as f32,
                })
                .collect(),
        };
        // Stable, so that of equal scores the first label comes first.
        ranking.sort_by(|left, right| right.score.total_cmp(&left.score));
        ranking
    }

    /// The score of a label from the votes of the members that rank it; in others it is 0.
    fn score(&self, votes: &[Vote], train_count: u32) -> f64 {
        let sum = |of: &dyn Fn(&Vote) -> f64| votes.iter().map(of).sum::<f64>();
        match self {
            Self::Mean { shares } => sum(&|vote| shares[vote.member] * f64::from(vote.score)),
            Self::Powers(powers) => f64::from(powers.score(votes)),
            Self::LabelWeights(weights) => f64::from(weights.score(votes)),
            // A forest looks at all labels of a document together.
            Self::Fused(..) => 0.0,
            Self::NoisyOr { exponents } => {
                let miss = |vote: &Vote| {
                    let chance = 1.0 - f64::from(vote.score).clamp(0.0, 1.0);
                    chance.powf(exponents[vote.member])
                };
                1.0 - votes.iter().map(miss).product::<f64>()
            }
            Self::ReciprocalRank { shares } => {
                let first = RANK_OFFSET + 1.0;
                sum(&|vote| shares[vote.member] * first / (RANK_OFFSET + vote.rank as f64))
            }
            Self::Stacked(weights) => {
                let weights = weights.of(train_count);
                sum(&|vote| weights[vote.member] * f64::from(vote.score))
            }
        }
    }
}

impl StackedWeights {
    fn new(bands: FrequencyBands, shared: &[f64], by_band: &BandValues<Vec<f64>>) -> Self {
        let sums = by_band.iter().map(|(_, weights)| weights.iter().sum());
        let largest = sums.fold(shared.iter().sum::<f64>(), f64::max);
        let scaled = |weights: &[f64]| weights.iter().map(|weight| weight / largest).collect();
        Self {
            bands,
            shared: scaled(shared),
            by_band: BandValues::from_fn(|band: BucketName| {
                by_band.get(band).map(|weights| scaled(weights))
            }),
        }
    }

    fn of(&self, train_count: u32) -> &[f64] {
        let own = self.by_band.get(self.bands.band(train_count));
        own.unwrap_or(&self.shared)
    }
}

#[cfg(test)]
mod tests {
    use super::super::stacking::Stacking;
    use super::*;

    fn vote(label: u32, member: usize, rank: usize, score: f32) -> Vote {
        Vote {
            label: LabelId(label),
            member,
            rank,
            score,
        }
    }

    /// Two rankings of three labels: 0 and 1 by one, 1 and 2 by the other.
    fn ranked(config: &EnsembleConfig) -> Vec<(u32, f32)> {
        let votes = vec![
            vote(0, 0, 1, 0.5),
            vote(1, 0, 2, 0.4),
            vote(1, 1, 1, 0.75),
            vote(2, 1, 2, 0.25),
        ];
        let ranking = Combiner::new(config, &LabelSpace::default()).combine(votes, &[100, 100, 2]);
        let ranking = ranking.into_iter();
        ranking.map(|found| (found.label.0, found.score)).collect()
    }

    fn with(combination: Combination, weights: &[f64]) -> EnsembleConfig {
        EnsembleConfig {
            combination,
            weights: weights.to_vec(),
            ..EnsembleConfig::equal(2)
        }
    }

    fn assert_ranked(config: &EnsembleConfig, expected: &[(u32, f32)]) {
        let found = ranked(config);
        let labels = |ranking: &[(u32, f32)]| ranking.iter().map(|pair| pair.0).collect::<Vec<_>>();
        assert_eq!(labels(&found), labels(expected));
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found.1 - expected.1).abs() < 1e-6,
                "{found:?} {expected:?}"
            );
        }
    }

    #[test]
    fn noisy_or_is_one_less_the_chance_that_all_are_wrong() {
        let config = with(Combination::NoisyOr, &[3.0, 3.0]);
        // 1 - 0.6 * 0.25
        assert_ranked(&config, &[(1, 0.85), (0, 0.5), (2, 0.25)]);
        let config = with(Combination::NoisyOr, &[3.0, 1.0]);
        // The exponents are 3/2 and 1/2: 1 - 0.6^1.5 * 0.25^0.5 and so on.
        let expected = [
            (1, 1.0 - 0.6_f32.powf(1.5) * 0.5),
            (0, 1.0 - 0.5_f32.powf(1.5)),
            (2, 1.0 - 0.75_f32.sqrt()),
        ];
        assert_ranked(&config, &expected);
    }

    #[test]
    fn reciprocal_ranks_do_not_look_at_scores() {
        let config = with(Combination::ReciprocalRank, &[1.0, 3.0]);
        let (first, second) = (1.0, 61.0 / 62.0);
        let expected = [
            (1, 0.25 * second + 0.75 * first),
            (2, 0.75 * second),
            (0, 0.25 * first),
        ];
        assert_ranked(&config, &expected);
    }

    #[test]
    fn stacked_weights_depend_on_how_frequent_a_label_is() {
        let config = EnsembleConfig {
            stacking: Some(Stacking {
                bands: FrequencyBands {
                    min_head: 50,
                    min_torso: 6,
                },
                weights: BandValues {
                    head: Some(vec![2.0, 0.0]),
                    torso: None,
                    tail: Some(vec![0.0, 4.0]),
                },
                num_documents: 10,
                ndcg_before: 0.5,
                ndcg_after: 0.6,
            }),
            ..with(Combination::Stacked, &[1.0, 1.0])
        };
        assert_ranked(&config, &[(0, 0.25), (2, 0.25), (1, 0.2)]);
    }
}
