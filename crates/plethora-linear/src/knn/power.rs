//! Choosing how much nearer neighbours count.

use plethora_core::metrics::{EvaluationConfig, Evaluator};
use plethora_core::neighbours::{Neighbour, Queries};
use plethora_core::{Error, LabelId, Progress, Result, SparseMatrix};
use rayon::prelude::*;

use super::model::KnnModel;

/// Powers to choose from. The first of equally good ones is taken, which decides for tiny corpora.
const POWERS: [f32; 10] = [3.0, 4.0, 2.0, 5.0, 1.5, 6.0, 1.0, 8.0, 0.5, 12.0];

/// Most training documents that a power is chosen by; more do not change the choice.
pub(super) const MAX_ASKED: usize = 2_000;

/// Labels that are ranked per document: what the metric looks at.
const DEPTH: usize = 5;

/// The metric that chooses.
pub(super) const CHOSEN_BY: &str = "nDCG@5";

/// Documents that are ranked between two checks for a request to stop.
const ASKED_AT_ONCE: usize = 200;

/// What was chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ChosenPower {
    pub(super) power: f32,
    /// How well it ranks.
    pub(super) score: f64,
    /// By how many documents it was chosen.
    pub(super) num_asked: usize,
}

impl KnnModel {
    /// The power that ranks the labels of training documents best, each ranked as if it were not in
    /// the index. `rows` are the features of all training documents.
    pub(super) fn choose_power(
        &self,
        rows: &SparseMatrix,
        progress: &dyn Progress,
    ) -> Result<ChosenPower> {
        let num_asked = rows.num_rows().min(MAX_ASKED);
        // Spread evenly, as documents of one kind often follow each other.
        let asked: Vec<u32> = (0..num_asked)
            .map(|number| (number * rows.num_rows() / num_asked) as u32)
            .collect();
        let mut found = Vec::with_capacity(num_asked);
        for asked in asked.chunks(ASKED_AT_ONCE) {
            if progress.is_cancelled() {
                return Err(Error::Interrupted);
            }
            found.extend(self.nearest_others(rows, asked));
        }
        let mut chosen: Option<ChosenPower> = None;
        for power in POWERS {
            let score = self.quality(&asked, &found, power)?;
            if chosen.is_none_or(|best| score > best.score) {
                chosen = Some(ChosenPower {
                    power,
                    score,
                    num_asked,
                });
            }
        }
        Ok(chosen.expect("there are powers"))
    }

    /// The neighbours of some training documents, without themselves.
    fn nearest_others(&self, rows: &SparseMatrix, asked: &[u32]) -> Vec<Vec<Neighbour>> {
        let mut asked_rows = SparseMatrix::builder(rows.num_columns());
        for &document in asked {
            asked_rows.push(rows.row(document as usize));
        }
        let limit = self.config().num_neighbours;
        let queries = Queries::of_others(limit + 1);
        let mut found = self.index().nearest(&asked_rows.finish(), &queries);
        for (neighbours, &document) in found.iter_mut().zip(asked) {
            neighbours.retain(|neighbour| neighbour.document != document);
            neighbours.truncate(limit);
        }
        found
    }

    fn quality(&self, asked: &[u32], found: &[Vec<Neighbour>], power: f32) -> Result<f64> {
        let rank = |neighbours: &Vec<Neighbour>| self.rank_one(neighbours, power, DEPTH);
        let rankings: Vec<_> = found.par_iter().map(rank).collect();
        let counts = vec![1; self.num_labels()];
        let config = EvaluationConfig {
            ks: vec![DEPTH],
            ..EvaluationConfig::default()
        };
        let mut evaluator = Evaluator::new(config, &counts, 1)?;
        for (&document, ranking) in asked.iter().zip(&rankings) {
            let labels = self.documents().labels(document).iter();
            let truth: Vec<LabelId> = labels.map(|&label| LabelId(label)).collect();
            evaluator.add(&truth, ranking);
        }
        let score = evaluator.finish().get(CHOSEN_BY);
        Ok(score.expect("the metric is one of those at that depth"))
    }
}

#[cfg(test)]
mod tests {
    use plethora_core::NoProgress;
    use plethora_core::artifact::WorkFolder;
    use plethora_core::corpus::{Content, Document};

    use plethora_system::settings::Auto;

    use super::super::{KnnSetBuilder, KnnTrainer, OpenKnnConfig};

    /// What training chooses for texts with labels.
    fn chosen(documents: &[(String, &str)]) -> f32 {
        let mut config = OpenKnnConfig {
            num_neighbours: 10,
            power: Auto::Auto,
            ..crate::knn::recipe()
        };
        config.text.min_df = 1;
        let mut builder = KnnSetBuilder::new(config.text.clone()).unwrap();
        for (text, label) in documents {
            builder
                .add(Document {
                    id: text.clone(),
                    content: Content::Text(text.clone()),
                    labels: vec![(*label).into()],
                })
                .unwrap();
        }
        let set = builder.finish(&[], None).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let work = WorkFolder::open(&folder.path().join("model"), "x", false).unwrap();
        let trainer = KnnTrainer {
            set: &set,
            config: &config,
        };
        trainer.run(&work, &NoProgress).unwrap().power
    }

    #[test]
    fn near_copies_ask_for_high_powers_and_loose_likeness_for_low_ones() {
        // Each text has one near copy with its label, and shares common words with all others.
        let copies: Vec<(String, &str)> = (0..24)
            .map(|number| {
                let (pair, of) = (number / 2, number % 2);
                let label = if pair % 2 == 0 { "even" } else { "odd" };
                (
                    format!("common words pair{pair} twin{pair} own{number} {of}"),
                    label,
                )
            })
            .collect();
        // The nearest of the first text of a group is of another label, as most texts are not.
        let loose: Vec<(String, &str)> = (0..8)
            .flat_map(|group| {
                [
                    (format!("first{group} second{group} third{group}"), "right"),
                    (
                        format!("first{group} second{group} third{group} x{group}"),
                        "wrong",
                    ),
                    (format!("first{group} second{group} y{group}"), "right"),
                    (format!("first{group} third{group} z{group}"), "right"),
                ]
            })
            .collect();
        let (high, low) = (chosen(&copies), chosen(&loose));
        assert!(high > low, "{high} {low}");
    }

    #[test]
    fn a_single_document_is_enough() {
        assert_eq!(chosen(&[("alone alone".into(), "a")]), super::POWERS[0]);
    }
}
