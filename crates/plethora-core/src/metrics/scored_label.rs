//! One place of a ranking.

use crate::LabelId;

/// A label with the score a classifier gave it; a ranking is a list of these, best first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredLabel {
    /// The label.
    pub label: LabelId,
    /// Its score: a probability, unless raw scores were asked for.
    pub score: f32,
}
