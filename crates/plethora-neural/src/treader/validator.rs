//! How well TReaderXML ranks labels for documents it was not trained on.

use plethora_core::{IndexRows, ScoredLabel};

use super::mixture::{MIXED_DEPTH, Mixture, ToMix};
use super::network::TReaderNetwork;
use super::ranker::TReaderRanker;
use super::teacher::Teacher;
use super::teacher_rows::TeacherRow;
use crate::Result;
use crate::systems::validation::{DEPTH, among_all, truths, validation};
use crate::train::{Network as _, Validation, Validator};

/// Ranks validation documents.
#[derive(Clone, Copy)]
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
    /// Mixes scores with votes as makes the true labels of the documents most likely, too.
    fn validate(&mut self, network: &TReaderNetwork) -> Result<Validation> {
        network.refresh();
        let is_mixed = network.mixture().is_some();
        let ranker = TReaderRanker {
            network,
            teacher: self.teacher,
            keep: if is_mixed { MIXED_DEPTH } else { DEPTH },
        };
        let rankings = ranker.rank(self.sequences, self.rows)?;
        let rankings = among_all(network.parameters(), rankings, ranker.keep)?;
        let (true, Some(rows), Some(teacher)) = (is_mixed, self.rows, self.teacher) else {
            return self.measure(rankings.into_iter());
        };
        let documents = rankings.iter().zip(rows);
        let documents = documents.map(|(ranking, row)| ToMix { ranking, row });
        let truths = (0..self.labels.num_rows()).map(|document| self.labels.row(document));
        let mixture = Mixture::fit(documents.clone().zip(truths), teacher);
        network.set_mixture(&mixture);
        self.measure(documents.map(|document| mixture.ranked(document, teacher, DEPTH)))
    }
}

impl TReaderValidator<'_> {
    fn measure(&self, rankings: impl Iterator<Item = Vec<ScoredLabel>>) -> Result<Validation> {
        validation(self.num_labels, truths(self.labels).zip(rankings))
    }
}
