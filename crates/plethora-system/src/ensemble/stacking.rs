//! Weights of members by frequency of labels, fitted on validation documents.

use plethora_core::calibration::{BandValues, FrequencyBands};
use plethora_core::corpus::{Document, LabelSpace};
use plethora_core::metrics::BucketName;
use plethora_core::{Error, LabelId, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::combiner::Vote;
use super::model::EnsembleModel;

/// Places of a ranking that count.
const TOP: usize = 5;
/// Labels of each member's ranking that may get into the first places.
const CANDIDATE_RANKS: usize = 20;
/// Weights that are tried for a member, exact in any notation.
const GRID: [f64; 11] = [0.0, 0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 8.0];
/// Rounds over all members after which the search ends even if it still finds something.
const MAX_ROUNDS: usize = 10;
/// Less than this is rounding.
const MIN_GAIN: f64 = 1e-9;
/// True labels among the candidates below which nothing can be fitted.
const MIN_TRUE: u64 = 10;
/// True labels among the candidates below which a band has no weights of its own.
const MIN_BAND_TRUE: u64 = 100;

/// Fitted weights of an ensemble.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stacking {
    /// Where bands of labels begin.
    pub bands: FrequencyBands,
    /// Weights of the members for labels of a band; bands without have those of the ensemble.
    pub weights: BandValues<Vec<f64>>,
    /// Validation documents with labels.
    #[serde(rename = "n_documents")]
    pub num_documents: u64,
    /// nDCG@5 on them with equal weights.
    pub ndcg_before: f64,
    /// nDCG@5 on them with these weights.
    pub ndcg_after: f64,
}

impl Stacking {
    pub(super) fn validate(&self, num_members: usize) -> Result<()> {
        self.weights
            .iter()
            .try_for_each(|(_, weights)| check_weights(weights, num_members))
    }
}

/// Weights that were fitted may be 0, but not all of them.
pub(super) fn check_weights(weights: &[f64], num_members: usize) -> Result<()> {
    let is_usable = |weight: &f64| weight.is_finite() && *weight >= 0.0;
    if weights.len() == num_members
        && weights.iter().all(is_usable)
        && weights.iter().any(|&weight| weight > 0.0)
        && weights.iter().sum::<f64>().is_finite()
    {
        return Ok(());
    }
    Err(Error::config(
        "stacking.weights",
        format!("expected {num_members} numbers from 0, not all of them 0, found {weights:?}"),
    ))
}

/// Collects what the members rank for validation documents and finds weights that put true labels
/// first: those with the best mean nDCG@5.
///
/// The search is coordinate ascent over a grid: starting from equal weights, one member's weight
/// after the other takes the best of eleven values, first for all labels together, then for head,
/// torso and tail apart where they have enough true labels, until a whole round finds nothing. It
/// draws no random numbers. Only labels in the first twenty places of some member are kept: about
/// `20 * members * (4 * members + 2)` bytes per document.
#[derive(Debug)]
pub struct StackingFitter {
    num_members: usize,
    bands: FrequencyBands,
    documents: Vec<FitDocument>,
    num_documents: u64,
}

/// The candidates of a document that has a true one among them.
#[derive(Debug)]
struct FitDocument {
    /// Best possible DCG.
    ideal: f64,
    candidates: Vec<Candidate>,
    /// Scores of the members, candidate after candidate.
    scores: Vec<f32>,
}

#[derive(Debug, Clone, Copy)]
struct Candidate {
    band: BucketName,
    is_true: bool,
}

/// Weights by band; unseen labels have those of all.
type Weights = [Vec<f64>; BucketName::ALL.len()];

impl StackingFitter {
    /// A fitter without documents for an ensemble with these labels.
    pub fn new(num_members: usize, labels: &LabelSpace) -> Self {
        Self {
            num_members,
            bands: FrequencyBands::of(labels.train_counts()),
            documents: Vec::new(),
            num_documents: 0,
        }
    }

    /// Ranks documents with the members of an ensemble that has `labels`, and takes them in.
    pub fn add(
        &mut self,
        ensemble: &EnsembleModel,
        labels: &LabelSpace,
        documents: &[Document],
    ) -> Result<()> {
        let votes = ensemble.votes(documents)?;
        for (document, votes) in documents.iter().zip(votes) {
            let mut keys: Vec<&str> = document.labels.iter().map(String::as_str).collect();
            keys.sort_unstable();
            keys.dedup();
            if keys.is_empty() {
                continue;
            }
            self.num_documents += 1;
            let truth: Vec<LabelId> = keys.iter().filter_map(|key| labels.id(key)).collect();
            self.add_votes(votes, &truth, keys.len(), labels.train_counts());
        }
        Ok(())
    }

    fn add_votes(
        &mut self,
        mut votes: Vec<Vote>,
        truth: &[LabelId],
        num_true: usize,
        train_counts: &[u32],
    ) {
        votes.sort_by_key(|vote| vote.label);
        let mut document = FitDocument {
            ideal: (0..num_true.min(TOP)).map(discount).sum(),
            candidates: Vec::new(),
            scores: Vec::new(),
        };
        for votes in votes.chunk_by(|left, right| left.label == right.label) {
            if votes.iter().all(|vote| vote.rank > CANDIDATE_RANKS) {
                continue;
            }
            let label = votes[0].label;
            document.candidates.push(Candidate {
                band: self.bands.band(train_counts[label.index()]),
                is_true: truth.contains(&label),
            });
            let start = document.scores.len();
            document.scores.resize(start + self.num_members, 0.0);
            for vote in votes {
                document.scores[start + vote.member] = vote.score;
            }
        }
        // Others have an nDCG of 0 whatever the weights.
        if document.candidates.iter().any(|found| found.is_true) {
            self.documents.push(document);
        }
    }

    /// Documents with labels so far.
    pub fn num_documents(&self) -> u64 {
        self.num_documents
    }

    /// The best weights: of all labels, and those that bands have of their own.
    ///
    /// # Errors
    /// [`Error::Data`] if there are too few documents or true labels.
    pub fn fit(&self) -> Result<(Vec<f64>, Stacking)> {
        self.check()?;
        let mut weights: Weights = std::array::from_fn(|_| vec![1.0; self.num_members]);
        let ndcg_before = self.ndcg(&weights);
        let mut best = self.search(&mut weights, &BucketName::ALL, ndcg_before);
        let shared = weights[BucketName::Unseen as usize].clone();
        let fitted: Vec<BucketName> = (BandValues::<()>::BANDS.into_iter())
            .filter(|&band| self.num_true(|candidate| candidate.band == band) >= MIN_BAND_TRUE)
            .collect();
        for _ in 0..MAX_ROUNDS {
            let start = best;
            for &band in &fitted {
                best = self.search(&mut weights, &[band], best);
            }
            if best <= start {
                break;
            }
        }
        let stacking = Stacking {
            bands: self.bands,
            weights: BandValues::from_fn(|band| {
                fitted
                    .contains(&band)
                    .then(|| weights[band as usize].clone())
            }),
            num_documents: self.num_documents,
            ndcg_before,
            ndcg_after: best,
        };
        Ok((shared, stacking))
    }

    fn check(&self) -> Result<()> {
        let num_true = self.num_true(|_| true);
        let message = match self.num_documents {
            0 => "no document has labels, so there is nothing to fit weights to".to_owned(),
            1 => "only one document has labels: fitting weights needs many, at least two".into(),
            _ if num_true < MIN_TRUE => format!(
                "only {num_true} of the labels that the models rank are true: fitting weights \
                 needs at least {MIN_TRUE}; are these documents of the models' kind?"
            ),
            _ => return Ok(()),
        };
        Err(Error::data(message))
    }

    fn num_true(&self, is_meant: impl Fn(&Candidate) -> bool) -> u64 {
        let candidates = (self.documents.iter()).flat_map(|document| &document.candidates);
        let is_counted = |found: &&Candidate| found.is_true && is_meant(found);
        candidates.filter(is_counted).count() as u64
    }

    /// Gives the members one after the other their best weights in `bands`, which share them, from an
    /// nDCG of `best` on; returns that of the weights that it leaves.
    fn search(&self, weights: &mut Weights, bands: &[BucketName], mut best: f64) -> f64 {
        for _ in 0..MAX_ROUNDS {
            let start = best;
            for member in 0..self.num_members {
                let mut chosen = weights[bands[0] as usize][member];
                for value in GRID {
                    set(weights, bands, member, value);
                    let is_something = weights[bands[0] as usize].iter().any(|&own| own > 0.0);
                    if !is_something {
                        continue;
                    }
                    let found = self.ndcg(weights);
                    if found > best + MIN_GAIN {
                        (best, chosen) = (found, value);
                    }
                }
                set(weights, bands, member, chosen);
            }
            if best <= start {
                break;
            }
        }
        best
    }

    /// Mean nDCG@5 of all documents with labels.
    fn ndcg(&self, weights: &Weights) -> f64 {
        let values: Vec<f64> = (self.documents.par_iter())
            .map(|document| document.ndcg(weights, self.num_members))
            .collect();
        values.iter().sum::<f64>() / self.num_documents.max(1) as f64
    }
}

fn set(weights: &mut Weights, bands: &[BucketName], member: usize, value: f64) {
    for &band in bands {
        weights[band as usize][member] = value;
    }
}

/// Weight of a place, counted from 0.
fn discount(rank: usize) -> f64 {
    1.0 / ((rank + 2) as f64).log2()
}

impl FitDocument {
    fn ndcg(&self, weights: &Weights, num_members: usize) -> f64 {
        // The best few, falling; of equal scores the first candidate comes first.
        let mut top: [(f64, bool); TOP] = [(f64::NEG_INFINITY, false); TOP];
        let scores = self.scores.chunks_exact(num_members);
        for (candidate, scores) in self.candidates.iter().zip(scores) {
            let own = weights[candidate.band as usize].iter().zip(scores);
            let mut next = (
                own.map(|(weight, &score)| weight * f64::from(score)).sum(),
                candidate.is_true,
            );
            if next.0 <= top[TOP - 1].0 {
                continue;
            }
            for place in &mut top {
                if next.0 > place.0 {
                    std::mem::swap(place, &mut next);
                }
            }
        }
        let hits = top.iter().enumerate().filter(|(_, (_, is_true))| *is_true);
        hits.map(|(rank, _)| discount(rank)).sum::<f64>() / self.ideal
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plethora_core::corpus::Label;

    /// Of two members one finds the frequent labels and the other the rare ones.
    fn fitter(num_documents: u32) -> (StackingFitter, Vec<u32>) {
        let labels = (0..40).map(|number| Label::from_key(format!("label-{number:02}")));
        let train_counts: Vec<u32> = (0..40)
            .map(|label| if label < 20 { 900 } else { 2 })
            .collect();
        let space = LabelSpace::new(labels.collect(), train_counts.clone());
        let mut fitter = StackingFitter::new(2, &space);
        for number in 0..num_documents {
            let (frequent, rare) = (number % 20, 20 + number % 19);
            let truth = [LabelId(frequent), LabelId(rare)];
            let vote = |label: u32, member, rank, score| Vote {
                label: LabelId(label),
                member,
                rank,
                score,
            };
            let mut votes = vec![vote(frequent, 0, 1, 0.5), vote(rare, 1, 1, 0.5)];
            for wrong in 1..8 {
                votes.push(vote(20 + (rare - 20 + wrong) % 19, 0, 2, 0.8));
                votes.push(vote((frequent + wrong) % 20, 1, 2, 0.8));
            }
            fitter.num_documents += 1;
            fitter.add_votes(votes, &truth, 2, &train_counts);
        }
        (fitter, train_counts)
    }

    #[test]
    fn each_band_goes_to_the_member_that_knows_it() {
        let (fitter, _) = fitter(300);
        let (shared, found) = fitter.fit().unwrap();
        assert_eq!(shared.len(), 2);
        assert!(found.ndcg_before < 0.2, "{found:?}");
        assert!((found.ndcg_after - 1.0).abs() < 1e-9, "{found:?}");
        let (head, tail) = (found.weights.head.unwrap(), found.weights.tail.unwrap());
        assert!(head[0] > head[1] && tail[1] > tail[0], "{head:?} {tail:?}");
        assert!(found.weights.torso.is_none());
    }

    #[test]
    fn too_little_is_refused() {
        for (num_documents, start) in [
            (0, "no document has labels"),
            (1, "only one document has labels"),
            (4, "only 8 of the labels that the models rank are true"),
        ] {
            let error = fitter(num_documents).0.fit().unwrap_err().to_string();
            assert!(error.starts_with(start), "{error}");
        }
    }

    #[test]
    fn weights_that_cannot_work_are_refused() {
        assert!(check_weights(&[0.0, 2.0], 2).is_ok());
        for weights in [&[0.0, 0.0][..], &[1.0], &[-1.0, 1.0], &[f64::NAN, 1.0]] {
            assert!(check_weights(weights, 2).is_err(), "{weights:?}");
        }
    }
}
