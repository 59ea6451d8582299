//! How well TReaderXML ranks labels for documents it was not trained on.

use plethora_core::{IndexRows, LabelId};

use super::level_validator::{DEPTH, validation};
use super::treader_model::TReaderRanker;
use crate::Result;
use crate::train::{Validation, Validator};
use crate::treader::{TReaderNetwork, Teacher, TeacherRow};

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
    fn validate(&mut self, network: &TReaderNetwork) -> Result<Validation> {
        network.refresh();
        let ranker = TReaderRanker {
            network,
            teacher: self.teacher,
            keep: DEPTH,
        };
        let rankings = ranker.rank(self.sequences, self.rows)?;
        let truths = self.labels.rows().map(|labels| {
            let labels = labels.iter().map(|&label| LabelId(label));
            labels.collect::<Vec<_>>()
        });
        validation(self.num_labels, truths.zip(rankings))
    }
}
