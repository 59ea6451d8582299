//! Choosing how much nearer neighbours count.

use plethora_core::neighbours::{ChosenPower, Neighbour, Queries, choose_power};
use plethora_core::{Error, LabelId, Progress, Result, SparseMatrix};

use super::model::KnnModel;

/// Labels that are ranked per document.
const DEPTH: usize = 5;

/// Documents that are ranked between two checks for a request to stop.
const ASKED_AT_ONCE: usize = 200;

impl KnnModel {
    /// The power that ranks the labels of training documents best, each ranked as if it were not in
    /// the index. `rows` are the features of all training documents.
    pub(super) fn choose_power(
        &self,
        rows: &SparseMatrix,
        progress: &dyn Progress,
    ) -> Result<ChosenPower> {
        let asked = ChosenPower::asked(rows.num_rows());
        let mut found = Vec::with_capacity(asked.len());
        for asked in asked.chunks(ASKED_AT_ONCE) {
            if progress.is_cancelled() {
                return Err(Error::Interrupted);
            }
            found.extend(self.nearest_others(rows, asked));
        }
        let truths: Vec<Vec<LabelId>> = (asked.iter())
            .map(|&document| {
                let labels = self.documents().labels(document).iter();
                labels.map(|&label| LabelId(label)).collect()
            })
            .collect();
        choose_power(self.num_labels(), &truths, |number, power| {
            self.rank_one(&found[number], power, DEPTH)
        })
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
        assert_eq!(chosen(&[("alone alone".into(), "a")]), 3.0);
    }
}
