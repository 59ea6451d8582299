//! From a stream of documents to label rows, the label space and what a family makes of texts, in one
//! pass.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use plethora_core::corpus::{Content, Document, Label, LabelSpace, LabelSpaceBuilder};
use plethora_core::{Error, IndexRows, Result, SparseMatrix, SparseVector};
use serde::Serialize;

use super::fingerprint::Fingerprint;
use super::label_clusters::counts;
use super::validation_documents::ValidationDocuments;

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
}

/// Documents that were read, before anything is fitted to them.
#[derive(Debug)]
pub struct ReadDocuments<R> {
    /// All labels of the documents.
    pub space: LabelSpace,
    /// The labels of each document.
    pub labels_of_documents: IndexRows,
    /// Documents without labels, which were left out.
    pub num_without_labels: u64,
    /// Seconds of wall time that tokenising took.
    pub tokenising_s: f64,
    reader: R,
}

impl<R: ReadsTexts> ReadDocuments<R> {
    /// Number of documents.
    pub fn len(&self) -> usize {
        self.labels_of_documents.num_rows()
    }

    /// True without documents.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them, to train on.
    pub fn whole(self) -> Result<TextSet<R::Read>> {
        Ok(TextSet {
            space: self.space,
            labels_of_documents: self.labels_of_documents,
            num_without_labels: self.num_without_labels,
            texts: self.reader.finish()?,
        })
    }

    /// The documents that are trained on when those of `held`, which rise, are not, and these: words, frequencies
    /// and all else that is learnt of documents is of the former alone. All labels are known, also those that
    /// none of them has.
    pub fn apart(&self, held: &[u32]) -> Result<(TextSet<R::Read>, ValidationDocuments)> {
        let (texts, held_texts) = self.reader.finish_without(held)?;
        let (mut trained, mut apart) = (IndexRows::default(), IndexRows::default());
        for (document, labels) in (0..).zip(self.labels_of_documents.rows()) {
            let rows = match held.binary_search(&document) {
                Ok(_) => &mut apart,
                Err(_) => &mut trained,
            };
            rows.push(labels.iter().copied());
        }
        let counts = counts(&trained, self.space.len());
        let set = TextSet {
            space: self.space.clone().with_train_counts(counts),
            labels_of_documents: trained,
            num_without_labels: self.num_without_labels,
            texts,
        };
        Ok((set, ValidationDocuments::held_back(held_texts, apart)))
    }
}

/// How a family reads the texts of its training documents.
pub trait ReadsTexts {
    /// What becomes of them.
    type Read: Texts;

    /// Learns of a document before its text is read.
    fn note(&mut self, _id: &str, _text: &str) {}

    /// Reads some texts more.
    fn push_batch(&mut self, texts: &[String]);

    /// No texts follow.
    fn end(&mut self) {}

    /// What becomes of all of them.
    fn finish(self) -> Result<Self::Read>;

    /// What becomes of those of all documents but `held`, which rise, as if these had never been; theirs come
    /// apart, as texts that are ranked are read. Follows the end.
    fn finish_without(&self, held: &[u32]) -> Result<(Self::Read, HeldTexts)>;
}

/// Texts that are held back, as those that are trained on make them readable.
#[derive(Debug, Default)]
pub struct HeldTexts {
    /// A sequence per document.
    pub sequences: IndexRows,
    /// A row per document by which it is compared, where it is.
    pub features: Vec<SparseVector>,
}

/// Training texts as a family reads them.
pub trait Texts {
    /// What they are sequences of, and how many such are known.
    fn known(&self) -> (&'static str, u64);

    /// What was read, for people.
    fn summary(&self) -> String {
        let (reads, number) = self.known();
        format!("{number} {reads}")
    }

    /// A document as a sequence.
    fn sequence(&self, document: usize) -> &[u32];

    /// Other texts as sequences.
    fn sequences_of(&self, texts: &[String]) -> IndexRows;

    /// A row per document by which they are compared, where they are.
    fn features(&self) -> Option<&SparseMatrix> {
        None
    }

    /// Such rows of other texts.
    fn features_of(&self, _texts: &[String]) -> Option<SparseMatrix> {
        None
    }
}

/// Settings that name files with vectors or weights to start from.
pub trait NamesFiles: Serialize {
    /// The files.
    fn files(&self) -> Vec<PathBuf>;
}

impl<T: Texts> TextSet<T> {
    /// Says which data, settings and seed a run has, so that only an equal one resumes it. Choices that
    /// are left in `config` may be made anew.
    pub fn fingerprint(
        &self,
        config: &impl NamesFiles,
        valid: Option<&ValidationDocuments>,
    ) -> Result<String> {
        let mut fingerprint = Fingerprint::new(config, self.space.labels())?;
        let documents = 0..self.labels_of_documents.num_rows();
        fingerprint.add_rows(documents.map(|document| self.texts.sequence(document)));
        fingerprint.add_rows(self.labels_of_documents.rows());
        // Features tell of a text what lies behind the words that are read.
        if let Some(features) = self.texts.features() {
            fingerprint.add_features(features.rows());
        }
        if let Some(valid) = valid {
            fingerprint.add_validation(valid);
        }
        fingerprint.add_files(&config.files())?;
        Ok(fingerprint.finish())
    }
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
    pub fn finish(self, vocabulary: &[Label]) -> Result<TextSet<R::Read>> {
        self.end(vocabulary)?.whole()
    }

    /// As [`finish`](Self::finish), before anything is fitted to the documents.
    ///
    /// # Errors
    /// [`Error::Data`] if there is nothing to train on.
    pub fn end(mut self, vocabulary: &[Label]) -> Result<ReadDocuments<R>> {
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
        self.reader.end();
        self.time += started.elapsed();
        let (space, final_ids) = self.space.finish(vocabulary);
        self.labels_of_documents
            .remap(|label| final_ids[label as usize].0);
        Ok(ReadDocuments {
            space,
            labels_of_documents: self.labels_of_documents,
            num_without_labels: self.num_without_labels,
            tokenising_s: self.time.as_secs_f64(),
            reader: self.reader,
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
