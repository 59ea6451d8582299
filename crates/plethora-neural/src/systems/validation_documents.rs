//! Documents by which training chooses the best weights and knows when to stop.

use plethora_core::corpus::{Content, Document};
use plethora_core::{IndexRows, Result, SeedStream, SparseRow, SparseVector};
use rand::seq::SliceRandom;
use rustc_hash::FxHashMap;

use super::training_set::{NeuralSet, needs_text};
use crate::train::TrainConfig;

/// Below this number of training documents none are held back: so few would choose by chance.
const MIN_TO_HOLD_BACK: usize = 200;

/// Documents whose texts are tokenised together.
const DOCUMENTS_PER_BATCH: usize = 1024;

/// Sequences and true labels of documents that are not trained on.
#[derive(Debug, Clone, Default)]
pub struct ValidationDocuments {
    pub(crate) sequences: IndexRows,
    /// True labels; numbers from the model's number of labels on are labels that training never
    /// saw.
    pub(crate) labels: IndexRows,
    /// Rows by which they are compared with training documents, where they are.
    pub(crate) features: Vec<SparseVector>,
    unseen: FxHashMap<String, u32>,
    waiting_texts: Vec<String>,
}

impl ValidationDocuments {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a document.
    pub fn add(&mut self, set: &NeuralSet, document: &Document) -> Result<()> {
        let Content::Text(text) = &document.content else {
            return Err(needs_text(&document.id));
        };
        self.waiting_texts.push(text.clone());
        if self.waiting_texts.len() >= DOCUMENTS_PER_BATCH {
            self.tokenize_waiting(set);
        }
        let known = set.space.len() as u32;
        let labels: Vec<u32> = document
            .labels
            .iter()
            .map(|key| {
                if let Some(id) = set.space.id(key) {
                    return id.0;
                }
                let next = known + self.unseen.len() as u32;
                *self.unseen.entry(key.clone()).or_insert(next)
            })
            .collect();
        self.labels.push(labels);
        Ok(())
    }

    /// Completes the documents, which are those of `set`.
    pub fn finish(mut self, set: &NeuralSet) -> Self {
        self.tokenize_waiting(set);
        self
    }

    fn tokenize_waiting(&mut self, set: &NeuralSet) {
        for row in set.reader.sequences(&self.waiting_texts).rows() {
            self.sequences.push(row.iter().copied());
        }
        if let Some(tfidf) = &set.tfidf {
            let rows = tfidf.transform(&self.waiting_texts);
            self.features.extend(rows.rows().map(owned));
        }
        self.waiting_texts.clear();
    }

    /// True without documents.
    pub fn is_empty(&self) -> bool {
        self.sequences.num_rows() == 0
    }

    /// Holds documents of the training set back: these, and the numbers of those to train on.
    pub(crate) fn hold_back(
        set: &NeuralSet,
        config: &TrainConfig,
        seed: SeedStream,
    ) -> (Self, Vec<u32>) {
        let total = set.sequences.num_rows();
        let mut documents: Vec<u32> = (0..total as u32).collect();
        let share = (total as f64 * config.valid_share) as usize;
        let count = share.min(config.valid_max);
        if total < MIN_TO_HOLD_BACK || count == 0 {
            return (Self::default(), documents);
        }
        documents.shuffle(&mut seed.named("hold back").rng());
        let mut held = documents.split_off(total - count);
        documents.sort_unstable();
        held.sort_unstable();
        let mut validation = Self::default();
        for &document in &held {
            let document = document as usize;
            let copy = |row: &[u32]| row.to_vec();
            validation.sequences.push(copy(set.sequences.row(document)));
            (validation.labels).push(copy(set.labels_of_documents.row(document)));
            if let (Some(features), Some(_)) = (&set.features, &set.tfidf) {
                validation.features.push(owned(features.row(document)));
            }
        }
        (validation, documents)
    }
}

fn owned(row: SparseRow<'_>) -> SparseVector {
    SparseVector {
        columns: row.columns.to_vec(),
        values: row.values.to_vec(),
    }
}
