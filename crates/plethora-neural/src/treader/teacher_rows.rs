//! Which labels the neighbours of a document bring.

use plethora_core::ScoredLabel;
use plethora_core::neighbours::{KnownDocuments, Neighbour, votes};
use rayon::prelude::*;

use super::config::{NeighboursConfig, TeacherConfig};
use super::teacher::Teacher;

/// What a document's neighbours bring.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TeacherRow {
    /// Labels and parents to read, those with most votes first.
    pub(crate) tokens: Vec<ScoredLabel>,
    /// The votes of all labels that a neighbour has, by label.
    pub(crate) votes: Vec<ScoredLabel>,
}

/// Makes the rows of documents from their neighbours. The labels of these are all that it sees.
#[derive(Clone, Copy)]
pub(crate) struct TeacherRows<'a> {
    pub(crate) neighbours: &'a NeighboursConfig,
    pub(crate) config: &'a TeacherConfig,
    pub(crate) documents: &'a KnownDocuments,
    pub(crate) teacher: &'a Teacher,
}

impl TeacherRows<'_> {
    /// The row of a document with these neighbours.
    pub(crate) fn row(&self, neighbours: &[Neighbour]) -> TeacherRow {
        let power = self.neighbours.power;
        let plain = votes(neighbours, power, |document| {
            self.documents.labels(document).iter().copied()
        });
        let mut tokens = if self.config.parents {
            votes(neighbours, power, |document| {
                self.teacher.with_parents(self.documents.labels(document))
            })
        } else {
            plain.clone()
        };
        // Stable: of equal votes the first label comes first.
        tokens.sort_by(|left, right| right.score.total_cmp(&left.score));
        tokens.truncate(self.config.max_labels);
        TeacherRow {
            tokens,
            votes: plain,
        }
    }

    /// The rows of `count` documents, whose neighbours `neighbours_of` knows.
    pub(crate) fn all(
        &self,
        count: usize,
        neighbours_of: impl Fn(usize) -> Vec<Neighbour> + Sync,
    ) -> Vec<TeacherRow> {
        (0..count)
            .into_par_iter()
            .map(|document| self.row(&neighbours_of(document)))
            .collect()
    }
}
