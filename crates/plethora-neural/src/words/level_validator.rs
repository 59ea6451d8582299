//! How well a level ranks its items for documents it was not trained on.

use plethora_core::{IndexRows, LabelId, ScoredLabel};

use super::beam::{Beam, LevelRanker};
use super::levels::Levels;
use super::network::WordNetwork;
use crate::Result;
use crate::systems::validation::{DEPTH, truths, validation};
use crate::train::{Validation, Validator};

/// Ranks validation documents at a level.
#[derive(Clone)]
pub(crate) struct LevelValidator<'a> {
    pub(crate) levels: &'a Levels,
    pub(crate) level: usize,
    pub(crate) sequences: &'a IndexRows,
    /// True items of the level.
    pub(crate) truth: &'a IndexRows,
    /// Beams of the level above.
    pub(crate) above: Option<&'a [Beam]>,
    /// Clusters whose labels are ranked, where the network has clusters.
    pub(crate) beam: usize,
}

impl Validator<WordNetwork> for LevelValidator<'_> {
    fn validate(&mut self, network: &WordNetwork) -> Result<Validation> {
        let ranker = LevelRanker {
            network,
            levels: self.levels,
            level: self.level,
            keep: DEPTH,
            beam: self.beam,
        };
        let beams = ranker.rank(self.sequences, self.above, |_| Ok(()))?;
        let rankings = beams.iter().map(ranking);
        let num_items = self.levels.num_items(self.level);
        validation(num_items, truths(self.truth).zip(rankings))
    }
}

/// A beam as a ranking with probabilities.
pub(crate) fn ranking(beam: &Beam) -> Vec<ScoredLabel> {
    beam.items
        .iter()
        .zip(&beam.log_scores)
        .map(|(&item, &log_score)| ScoredLabel {
            label: LabelId(item),
            score: log_score.exp(),
        })
        .collect()
}
