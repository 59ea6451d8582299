//! The documents of an index, with what is remembered of them.

use plethora_core::Result;
use plethora_core::corpus::{Document, Label};
use plethora_core::neighbours::DocumentNames;
use plethora_core::text::TfIdfConfig;

use crate::training_set::{TrainingSet, TrainingSetBuilder};

/// Training documents and their names.
#[derive(Debug)]
pub struct KnnSet {
    /// Features and labels.
    pub set: TrainingSet,
    /// Ids and titles, in the same order.
    pub names: DocumentNames,
}

impl AsRef<TrainingSet> for KnnSet {
    fn as_ref(&self) -> &TrainingSet {
        &self.set
    }
}

/// Takes documents one by one.
pub struct KnnSetBuilder {
    set: TrainingSetBuilder,
    names: DocumentNames,
}

impl KnnSetBuilder {
    /// An empty set whose texts will become features as `text` says.
    pub fn new(text: TfIdfConfig) -> Result<Self> {
        Ok(Self {
            set: TrainingSetBuilder::new(text)?,
            names: DocumentNames::default(),
        })
    }

    /// Adds a document; one without labels is counted and left out.
    pub fn add(&mut self, document: Document) -> Result<()> {
        if !document.labels.is_empty() {
            self.names.push(&document.id, document.text());
        }
        self.set.add(document)
    }

    /// As [`TrainingSetBuilder::finish`].
    pub fn finish(self, vocabulary: &[Label], num_features: Option<usize>) -> Result<KnnSet> {
        Ok(KnnSet {
            set: self.set.finish(vocabulary, num_features)?,
            names: self.names,
        })
    }
}
