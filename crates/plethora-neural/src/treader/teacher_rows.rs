//! Which labels the neighbours of a document bring.

use plethora_core::ScoredLabel;
use plethora_core::neighbours::{KnownDocuments, Neighbour, votes};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::config::{NeighboursConfig, TeacherConfig};
use super::teacher::Teacher;

/// Votes of other views beside the usual ones, as multiples of their power: one that sees far, and one that sees the nearest alone.
const FLAT: f32 = 0.25;
const SHARP: f32 = 2.0;

/// What else neighbours say of a label: its votes where far neighbours count more, and where they count less, and how near the
/// nearest is that has it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct VoteViews {
    pub(crate) flat: f32,
    pub(crate) sharp: f32,
    pub(crate) nearest: f32,
}

/// What a document's neighbours bring.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TeacherRow {
    /// Labels and parents to read, those with most votes first.
    pub(crate) tokens: Vec<ScoredLabel>,
    /// The votes of all labels that a neighbour has, by label.
    pub(crate) votes: Vec<ScoredLabel>,
    /// Other views of these votes; none where they are only read.
    pub(crate) views: Vec<VoteViews>,
}

/// Makes the rows of documents from their neighbours. The labels of these are all that it sees.
#[derive(Clone, Copy)]
pub(crate) struct TeacherRows<'a> {
    pub(crate) neighbours: &'a NeighboursConfig,
    pub(crate) config: &'a TeacherConfig,
    pub(crate) documents: &'a KnownDocuments,
    pub(crate) teacher: &'a Teacher,
    /// Whether rows have other views of their votes.
    pub(crate) has_views: bool,
}

impl TeacherRows<'_> {
    /// The row of a document with these neighbours.
    pub(crate) fn row(&self, neighbours: &[Neighbour]) -> TeacherRow {
        let power = self.neighbours.votes_by();
        let votes_at = |power: f32| {
            votes(neighbours, power, |document| {
                self.documents.labels(document).iter().copied()
            })
        };
        let plain = votes_at(power);
        let tokens = if self.config.is_read() {
            self.tokens(neighbours, &plain)
        } else {
            Vec::new()
        };
        let views = if self.has_views {
            let nearest = self.nearest_by_label(neighbours);
            let other = votes_at(power * FLAT)
                .into_iter()
                .zip(votes_at(power * SHARP));
            other
                .map(|(flat, sharp)| VoteViews {
                    flat: flat.score,
                    sharp: sharp.score,
                    nearest: nearest[&flat.label.0],
                })
                .collect()
        } else {
            Vec::new()
        };
        TeacherRow {
            tokens,
            votes: plain,
            views,
        }
    }

    /// Labels and parents to read, of which `plain` are the labels' votes.
    fn tokens(&self, neighbours: &[Neighbour], plain: &[ScoredLabel]) -> Vec<ScoredLabel> {
        let mut tokens = if self.config.parents {
            votes(neighbours, self.neighbours.votes_by(), |document| {
                self.teacher.with_parents(self.documents.labels(document))
            })
        } else {
            plain.to_vec()
        };
        // Stable: of equal votes the first label comes first.
        tokens.sort_by(|left, right| right.score.total_cmp(&left.score));
        tokens.truncate(self.config.max_labels);
        tokens
    }

    /// How near the nearest neighbour with each label is.
    fn nearest_by_label(&self, neighbours: &[Neighbour]) -> FxHashMap<u32, f32> {
        let mut nearest = FxHashMap::default();
        for one in neighbours {
            for &label in self.documents.labels(one.document) {
                nearest.entry(label).or_insert(one.similarity);
            }
        }
        nearest
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
