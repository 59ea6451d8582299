//! From a stream of documents to word sequences, label rows and the label space, in one pass.

use std::time::{Duration, Instant};

use plethora_core::corpus::{Content, Document, Label, LabelSpace, LabelSpaceBuilder};
use plethora_core::text::{TfIdfBuilder, Words, WordsBuilder};
use plethora_core::{Error, IndexRows, Result, SparseMatrix};

use crate::config::NeuralConfig;

/// Documents whose texts are tokenised together.
const DOCUMENTS_PER_BATCH: usize = 4096;

/// What a neural system is trained on.
#[derive(Debug)]
pub struct NeuralSet {
    /// All labels of the documents.
    pub space: LabelSpace,
    /// The labels of each document.
    pub labels_of_documents: IndexRows,
    /// Documents without labels, which were left out.
    pub num_without_labels: u64,
    /// How texts become word sequences.
    pub words: Words,
    /// The words of each document.
    pub sequences: IndexRows,
    /// By which labels are grouped, where a tree is wanted.
    pub features: Option<SparseMatrix>,
    /// Seconds of wall time that tokenising took.
    pub words_s: f64,
}

/// Takes documents one by one; texts are tokenised in batches and then forgotten.
pub struct NeuralSetBuilder {
    space: LabelSpaceBuilder,
    labels_of_documents: IndexRows,
    num_without_labels: u64,
    words: WordsBuilder,
    features: Option<TfIdfBuilder>,
    waiting_texts: Vec<String>,
    time: Duration,
}

impl NeuralSetBuilder {
    /// An empty set for a system with these settings.
    pub fn new(config: &NeuralConfig) -> Result<Self> {
        let features = match &config.plt {
            Some(plt) => Some(TfIdfBuilder::new(plt.text.clone())?),
            None => None,
        };
        Ok(Self {
            space: LabelSpaceBuilder::default(),
            labels_of_documents: IndexRows::default(),
            num_without_labels: 0,
            words: WordsBuilder::new(config.words.clone())?,
            features,
            waiting_texts: Vec::new(),
            time: Duration::ZERO,
        })
    }

    /// Adds a document; one without labels is counted and left out.
    pub fn add(&mut self, document: Document) -> Result<()> {
        if document.labels.is_empty() {
            self.num_without_labels += 1;
            return Ok(());
        }
        let labels = self.space.add(&document);
        let Content::Text(text) = document.content else {
            return Err(needs_text(&document.id));
        };
        self.labels_of_documents.push(labels);
        self.waiting_texts.push(text);
        if self.waiting_texts.len() >= DOCUMENTS_PER_BATCH {
            self.tokenize_waiting();
        }
        Ok(())
    }

    /// Number of documents with labels so far.
    pub fn num_documents(&self) -> usize {
        self.labels_of_documents.num_rows()
    }

    /// Numbers words and puts the labels in order.
    pub fn finish(mut self, vocabulary: &[Label]) -> Result<NeuralSet> {
        if self.num_documents() == 0 {
            return Err(Error::Data(match self.num_without_labels {
                0 => "there are no documents to train on".into(),
                count => format!("none of the {count} documents has a label to train on"),
            }));
        }
        self.tokenize_waiting();
        let started = Instant::now();
        let (words, sequences) = self.words.finish()?;
        let features = match self.features {
            Some(features) => Some(features.finish()?.1),
            None => None,
        };
        let (space, final_ids) = self.space.finish(vocabulary);
        self.labels_of_documents
            .remap(|label| final_ids[label as usize].0);
        Ok(NeuralSet {
            space,
            labels_of_documents: self.labels_of_documents,
            num_without_labels: self.num_without_labels,
            words,
            sequences,
            features,
            words_s: (self.time + started.elapsed()).as_secs_f64(),
        })
    }

    fn tokenize_waiting(&mut self) {
        let started = Instant::now();
        self.words.push_batch(&self.waiting_texts);
        if let Some(features) = &mut self.features {
            features.push_batch(&self.waiting_texts);
        }
        self.waiting_texts.clear();
        self.time += started.elapsed();
    }
}

/// Networks of words cannot read feature rows.
pub(super) fn needs_text(id: &str) -> Error {
    Error::Data(format!(
        "document `{id}` has features and no text, which neural systems need"
    ))
}
