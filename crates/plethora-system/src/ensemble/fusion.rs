//! Scores of members made one by a forest that was fitted on held-back documents.

use plethora_core::forest::Forest;
use plethora_core::metrics::{EvaluationConfig, Propensities};
use plethora_core::{Error, LabelId, Result};
use serde::{Deserialize, Serialize};

use super::combiner::Vote;

/// What the forest sees of each member: its score, that as a share of the document's largest, and
/// one divided by the rank.
const FEATURES_PER_MEMBER: usize = 3;

/// What it sees of the label: training documents, members that rank it, mean of their scores.
const FEATURES_OF_LABEL: usize = 3;

/// A forest that makes one probability of the scores of all members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fusion {
    pub(super) forest: Forest,
    /// Training documents, where rare labels count more: scores are then probabilities times what a
    /// true label counts in PSP, and rank only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) propensity_documents: Option<u64>,
    /// Held-back documents that it was fitted to.
    #[serde(rename = "n_documents")]
    pub num_documents: u64,
    /// nDCG@5 on them of the plain mean.
    pub ndcg_before: f64,
    /// nDCG@5 on them of forests that had not seen them: each fifth was ranked by what the others
    /// gave.
    pub ndcg_after: f64,
}

impl Fusion {
    /// Refuses a forest for other members.
    pub(super) fn validate(&self, num_members: usize) -> Result<()> {
        if self.forest.is_sound(num_features(num_members)) {
            return Ok(());
        }
        let message = format!("its forest is not one for {num_members} members");
        Err(Error::config("fusion", message))
    }

    /// Ranks rare labels before frequent ones that are as probable, as PSP counts them; `num_documents`
    /// were trained on.
    #[must_use]
    pub fn for_rare_labels(self, num_documents: u64) -> Self {
        Self {
            propensity_documents: Some(num_documents),
            ..self
        }
    }

    /// The scores of the labels that `rows` describes: probabilities, unless rare labels count more.
    pub(super) fn scores(&self, rows: &FusionRows) -> Vec<f32> {
        let mut scores = self.forest.probabilities(&rows.values, rows.num_features);
        if let Some(num_documents) = self.propensity_documents {
            let counts = rows.train_counts();
            let EvaluationConfig { a, b, .. } = EvaluationConfig::default();
            // The first is of a label that training never showed: nothing counts more.
            let counts: Vec<u32> = std::iter::once(0).chain(counts).collect();
            let propensities = Propensities::new(&counts, num_documents, a, b);
            let most = propensities.inverse(LabelId(0));
            for (label, score) in (1..).map(LabelId).zip(&mut scores) {
                *score *= (propensities.inverse(label) / most) as f32;
            }
        }
        scores
    }
}

/// Features of a row, for a number of members.
pub(super) fn num_features(num_members: usize) -> usize {
    FEATURES_PER_MEMBER * num_members + FEATURES_OF_LABEL
}

/// What forests see of the labels of documents: one row per label.
#[derive(Debug)]
pub(super) struct FusionRows {
    num_members: usize,
    pub(super) num_features: usize,
    pub(super) values: Vec<f32>,
}

impl FusionRows {
    pub(super) fn new(num_members: usize) -> Self {
        Self {
            num_members,
            num_features: num_features(num_members),
            values: Vec::new(),
        }
    }

    /// Adds a row for each run of equal labels in the votes for a document, which are sorted by
    /// label.
    pub(super) fn add(&mut self, votes: &[Vote], train_count: impl Fn(&Vote) -> u32) {
        let mut largest = vec![f32::MIN_POSITIVE; self.num_members];
        for vote in votes {
            largest[vote.member] = largest[vote.member].max(vote.score);
        }
        for votes in votes.chunk_by(|left, right| left.label == right.label) {
            let start = self.values.len();
            self.values.resize(start + self.num_features, 0.0);
            let row = &mut self.values[start..];
            let mut sum = 0.0;
            for vote in votes {
                let own = &mut row[vote.member * FEATURES_PER_MEMBER..];
                own[0] = vote.score;
                own[1] = vote.score / largest[vote.member];
                own[2] = 1.0 / vote.rank as f32;
                sum += vote.score;
            }
            let of_label = &mut row[self.num_members * FEATURES_PER_MEMBER..];
            of_label[0] = (train_count(&votes[0]) as f32).ln_1p();
            of_label[1] = votes.len() as f32;
            of_label[2] = sum / self.num_members as f32;
        }
    }

    /// Training documents of each row's label.
    fn train_counts(&self) -> impl Iterator<Item = u32> {
        let rows = self.values.chunks_exact(self.num_features);
        rows.map(|row| row[row.len() - FEATURES_OF_LABEL].exp_m1().round() as u32)
    }

    /// The features of some rows.
    pub(super) fn values_of(&self, rows: std::ops::Range<usize>) -> &[f32] {
        &self.values[rows.start * self.num_features..rows.end * self.num_features]
    }

    /// The score that each member gives to each row, 0 where it does not rank the label.
    pub(super) fn scores(&self) -> impl Iterator<Item = impl Iterator<Item = f32>> {
        let rows = self.values.chunks_exact(self.num_features);
        rows.map(|row| {
            let own = row.chunks_exact(FEATURES_PER_MEMBER).take(self.num_members);
            own.map(|features| features[0])
        })
    }

    /// The mean score of the members for each row.
    pub(super) fn means(&self) -> impl Iterator<Item = f32> {
        let rows = self.values.chunks_exact(self.num_features);
        rows.map(|row| row[row.len() - 1])
    }
}

#[cfg(test)]
mod tests {
    use plethora_core::forest::{FeatureRows, ForestConfig};

    use super::*;

    #[test]
    fn rare_labels_come_first_where_they_count_more() {
        let mut rows = FusionRows::new(1);
        let vote = |label| Vote {
            label: LabelId(label),
            member: 0,
            rank: 1,
            score: 0.5,
        };
        rows.add(&[vote(0), vote(1)], |vote| [1000, 2][vote.label.index()]);
        assert_eq!(rows.train_counts().collect::<Vec<_>>(), [1000, 2]);
        let config = ForestConfig {
            num_trees: 1,
            num_leaves: 2,
            learning_rate: 0.1,
            min_rows: 1,
            ridge: 1.0,
        };
        let features = FeatureRows::new(&rows.values, rows.num_features);
        let fusion = Fusion {
            forest: Forest::fit(&features, &[true, true], &config),
            propensity_documents: None,
            num_documents: 2,
            ndcg_before: 0.0,
            ndcg_after: 0.0,
        };
        let plain = fusion.scores(&rows);
        assert_eq!(plain[0], plain[1]);
        let weighted = fusion.for_rare_labels(5000).scores(&rows);
        assert!(weighted[1] > weighted[0] && weighted[1] < plain[1]);
    }

    #[test]
    fn a_row_has_what_members_say_and_how_frequent_the_label_is() {
        let vote = |label, member, rank, score| Vote {
            label: LabelId(label),
            member,
            rank,
            score,
        };
        let mut rows = FusionRows::new(2);
        let votes = [vote(3, 0, 2, 0.25), vote(3, 1, 1, 0.5), vote(7, 0, 1, 0.75)];
        rows.add(&votes, |vote| vote.label.0 - 3);
        assert_eq!(rows.num_features, 9);
        let third = 0.25_f32 / 0.75;
        let first = [0.25, third, 0.5, 0.5, 1.0, 1.0, 0.0, 2.0, 0.375];
        let second = [0.75, 1.0, 1.0, 0.0, 0.0, 0.0, 4.0_f32.ln_1p(), 1.0, 0.375];
        assert_eq!(rows.values, [first, second].concat());
        assert_eq!(rows.means().collect::<Vec<_>>(), [0.375, 0.375]);
    }
}
