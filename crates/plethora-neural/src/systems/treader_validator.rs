//! How well TReaderXML ranks labels for documents it was not trained on.

use plethora_core::{IndexRows, LabelId, ScoredLabel};

use super::level_validator::{DEPTH, validation};
use super::treader_model::TReaderRanker;
use crate::Result;
use crate::train::{Validation, Validator};
use crate::treader::{MIXED_DEPTH, TReaderNetwork, Teacher, TeacherRow, mixed};

/// Shares that votes may have in scores.
const VOTE_SHARES: [f64; 9] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];

/// Ranks validation documents.
pub(super) struct TReaderValidator<'a> {
    pub(super) sequences: &'a IndexRows,
    /// True labels.
    pub(super) labels: &'a IndexRows,
    /// What the neighbours of each document bring; absent without a teacher.
    pub(super) rows: Option<&'a [TeacherRow]>,
    pub(super) teacher: Option<&'a Teacher>,
    pub(super) num_labels: usize,
}

impl Validator<TReaderNetwork> for TReaderValidator<'_> {
    /// Gives votes the share by which the documents are ranked best, too.
    fn validate(&mut self, network: &TReaderNetwork) -> Result<Validation> {
        network.refresh();
        let votes = self.rows.filter(|_| network.vote_share().is_some());
        let ranker = TReaderRanker {
            network,
            teacher: self.teacher,
            keep: votes.map_or(DEPTH, |_| MIXED_DEPTH),
        };
        let rankings = ranker.rank(self.sequences, self.rows)?;
        let Some(rows) = votes else {
            return self.measure(rankings.into_iter());
        };
        let mut best: Option<(f64, Validation)> = None;
        for share in VOTE_SHARES {
            let documents = rankings.iter().zip(rows);
            let mixed =
                documents.map(|(ranking, row)| mixed(ranking, &row.votes, share as f32, DEPTH));
            let validation = self.measure(mixed)?;
            if (best.as_ref()).is_none_or(|(_, best)| validation.score > best.score) {
                best = Some((share, validation));
            }
        }
        let (share, mut validation) = best.expect("there are shares to choose from");
        network.set_vote_share(share);
        (validation.values).push(("vote share".to_owned(), share));
        Ok(validation)
    }
}

impl TReaderValidator<'_> {
    fn measure(&self, rankings: impl Iterator<Item = Vec<ScoredLabel>>) -> Result<Validation> {
        let truths = self.labels.rows().map(|labels| {
            let labels = labels.iter().map(|&label| LabelId(label));
            labels.collect::<Vec<_>>()
        });
        validation(self.num_labels, truths.zip(rankings))
    }
}
