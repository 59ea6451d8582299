//! Logistic regression over the scores of members, with weights of their own for labels that are known
//! well enough, fitted on held-back documents.

use std::collections::BTreeMap;

use plethora_core::calibration::logistic;
use plethora_core::corpus::LabelSpace;
use plethora_core::{Error, LabelId, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::candidates::Candidates;
use super::combiner::Vote;
use super::logistic::LogisticRows;

/// What scores are multiplied by before the logarithm of one more is taken: the more, the more small
/// differences of small scores count. One of them is chosen.
const SCALES: [f64; 3] = [1.0, 10.0, 100.0];

/// Ridges of what labels add to the shared weights, one of which is chosen; the last leaves them next to
/// nothing.
const SHRINKAGES: [f64; 5] = [1.0, 3.0, 10.0, 30.0, 1e6];

/// Ridge of the shared weights.
const SHARED_RIDGE: f64 = 0.1;

/// Candidates of a label below which it has the shared weights alone.
const MIN_ROWS: usize = 5;

/// `1 / (1 + exp(-z))`, where z is the sum of `weight * ln(1 + scale * score)` over the members and a
/// bias; each label may add something to each weight and to the bias.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelWeights {
    scale: f64,
    /// Ridge that was chosen.
    pub shrinkage: f64,
    /// Of the members, and then the bias.
    pub shared: Vec<f64>,
    /// What labels add, by their keys.
    own: BTreeMap<String, Vec<f64>>,
    /// Held-back documents that they were fitted to.
    #[serde(rename = "n_documents")]
    pub num_documents: u64,
    /// nDCG@5 on them of the plain mean.
    pub ndcg_before: f64,
    /// nDCG@5 on them, each fifth ranked by what the others gave.
    pub ndcg_after: f64,
}

/// Weights by the ids of labels, as ranking needs them.
#[derive(Debug)]
pub(super) struct WeightsById {
    scale: f64,
    shared: Vec<f64>,
    own: BTreeMap<LabelId, Vec<f64>>,
}

impl LabelWeights {
    /// Fits shared weights, then what each label adds to them, with the scale and the shrinkage that
    /// give the best nDCG@5 on documents that were not fitted to. `labels` has the keys.
    ///
    /// # Errors
    /// [`Error::Data`] if there are too few true labels.
    pub fn fit(candidates: &Candidates, labels: &LabelSpace) -> Result<Self> {
        candidates.check()?;
        let ndcg = |scale, shrinkage| {
            let problem = Problem::new(candidates, scale);
            let unseen = candidates.crossed(
                |meant| problem.fit(meant, shrinkage),
                |weights, rows| rows.map(|row| problem.score(weights, row)).collect(),
            );
            candidates.ndcg(&unseen)
        };
        let none = SHRINKAGES[SHRINKAGES.len() - 1];
        let (scale, _) = best(SCALES, |scale| ndcg(scale, none));
        let (shrinkage, ndcg_after) = best(SHRINKAGES, |shrinkage| ndcg(scale, shrinkage));
        let weights = Problem::new(candidates, scale).fit(&candidates.all_rows(), shrinkage);
        let own = weights.own.into_iter();
        Ok(Self {
            scale,
            shrinkage,
            shared: weights.shared,
            own: own
                .map(|(label, own)| (labels.label(label).key.clone(), own))
                .collect(),
            num_documents: candidates.num_documents(),
            ndcg_before: candidates.mean_ndcg(),
            ndcg_after,
        })
    }

    /// Refuses numbers that no members have.
    pub(super) fn validate(&self, num_members: usize) -> Result<()> {
        let mut all = self.own.values().chain(std::iter::once(&self.shared));
        let is_usable = |own: &Vec<f64>| {
            own.len() == num_members + 1 && own.iter().all(|weight| weight.is_finite())
        };
        if self.scale.is_finite() && self.scale > 0.0 && all.all(is_usable) {
            return Ok(());
        }
        let message = format!("expected a weight for each of {num_members} members and a bias");
        Err(Error::config("label_weights", message))
    }

    /// Labels with weights of their own.
    pub fn num_labels(&self) -> usize {
        self.own.len()
    }

    /// For an ensemble with these labels.
    pub(super) fn by_id(&self, labels: &LabelSpace) -> WeightsById {
        let own = self.own.iter();
        WeightsById {
            scale: self.scale,
            shared: self.shared.clone(),
            own: own
                .filter_map(|(key, own)| Some((labels.id(key)?, own.clone())))
                .collect(),
        }
    }
}

impl WeightsById {
    /// The probability of a label by the votes of the members that rank it.
    pub(super) fn score(&self, votes: &[Vote]) -> f32 {
        let own = self.own.get(&votes[0].label);
        let weight = |place: usize| self.shared[place] + own.map_or(0.0, |own| own[place]);
        let bias = weight(self.shared.len() - 1);
        let of_vote = |vote: &Vote| weight(vote.member) * input(vote.score, self.scale);
        logistic(bias + votes.iter().map(of_vote).sum::<f64>()) as f32
    }
}

fn input(score: f32, scale: f64) -> f64 {
    (scale * f64::from(score.max(0.0))).ln_1p()
}

/// The first choice with the highest worth, and that worth.
fn best<const N: usize>(choices: [f64; N], worth: impl Fn(f64) -> f64 + Sync) -> (f64, f64) {
    let each: Vec<f64> = choices.par_iter().map(|&choice| worth(choice)).collect();
    let mut found = (choices[0], each[0]);
    for (choice, worth) in choices.into_iter().zip(each).skip(1) {
        if worth > found.1 {
            found = (choice, worth);
        }
    }
    found
}

/// The candidates as rows of a regression.
struct Problem<'a> {
    candidates: &'a Candidates,
    num_inputs: usize,
    /// Of the members and a 1 for the bias, row after row.
    inputs: Vec<f64>,
}

struct Fitted {
    shared: Vec<f64>,
    own: BTreeMap<LabelId, Vec<f64>>,
}

impl<'a> Problem<'a> {
    fn new(candidates: &'a Candidates, scale: f64) -> Self {
        let mut inputs = Vec::new();
        for row in candidates.rows.scores() {
            inputs.extend(row.map(|score| input(score, scale)));
            inputs.push(1.0);
        }
        Self {
            candidates,
            num_inputs: candidates.num_members() + 1,
            inputs,
        }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.inputs[row * self.num_inputs..][..self.num_inputs]
    }

    /// Shared weights of the rows that are meant, and then what labels add to them.
    fn fit(&self, meant: &[usize], shrinkage: f64) -> Fitted {
        let mut all = LogisticRows::new(self.num_inputs);
        let mut by_label: BTreeMap<LabelId, Vec<usize>> = BTreeMap::new();
        for &row in meant {
            all.add(
                self.row(row).iter().copied(),
                0.0,
                self.candidates.truth[row],
            );
            by_label
                .entry(self.candidates.labels[row])
                .or_default()
                .push(row);
        }
        let shared = all.fit(SHARED_RIDGE);
        by_label.retain(|_, rows| rows.len() >= MIN_ROWS);
        let own = by_label.into_par_iter().map(|(label, rows)| {
            let mut own = LogisticRows::new(self.num_inputs);
            for row in rows {
                let offset = sum(self.row(row), &shared);
                own.add(
                    self.row(row).iter().copied(),
                    offset,
                    self.candidates.truth[row],
                );
            }
            (label, own.fit(shrinkage))
        });
        let own = own.collect();
        Fitted { shared, own }
    }

    fn score(&self, weights: &Fitted, row: usize) -> f32 {
        let own = weights.own.get(&self.candidates.labels[row]);
        let added = own.map_or(0.0, |own| sum(self.row(row), own));
        logistic(sum(self.row(row), &weights.shared) + added) as f32
    }
}

fn sum(inputs: &[f64], weights: &[f64]) -> f64 {
    inputs
        .iter()
        .zip(weights)
        .map(|(input, weight)| input * weight)
        .sum()
}

#[cfg(test)]
mod tests {
    use plethora_core::ScoredLabel;
    use plethora_core::corpus::Label;

    use super::*;

    const NUM_LABELS: u32 = 6;

    fn labels() -> LabelSpace {
        let labels = (0..NUM_LABELS).map(|number| Label::from_key(format!("label-{number}")));
        LabelSpace::new(labels.collect(), vec![9; NUM_LABELS as usize])
    }

    /// Of even labels the first member is right, of odd ones the second; each is as loud about the
    /// others.
    fn candidates(num_documents: u32) -> Candidates {
        let mut candidates = Candidates::new(2);
        let scored = |label: u32, score| ScoredLabel {
            label: LabelId(label % NUM_LABELS),
            score,
        };
        for number in 0..num_documents {
            let truth = number % NUM_LABELS;
            let (right, wrong) = (scored(truth, 0.6), scored(truth + 1, 0.6));
            let also = scored(truth + 3, 0.6);
            // Where the truth is even, the second member names odd and wrong labels, and the other way
            // round.
            let rankings = match truth % 2 {
                0 => [
                    vec![right, wrong],
                    vec![scored(truth + 2, 0.6), scored(truth + 4, 0.6)],
                ],
                _ => [vec![scored(truth + 2, 0.6), also], vec![right, wrong]],
            };
            let rankings: Vec<&[ScoredLabel]> = rankings.iter().map(|own| &own[..]).collect();
            candidates.add(&rankings, &[LabelId(truth)], 1, |_| 9);
        }
        candidates
    }

    #[test]
    fn labels_learn_whom_to_believe() {
        let (candidates, labels) = (candidates(600), labels());
        let found = LabelWeights::fit(&candidates, &labels).unwrap();
        assert!(found.ndcg_after > found.ndcg_before + 0.1, "{found:?}");
        assert!(
            found.shrinkage < 1e3 && found.num_labels() == NUM_LABELS as usize,
            "{found:?}"
        );
        found.validate(2).unwrap();
        assert!(found.validate(1).is_err());
        let weights = found.by_id(&labels);
        let score = |label, member| {
            let vote = Vote {
                label: LabelId(label),
                member,
                rank: 1,
                score: 0.6,
            };
            weights.score(&[vote])
        };
        assert!(score(2, 0) > score(2, 1), "{found:?}");
        assert!(score(3, 1) > score(3, 0), "{found:?}");
    }

    #[test]
    fn labels_that_an_ensemble_lost_are_left_out() {
        let found = LabelWeights::fit(&candidates(600), &labels()).unwrap();
        let fewer = LabelSpace::new(vec![Label::from_key("label-3".to_owned())], vec![9]);
        let weights = found.by_id(&fewer);
        assert_eq!(weights.own.keys().collect::<Vec<_>>(), [&LabelId(0)]);
    }
}
