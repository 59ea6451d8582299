//! From a stream of documents to label rows, the label space and what a family makes of texts, in one
//! pass.

use std::time::{Duration, Instant};

use plethora_core::corpus::{Content, Document, Label, LabelSpace, LabelSpaceBuilder};
use plethora_core::{Error, IndexRows, Result};

/// Documents whose texts are tokenised together.
const DOCUMENTS_PER_BATCH: usize = 4096;

/// What a system is trained on: labels, and texts in the form that its family reads.
#[derive(Debug)]
pub struct TextSet<T> {
    /// All labels of the documents.
    pub space: LabelSpace,
    /// The labels of each document.
    pub labels_of_documents: IndexRows,
    /// Documents without labels, which were left out.
    pub num_without_labels: u64,
    /// What became of the texts.
    pub texts: T,
    /// Seconds of wall time that tokenising took.
    pub reading_s: f64,
}

/// How a family reads the texts of its training documents.
pub trait ReadsTexts {
    /// What becomes of them.
    type Read;

    /// Learns of a document before its text is read.
    fn note(&mut self, _id: &str, _text: &str) {}

    /// Reads some texts more.
    fn push_batch(&mut self, texts: &[String]);

    /// All texts were read.
    fn finish(self) -> Result<Self::Read>;
}

/// Takes documents one by one; texts are tokenised in batches and then forgotten.
#[derive(Debug)]
pub struct TextSetBuilder<R> {
    space: LabelSpaceBuilder,
    labels_of_documents: IndexRows,
    num_without_labels: u64,
    reader: R,
    waiting_texts: Vec<String>,
    time: Duration,
}

impl<R: ReadsTexts> TextSetBuilder<R> {
    /// An empty set, whose texts `reader` reads.
    pub fn new(reader: R) -> Self {
        Self {
            space: LabelSpaceBuilder::default(),
            labels_of_documents: IndexRows::default(),
            num_without_labels: 0,
            reader,
            waiting_texts: Vec::new(),
            time: Duration::ZERO,
        }
    }

    /// Adds a document; one without labels is counted and left out.
    ///
    /// # Errors
    /// [`Error::Data`] if it has features and no text.
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
        self.reader.note(&document.id, &text);
        self.waiting_texts.push(text);
        if self.waiting_texts.len() >= DOCUMENTS_PER_BATCH {
            self.tokenize_waiting();
        }
        Ok(())
    }

    /// Completes what was read and puts the labels in order.
    ///
    /// # Errors
    /// [`Error::Data`] if there is nothing to train on.
    pub fn finish(mut self, vocabulary: &[Label]) -> Result<TextSet<R::Read>> {
        if self.labels_of_documents.num_rows() == 0 {
            return Err(match self.num_without_labels {
                0 => Error::data("there are no documents to train on"),
                count => Error::data(format!(
                    "none of the {count} documents has a label to train on"
                )),
            });
        }
        self.tokenize_waiting();
        let started = Instant::now();
        let texts = self.reader.finish()?;
        let (space, final_ids) = self.space.finish(vocabulary);
        self.labels_of_documents
            .remap(|label| final_ids[label as usize].0);
        Ok(TextSet {
            space,
            labels_of_documents: self.labels_of_documents,
            num_without_labels: self.num_without_labels,
            texts,
            reading_s: (self.time + started.elapsed()).as_secs_f64(),
        })
    }

    fn tokenize_waiting(&mut self) {
        let started = Instant::now();
        self.reader.push_batch(&self.waiting_texts);
        self.waiting_texts.clear();
        self.time += started.elapsed();
    }
}

/// Networks cannot read feature rows.
pub(crate) fn needs_text(id: &str) -> Error {
    Error::data(format!(
        "document `{id}` has features and no text, which neural systems need"
    ))
}
