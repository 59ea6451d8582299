//! A weighted sum of powers of scores, fitted on held-back documents.

use plethora_core::calibration::{Method, ScoreMap, ScoreTable};
use plethora_core::{Error, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::candidates::Candidates;
use super::combiner::Vote;

/// Weights that are tried for a member.
const WEIGHTS: [f32; 10] = [0.0, 0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0, 8.0];

/// Exponents that are tried for a member: below 1 small scores count for more, above 1 for less.
const EXPONENTS: [f32; 8] = [0.25, 0.35, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0];

/// The place of 1 in both.
const FIRST: (usize, usize) = (5, 4);

/// Rounds over all members after which the search ends even if it still finds something.
const MAX_ROUNDS: usize = 6;

/// Less than this is rounding.
const MIN_GAIN: f64 = 1e-9;

/// `sum of weight * score^exponent` over the members, as a probability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Powers {
    /// How much each member counts.
    pub weights: Vec<f32>,
    /// The exponent of each member's scores.
    pub exponents: Vec<f32>,
    /// From sums, as shares of the largest that there can be, to probabilities.
    map: ScoreMap,
    /// Held-back documents that they were fitted to.
    #[serde(rename = "n_documents")]
    pub num_documents: u64,
    /// nDCG@5 on them of the plain mean.
    pub ndcg_before: f64,
    /// nDCG@5 on them, each fifth ranked by what the others gave.
    pub ndcg_after: f64,
}

/// Places in [`WEIGHTS`] and [`EXPONENTS`] for each member.
type Choice = Vec<(usize, usize)>;

impl Powers {
    /// Finds weights and exponents with the best nDCG@5 by coordinate ascent over a grid, from those of
    /// the mean on.
    ///
    /// # Errors
    /// [`Error::Data`] if there are too few true labels.
    pub fn fit(candidates: &Candidates) -> Result<Self> {
        candidates.check()?;
        let powers = PoweredScores::new(candidates);
        let unseen = candidates.crossed(
            |meant| powers.search(candidates, meant),
            |choice, rows| powers.sums(choice, rows.collect()),
        );
        let choice = powers.search(candidates, &candidates.all_rows());
        let mut table = ScoreTable::new();
        let sums = powers.sums(&choice, candidates.all_rows());
        for (sum, &is_true) in sums.into_iter().zip(&candidates.truth) {
            table.add(sum, is_true);
        }
        Ok(Self {
            weights: choice.iter().map(|&(place, _)| WEIGHTS[place]).collect(),
            exponents: choice.iter().map(|&(_, place)| EXPONENTS[place]).collect(),
            map: ScoreMap::fit(Method::Platt, &table.finish()),
            num_documents: candidates.num_documents(),
            ndcg_before: candidates.mean_ndcg(),
            ndcg_after: candidates.ndcg(&unseen),
        })
    }

    /// Refuses numbers that no members have.
    pub(super) fn validate(&self, num_members: usize) -> Result<()> {
        let is_usable = |number: &f32| number.is_finite() && *number >= 0.0;
        let numbers = [&self.weights, &self.exponents];
        if numbers
            .iter()
            .all(|own| own.len() == num_members && own.iter().all(is_usable))
            && self.weights.iter().sum::<f32>() > 0.0
        {
            return Ok(());
        }
        let message = format!("expected weights and exponents from 0 for {num_members} members");
        Err(Error::config("powers", message))
    }

    /// The probability of a label by the votes of the members that rank it.
    pub(super) fn score(&self, votes: &[Vote]) -> f32 {
        let total: f32 = self.weights.iter().sum();
        let of_vote = |vote: &Vote| {
            self.weights[vote.member] * power(vote.score, self.exponents[vote.member])
        };
        self.map
            .apply(votes.iter().map(of_vote).sum::<f32>() / total)
    }
}

fn power(score: f32, exponent: f32) -> f32 {
    score.clamp(0.0, 1.0).powf(exponent)
}

/// The scores of all members to all exponents: by member and exponent, row after row.
struct PoweredScores(Vec<Vec<Vec<f32>>>);

impl PoweredScores {
    fn new(candidates: &Candidates) -> Self {
        let mut scores: Vec<Vec<f32>> = vec![Vec::new(); candidates.num_members()];
        for row in candidates.rows.scores() {
            for (own, score) in scores.iter_mut().zip(row) {
                own.push(score);
            }
        }
        let to_all = |own: &Vec<f32>| {
            let to = |&exponent: &f32| {
                // A label that a member does not rank has 0, whatever the exponent.
                own.iter()
                    .map(|&score| {
                        if score > 0.0 {
                            power(score, exponent)
                        } else {
                            0.0
                        }
                    })
                    .collect()
            };
            EXPONENTS.iter().map(to).collect()
        };
        Self(scores.par_iter().map(to_all).collect())
    }

    /// The best choice for the documents of the rows that are meant.
    fn search(&self, candidates: &Candidates, meant: &[usize]) -> Choice {
        let mut choice = vec![FIRST; self.0.len()];
        // Rows that are not meant have scores below all others, and count the same in every trial.
        let mut is_meant = vec![false; candidates.truth.len()];
        for &row in meant {
            is_meant[row] = true;
        }
        let worth = |rest: &[f32], member: usize, (weight, exponent): (usize, usize)| {
            let own = &self.0[member][exponent];
            let sums = (rest.iter().zip(own).zip(&is_meant)).map(|((rest, own), &is_meant)| {
                if is_meant {
                    rest + WEIGHTS[weight] * own
                } else {
                    f32::NEG_INFINITY
                }
            });
            candidates.ndcg(&sums.collect::<Vec<_>>())
        };
        let mut best = worth(&self.rest(&choice, 0), 0, choice[0]);
        for _ in 0..MAX_ROUNDS {
            let start = best;
            for member in 0..choice.len() {
                let rest = self.rest(&choice, member);
                for weight in 0..WEIGHTS.len() {
                    // A weight of 0 has no exponent.
                    let exponents = if weight == 0 { 1 } else { EXPONENTS.len() };
                    for exponent in 0..exponents {
                        let found = worth(&rest, member, (weight, exponent));
                        if found > best + MIN_GAIN {
                            (best, choice[member]) = (found, (weight, exponent));
                        }
                    }
                }
            }
            if best <= start {
                break;
            }
        }
        choice
    }

    /// The sums of all members but one.
    fn rest(&self, choice: &Choice, without: usize) -> Vec<f32> {
        let mut sums = vec![0.0; self.0[0][0].len()];
        for (member, &(weight, exponent)) in choice.iter().enumerate() {
            if member != without {
                for (sum, own) in sums.iter_mut().zip(&self.0[member][exponent]) {
                    *sum += WEIGHTS[weight] * own;
                }
            }
        }
        sums
    }

    /// Sums of some rows, as shares of the largest that there can be.
    fn sums(&self, choice: &Choice, rows: Vec<usize>) -> Vec<f32> {
        let total: f32 = choice.iter().map(|&(weight, _)| WEIGHTS[weight]).sum();
        let of_row = |row: usize| {
            let own = choice.iter().zip(&self.0);
            let own = own.map(|(&(weight, exponent), to)| WEIGHTS[weight] * to[exponent][row]);
            own.sum::<f32>() / total
        };
        rows.into_iter().map(of_row).collect()
    }
}

#[cfg(test)]
mod tests {
    use plethora_core::{LabelId, ScoredLabel};

    use super::*;

    fn scored(label: u32, score: f32) -> ScoredLabel {
        ScoredLabel {
            label: LabelId(label),
            score,
        }
    }

    /// The first member is right with small scores, where the second is loud and wrong.
    fn candidates(num_documents: u32) -> Candidates {
        let mut candidates = Candidates::new(2);
        for number in 0..num_documents {
            let truth = number % 7;
            let first = [scored(truth, 0.04), scored(20, 0.01)];
            let second = [scored(20, 0.9), scored(21, 0.5), scored(truth, 0.1)];
            candidates.add(&[&first, &second], &[LabelId(truth)], 1, |_| 5);
        }
        candidates
    }

    #[test]
    fn small_scores_of_a_good_member_are_raised() {
        let candidates = candidates(300);
        let found = Powers::fit(&candidates).unwrap();
        assert!(found.ndcg_before < 0.7, "{found:?}");
        assert!(found.ndcg_after > 0.99, "{found:?}");
        found.validate(2).unwrap();
        assert!(found.validate(3).is_err());
        assert_eq!(Powers::fit(&candidates).unwrap(), found);
        let vote = |label, member, score| Vote {
            label: LabelId(label),
            member,
            rank: 1,
            score,
        };
        let right = found.score(&[vote(0, 0, 0.04), vote(0, 1, 0.1)]);
        let wrong = found.score(&[vote(20, 0, 0.01), vote(20, 1, 0.9)]);
        assert!(right > 0.9 && wrong < 0.1, "{right} {wrong}");
    }

    #[test]
    fn too_few_true_labels_are_refused() {
        let error = Powers::fit(&candidates(100)).unwrap_err().to_string();
        assert!(error.starts_with("too few of the labels"), "{error}");
    }
}
