//! How well a network of pieces ranks labels for documents it was not trained on.

use plethora_core::IndexRows;

use super::batch::Cut;
use super::network::PieceNetwork;
use super::ranker::PieceRanker;
use crate::Result;
use crate::systems::validation::{DEPTH, among_all, truths, validation};
use crate::train::{Network as _, Validation, Validator};

/// Ranks validation documents.
pub(crate) struct PieceValidator<'a> {
    pub(crate) sequences: &'a IndexRows,
    /// True labels.
    pub(crate) labels: &'a IndexRows,
    pub(crate) num_labels: usize,
    pub(crate) cut: Cut,
    pub(crate) beam: usize,
}

impl Validator<PieceNetwork> for PieceValidator<'_> {
    fn validate(&mut self, network: &PieceNetwork) -> Result<Validation> {
        network.refresh();
        let ranker = PieceRanker {
            network,
            cut: self.cut,
            beam: self.beam,
            keep: DEPTH,
        };
        let rankings = ranker.rank(self.sequences)?;
        let rankings = among_all(network.parameters(), rankings, DEPTH)?;
        validation(self.num_labels, truths(self.labels).zip(rankings))
    }
}
