//! What the network says of labels and what the neighbours say, made one score.

use plethora_core::{LabelId, ScoredLabel};
use tch::{Kind, Tensor};

use super::teacher::Teacher;
use super::teacher_rows::{TeacherRow, VoteViews};

/// Labels of the network that a mixture tells apart by what the network says; it says the same of all others, so
/// that scores are equal whatever number of labels is asked for.
pub(crate) const MIXED_DEPTH: usize = 100;

/// Labels of the network, and as many with most votes, that weights are fitted to.
const FIT_DEPTH: usize = 30;

/// Validation documents that weights are fitted to.
const MAX_FIT_DOCUMENTS: usize = 10_000;

/// Signs that speak for a label or against it.
pub(crate) const NUM_SIGNS: usize = 18;

/// Weights for networks that no documents have validated, which few documents hardly change: what the network says, raised by votes.
pub(crate) const UNFITTED: [f64; NUM_SIGNS] = {
    let mut weights = [0.0; NUM_SIGNS];
    (weights[0], weights[1], weights[2]) = (-1.0, 0.7, 0.5);
    (weights[3], weights[4]) = (2.0, 0.15);
    weights
};

/// How much the weights are held to [`UNFITTED`]: a few dozen labels weigh as much, thousands outweigh it.
const RIDGE: f64 = 5.0;

/// Steps of a fit at most; some five are enough.
const MAX_STEPS: usize = 30;

/// Nothing is less likely than this: votes and what a network says alike.
const LEAST_SCORE: f32 = 1e-6;

/// Votes below this are as good as none.
const LEAST_VOTES: f32 = 1e-3;

/// A logistic function of what network and neighbours say of a label.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mixture {
    weights: [f64; NUM_SIGNS],
}

/// A document to rank labels for.
#[derive(Clone, Copy)]
pub(crate) struct ToMix<'a> {
    /// What the network says, best first.
    pub(crate) ranking: &'a [ScoredLabel],
    /// What the neighbours say.
    pub(crate) row: &'a TeacherRow,
}

impl Mixture {
    pub(crate) fn new(weights: [f64; NUM_SIGNS]) -> Self {
        Self { weights }
    }

    /// The weights as bits, which come back from a file as they were.
    pub(crate) fn bits(&self) -> Vec<u64> {
        self.weights.map(f64::to_bits).to_vec()
    }

    /// What [`bits`](Self::bits) gave; nothing where there are none.
    pub(crate) fn from_bits(bits: &[u64]) -> Option<Self> {
        let weights: [u64; NUM_SIGNS] = bits.try_into().ok()?;
        Some(Self::new(weights.map(f64::from_bits)))
    }

    pub(crate) fn weights(&self) -> &[f64; NUM_SIGNS] {
        &self.weights
    }

    /// The best `keep` labels of a document, best first.
    pub(crate) fn ranked(
        &self,
        document: ToMix<'_>,
        teacher: &Teacher,
        keep: usize,
    ) -> Vec<ScoredLabel> {
        let mut labels: Vec<ScoredLabel> = document
            .candidates(usize::MAX)
            .into_iter()
            .map(|candidate| ScoredLabel {
                label: candidate.label,
                score: self.score(&candidate.signs(teacher)),
            })
            .collect();
        // Stable: of equal scores the network's first label comes first.
        labels.sort_by(|left, right| right.score.total_cmp(&left.score));
        labels.truncate(keep);
        labels
    }

    fn score(&self, signs: &[f64; NUM_SIGNS]) -> f32 {
        let sum: f64 = (self.weights.iter())
            .zip(signs)
            .map(|(weight, sign)| weight * sign)
            .sum();
        (1.0 / (1.0 + (-sum).exp())) as f32
    }

    /// The weights that make the true labels of documents most likely, and that stay near [`UNFITTED`] where documents
    /// are few.
    pub(crate) fn fit<'a>(
        documents: impl ExactSizeIterator<Item = (ToMix<'a>, &'a [u32])>,
        teacher: &Teacher,
    ) -> Self {
        let every = documents.len().div_ceil(MAX_FIT_DOCUMENTS).max(1);
        let (mut signs, mut truth): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for (document, labels) in documents.step_by(every) {
            for candidate in document.candidates(FIT_DEPTH) {
                signs.extend(candidate.signs(teacher));
                let is_true = labels.contains(&candidate.label.0);
                truth.push(f64::from(u8::from(is_true)));
            }
        }
        if truth.is_empty() {
            return Self::new(UNFITTED);
        }
        Self::new(most_likely(&signs, &truth))
    }
}

/// Newton's method, with steps halved until they gain.
fn most_likely(signs: &[f64], truth: &[f64]) -> [f64; NUM_SIGNS] {
    let columns = NUM_SIGNS as i64;
    let signs = Tensor::from_slice(signs).view([-1, columns]);
    let truth = Tensor::from_slice(truth);
    let start = Tensor::from_slice(&UNFITTED);
    // Signs are of different sizes, and a weight is held by how large its sign is; those that no label has are held, too.
    let sizes = signs.square().mean_dim(&[0_i64][..], false, Kind::Double);
    let ridge = RIDGE * sizes.clamp_min(1e-6);
    let loss = |weights: &Tensor| {
        let logits = signs.mv(weights);
        let wrong = logits.softplus() - &truth * &logits;
        let far = &ridge * (weights - &start).square() / 2.0;
        (wrong.sum(Kind::Double) + far.sum(Kind::Double)).double_value(&[])
    };
    let mut weights = start.copy();
    let mut reached = loss(&weights);
    for _ in 0..MAX_STEPS {
        let likely = signs.mv(&weights).sigmoid();
        let gradient = signs.tr().mv(&(&likely - &truth)) + &ridge * (&weights - &start);
        let variance: Tensor = &likely * (1.0 - &likely);
        let hessian = signs.tr().matmul(&(&signs * variance.unsqueeze(1))) + ridge.diag(0);
        let step = Tensor::linalg_solve(&hessian, &gradient, true);
        let halved = (0..20).map(|times| &weights - &step * 0.5_f64.powi(times));
        let mut tried = halved.map(|next| (loss(&next), next));
        let Some((lower, next)) = tried.find(|(loss, _)| *loss < reached) else {
            break;
        };
        let gained = reached - lower;
        (weights, reached) = (next, lower);
        if gained < 1e-9 * reached.abs() {
            break;
        }
    }
    let mut found = [0.0_f64; NUM_SIGNS];
    weights.copy_data(&mut found, NUM_SIGNS);
    // What threads add up in another order must not become another model.
    found.map(|weight| (weight * 1e5).round() / 1e5)
}

/// A label that network or neighbours name.
struct Candidate {
    label: LabelId,
    /// What the network says.
    said: f32,
    votes: f32,
    views: VoteViews,
    /// How near the nearest neighbour of the document is.
    nearest: f32,
}

impl ToMix<'_> {
    /// The first labels of the network's ranking and those with most votes, `depth` of each at most. Of a label
    /// that it does not rank, the network says no more than of its last.
    fn candidates(&self, depth: usize) -> Vec<Candidate> {
        let TeacherRow { votes, views, .. } = self.row;
        let last = self.ranking.get(MIXED_DEPTH - 1).or(self.ranking.last());
        let least = last.map_or(LEAST_SCORE, |one| one.score);
        let nearest = views.iter().map(|view| view.nearest).fold(0.0, f32::max);
        let mut is_named = vec![false; votes.len()];
        let mut candidates: Vec<Candidate> = Vec::new();
        for one in self.ranking.iter().take(depth) {
            let place = votes.binary_search_by_key(&one.label, |vote| vote.label);
            let place = place.ok().inspect(|&place| is_named[place] = true);
            candidates.push(Candidate {
                label: one.label,
                said: one.score.max(least),
                votes: place.map_or(0.0, |place| votes[place].score),
                views: place.map_or(VoteViews::default(), |place| views[place]),
                nearest,
            });
        }
        let mut others: Vec<usize> = (0..votes.len()).collect();
        if depth < votes.len() {
            others.sort_by(|&left, &right| votes[right].score.total_cmp(&votes[left].score));
            others.truncate(depth);
        }
        let said_of = |label: LabelId| {
            let known = self.ranking.iter().find(|one| one.label == label);
            known.map_or(least, |one| one.score.max(least))
        };
        let others = others.into_iter().filter(|&place| !is_named[place]);
        candidates.extend(others.map(|place| Candidate {
            label: votes[place].label,
            said: said_of(votes[place].label),
            votes: votes[place].score,
            views: views[place],
            nearest,
        }));
        candidates
    }
}

impl Candidate {
    fn signs(&self, teacher: &Teacher) -> [f64; NUM_SIGNS] {
        let said = f64::from(self.said.clamp(LEAST_SCORE, 1.0 - LEAST_SCORE));
        let odds = (said / (1.0 - said)).ln();
        let votes = f64::from(self.votes);
        let log_of = |votes: f32| f64::from(votes + LEAST_VOTES).ln();
        let log_votes = log_of(self.votes);
        let near = f64::from(self.views.nearest);
        let nearest = f64::from(self.nearest);
        let frequency = f64::from(teacher.frequency(self.label)).ln();
        [
            1.0,
            odds,
            said,
            votes,
            log_votes,
            said * votes,
            odds * log_votes,
            log_of(self.views.flat),
            f64::from(self.views.sharp),
            near,
            near * votes,
            // How far neighbours can be trusted at all.
            nearest,
            nearest * votes,
            nearest * log_votes,
            nearest * odds,
            frequency,
            frequency * log_votes,
            frequency * odds,
        ]
    }
}

#[cfg(test)]
mod tests {
    use plethora_core::IndexRows;

    use super::*;

    fn labels(scores: &[(u32, f32)]) -> Vec<ScoredLabel> {
        let labels = scores.iter().map(|&(label, score)| ScoredLabel {
            label: LabelId(label),
            score,
        });
        labels.collect()
    }

    fn row(votes: &[(u32, f32)]) -> TeacherRow {
        let view = |&(_, votes): &(u32, f32)| VoteViews {
            flat: votes,
            sharp: votes,
            nearest: votes,
        };
        TeacherRow {
            tokens: Vec::new(),
            votes: labels(votes),
            views: votes.iter().map(view).collect(),
        }
    }

    /// Of 200 labels that are equally frequent.
    fn teacher() -> Teacher {
        let rows = || -> IndexRows { (0..200).map(|_| std::iter::empty()).collect() };
        Teacher::from_parts(rows(), rows(), vec![0.01; 200])
    }

    fn weights(of: &[(usize, f64)]) -> Mixture {
        let mut weights = [0.0; NUM_SIGNS];
        for &(sign, weight) in of {
            weights[sign] = weight;
        }
        Mixture::new(weights)
    }

    #[test]
    fn labels_of_network_and_neighbours_are_ranked_by_all_signs() {
        let (ranking, row) = (
            labels(&[(4, 0.8), (1, 0.4), (7, 0.2)]),
            row(&[(1, 1.0), (5, 0.6), (7, 0.0)]),
        );
        let document = ToMix {
            ranking: &ranking,
            row: &row,
        };
        let order = |mixture: &Mixture, keep: usize| -> Vec<u32> {
            let ranked = mixture.ranked(document, &teacher(), keep);
            ranked.iter().map(|one| one.label.0).collect()
        };
        // What the network alone says; it says of 5 no more than of 7.
        let network = weights(&[(1, 1.0)]);
        assert_eq!(order(&network, 9), [4, 1, 7, 5]);
        let ranked = network.ranked(document, &teacher(), 9);
        assert!((ranked[0].score - 0.8).abs() < 1e-6);
        assert!((ranked[3].score - 0.2).abs() < 1e-6);
        let neighbours = weights(&[(3, 1.0)]);
        assert_eq!(order(&neighbours, 9), [1, 5, 4, 7]);
        assert_eq!(order(&neighbours, 2), [1, 5]);
        assert_eq!(order(&Mixture::new(UNFITTED), 2), [1, 4]);
    }

    #[test]
    fn scores_are_the_same_whatever_number_of_labels_is_asked_for() {
        let ranking: Vec<(u32, f32)> = (0..150)
            .map(|label| (label, 0.9 / (1 + label) as f32))
            .collect();
        let (ranking, row) = (labels(&ranking), row(&[(120, 0.3), (180, 0.2)]));
        let mixture = Mixture::new(UNFITTED);
        let ranked = |ranking| mixture.ranked(ToMix { ranking, row: &row }, &teacher(), 40);
        assert_eq!(ranked(&ranking[..MIXED_DEPTH]), ranked(&ranking));
    }

    /// Documents with two labels, of which the neighbours name the first and the network the second, each true with the
    /// probability given.
    fn fitted(by_votes: f64, by_network: f64, count: usize) -> Mixture {
        let mut draw = 0.5_f64;
        let mut is_true = |share: f64| {
            draw = (draw + 0.618_033_988_749_895).fract();
            draw < share
        };
        let documents: Vec<(Vec<ScoredLabel>, TeacherRow, Vec<u32>)> = (0..count)
            .map(|_| {
                let truth = [(0, by_votes), (1, by_network), (2, 0.02)];
                let truth = truth.into_iter().filter(|&(_, share)| is_true(share));
                let truth = truth.map(|(label, _)| label).collect();
                let ranking = labels(&[(1, 0.9), (2, 0.05), (0, 0.05)]);
                (ranking, row(&[(0, 0.9)]), truth)
            })
            .collect();
        let documents = documents.iter().map(|(ranking, row, truth)| {
            let document = ToMix { ranking, row };
            (document, truth.as_slice())
        });
        Mixture::fit(documents, &teacher())
    }

    #[test]
    fn fitted_scores_are_how_often_labels_are_true() {
        for (by_votes, by_network) in [(0.9, 0.3), (0.3, 0.9)] {
            let mixture = fitted(by_votes, by_network, 4000);
            let ranking = labels(&[(1, 0.9), (2, 0.05), (0, 0.05)]);
            let row = row(&[(0, 0.9)]);
            let document = ToMix {
                ranking: &ranking,
                row: &row,
            };
            let ranked = mixture.ranked(document, &teacher(), 3);
            let score_of = |label: u32| {
                let one = ranked.iter().find(|one| one.label.0 == label).unwrap();
                f64::from(one.score)
            };
            assert!((score_of(0) - by_votes).abs() < 0.02, "{ranked:?}");
            assert!((score_of(1) - by_network).abs() < 0.02, "{ranked:?}");
            assert!((score_of(2) - 0.02).abs() < 0.02, "{ranked:?}");
        }
    }

    #[test]
    fn fitted_weights_equal_those_of_scipy() {
        #[derive(serde::Deserialize)]
        struct Golden {
            signs: Vec<Vec<f64>>,
            truth: Vec<f64>,
            weights: Vec<f64>,
        }
        let text = include_str!("../../../../testdata/treaderxml/mixture.json");
        let golden: Golden = serde_json::from_str(text).unwrap();
        let found = most_likely(&golden.signs.concat(), &golden.truth);
        for (found, expected) in found.iter().zip(&golden.weights) {
            assert!((found - expected).abs() < 2e-5, "{found} {expected}");
        }
    }

    #[test]
    fn documents_without_neighbours_can_be_fitted_to() {
        let (ranking, row) = (labels(&[(1, 0.9), (2, 0.1)]), TeacherRow::default());
        let document = ToMix {
            ranking: &ranking,
            row: &row,
        };
        let documents = [(document, &[1_u32][..]); 50];
        let mixture = Mixture::fit(documents.into_iter(), &teacher());
        let ranked = mixture.ranked(document, &teacher(), 1);
        assert_eq!(ranked[0].label, LabelId(1));
        assert!(ranked[0].score > 0.8, "{ranked:?}");
    }

    #[test]
    fn few_documents_hardly_change_scores() {
        let ranking = labels(&[(1, 0.9), (2, 0.05), (0, 0.05)]);
        let row = row(&[(0, 0.9)]);
        let document = ToMix {
            ranking: &ranking,
            row: &row,
        };
        let score = |mixture: &Mixture| -> f32 {
            let ranked = mixture.ranked(document, &teacher(), 3);
            ranked.iter().find(|one| one.label.0 == 0).unwrap().score
        };
        let start = score(&Mixture::new(UNFITTED));
        assert_eq!(score(&fitted(0.0, 0.9, 0)), start);
        // Nothing that neighbours alone name is true.
        let scores = [2, 50, 4000].map(|count| score(&fitted(0.0, 0.9, count)) / start);
        assert!(
            scores[0] > 0.3 && scores[1] < 0.3 && scores[2] < 0.05,
            "{scores:?}"
        );
    }
}
