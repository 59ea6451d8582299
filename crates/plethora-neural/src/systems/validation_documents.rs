//! Documents by which training chooses the best weights and knows when to stop.

use plethora_core::corpus::{Content, Document, LabelSpace};
use plethora_core::{IndexRows, Result, SeedStream, SparseVector};
use rand::seq::SliceRandom;
use rustc_hash::FxHashMap;

use super::text_set::{HeldTexts, needs_text};
use crate::train::HoldingBack;

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

/// Numbers of training documents: those to train on, and those to choose weights by.
#[derive(Debug)]
pub(crate) struct Split {
    /// Trained on, rising.
    pub(crate) documents: Vec<u32>,
    /// Held back, rising.
    pub(crate) held: Vec<u32>,
}

impl ValidationDocuments {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a document; `read` makes sequences of texts.
    ///
    /// # Errors
    /// [`Error::Data`](plethora_core::Error::Data) if it has features and no text.
    pub fn add(
        &mut self,
        space: &LabelSpace,
        document: &Document,
        read: impl FnOnce(&[String]) -> IndexRows,
    ) -> Result<()> {
        let Content::Text(text) = &document.content else {
            return Err(needs_text(&document.id));
        };
        self.waiting_texts.push(text.clone());
        if self.waiting_texts.len() >= DOCUMENTS_PER_BATCH {
            self.tokenize_waiting(read);
        }
        let known = space.len() as u32;
        let labels: Vec<u32> = document
            .labels
            .iter()
            .map(|key| {
                if let Some(id) = space.id(key) {
                    return id.0;
                }
                let next = known + self.unseen.len() as u32;
                *self.unseen.entry(key.clone()).or_insert(next)
            })
            .collect();
        self.labels.push(labels);
        Ok(())
    }

    /// Completes the documents.
    #[must_use]
    pub fn finish(mut self, read: impl FnOnce(&[String]) -> IndexRows) -> Self {
        self.tokenize_waiting(read);
        self
    }

    fn tokenize_waiting(&mut self, read: impl FnOnce(&[String]) -> IndexRows) {
        for row in read(&self.waiting_texts).rows() {
            self.sequences.push(row.iter().copied());
        }
        self.waiting_texts.clear();
    }

    /// The same with rows by which the documents are compared with training documents.
    #[must_use]
    pub(crate) fn with_features(mut self, features: Vec<SparseVector>) -> Self {
        self.features = features;
        self
    }

    /// Training documents that are held back, with these labels.
    pub(super) fn held_back(texts: HeldTexts, labels: IndexRows) -> Self {
        Self {
            sequences: texts.sequences,
            labels,
            features: texts.features,
            ..Self::default()
        }
    }

    /// True without documents.
    pub fn is_empty(&self) -> bool {
        self.sequences.num_rows() == 0
    }
}

impl HoldingBack {
    /// Documents of so many that are held back; of few none.
    pub(crate) fn count(self, total: usize) -> usize {
        if total < MIN_TO_HOLD_BACK {
            return 0;
        }
        ((total as f64 * self.share) as usize).min(self.most)
    }

    /// How often training passes over so many documents for each epoch of the settings: twice where they return.
    pub(crate) fn passes(self, total: usize) -> f64 {
        let held = self.count(total);
        if held == 0 {
            return 1.0;
        }
        let trained = 1.0 - held as f64 / total as f64;
        trained + if self.returns { 1.0 } else { 0.0 }
    }
}

impl Split {
    /// All documents are trained on.
    pub(crate) fn none_held(total: usize) -> Self {
        Self {
            documents: (0..total as u32).collect(),
            held: Vec::new(),
        }
    }

    /// Holds documents of a training set back.
    pub(crate) fn hold_back(total: usize, holding: HoldingBack, seed: SeedStream) -> Self {
        let mut split = Self::none_held(total);
        let count = holding.count(total);
        if count == 0 {
            return split;
        }
        split.documents.shuffle(&mut seed.named("hold back").rng());
        split.held = split.documents.split_off(total - count);
        split.documents.sort_unstable();
        split.held.sort_unstable();
        split
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn training_passes_over_documents_twice_where_they_return() {
        let holding = |returns| HoldingBack {
            share: 0.1,
            most: 50,
            returns,
        };
        assert_eq!(holding(true).passes(400), 1.9);
        assert_eq!(holding(false).passes(400), 0.9);
        assert_eq!(holding(true).passes(1000), 1.95);
        // Of so few none is held back.
        assert_eq!(holding(true).passes(199), 1.0);
    }
}
