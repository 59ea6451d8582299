//! How well a level ranks its items for documents it was not trained on.

use plethora_core::metrics::{EvaluationConfig, Evaluator};
use plethora_core::{IndexRows, LabelId, ScoredLabel};

use super::beam::{Beam, LevelRanker};
use super::levels::Levels;
use crate::Result;
use crate::train::{Validation, Validator};
use crate::word_network::WordNetwork;

/// Items that are ranked a document: what the deepest metric looks at.
pub(super) const DEPTH: usize = 5;

/// The metric that chooses weights.
const SELECTED_BY: &str = "nDCG@5";

/// Metrics that are shown and logged.
const SHOWN: [&str; 4] = ["P@1", "P@3", "P@5", SELECTED_BY];

/// Ranks validation documents at a level.
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
        let truths = self.truth.rows().map(|truth| {
            let truth = truth.iter().map(|&item| LabelId(item));
            truth.collect::<Vec<_>>()
        });
        let rankings = beams.iter().map(ranking);
        validation(self.levels.num_items(self.level), truths.zip(rankings))
    }
}

/// The metrics of documents with their true labels and their best ones.
pub(super) fn validation(
    num_labels: usize,
    documents: impl Iterator<Item = (Vec<LabelId>, Vec<ScoredLabel>)>,
) -> Result<Validation> {
    let counts = vec![1; num_labels];
    let mut evaluator = Evaluator::new(EvaluationConfig::default(), &counts, 1)?;
    for (truth, ranking) in documents {
        evaluator.add(&truth, &ranking);
    }
    let evaluation = evaluator.finish();
    let value = |name: &str| evaluation.get(name).unwrap_or(0.0);
    Ok(Validation {
        score: value(SELECTED_BY),
        values: SHOWN
            .iter()
            .map(|&name| (name.to_owned(), value(name)))
            .collect(),
    })
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
