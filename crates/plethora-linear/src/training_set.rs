//! From a stream of documents to feature rows, label rows and the label space, in one pass.

use std::time::{Duration, Instant};

use plethora_core::corpus::{Content, Document, Label, LabelSpace, LabelSpaceBuilder};
use plethora_core::text::{TfIdf, TfIdfBuilder, TfIdfConfig};
use plethora_core::{Announced, Error, IndexRows, Result, SparseMatrix, SparseVector};

/// Documents whose texts are tokenised together.
const DOCUMENTS_PER_BATCH: usize = 4096;

/// Training holds rows of one number per feature, a few for each thread: 1 GiB each at this size.
const MAX_FEATURES: usize = 1 << 28;

/// What a linear system is trained on.
#[derive(Debug)]
pub struct TrainingSet {
    /// One row of unit length per document.
    pub features: SparseMatrix,
    /// The labels of each document.
    pub labels_of_documents: IndexRows,
    /// All labels of the documents.
    pub space: LabelSpace,
    /// How texts became features; absent where the corpus brought features of its own.
    pub tfidf: Option<TfIdf>,
    /// Documents without labels, which were left out.
    pub num_without_labels: u64,
    /// Seconds of wall time that turning texts into features took.
    pub features_s: f64,
}

impl AsRef<Self> for TrainingSet {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// Takes documents one by one; texts are tokenised in batches and then forgotten.
pub struct TrainingSetBuilder {
    space: LabelSpaceBuilder,
    labels_of_documents: IndexRows,
    num_without_labels: u64,
    text: TfIdfBuilder,
    waiting_texts: Vec<String>,
    rows: Vec<SparseVector>,
    num_texts: u64,
    features_time: Duration,
}

impl TrainingSetBuilder {
    /// An empty set whose texts will become features as `text` says.
    pub fn new(text: TfIdfConfig) -> Result<Self> {
        Ok(Self {
            space: LabelSpaceBuilder::default(),
            labels_of_documents: IndexRows::default(),
            num_without_labels: 0,
            text: TfIdfBuilder::new(text)?,
            waiting_texts: Vec::new(),
            rows: Vec::new(),
            num_texts: 0,
            features_time: Duration::ZERO,
        })
    }

    /// Adds a document; one without labels is counted and left out.
    pub fn add(&mut self, document: Document) -> Result<()> {
        if document.labels.is_empty() {
            self.num_without_labels += 1;
            return Ok(());
        }
        let labels = self.space.add(&document);
        self.labels_of_documents.push(labels);
        match document.content {
            Content::Text(text) => {
                self.num_texts += 1;
                self.waiting_texts.push(text);
                if self.waiting_texts.len() >= DOCUMENTS_PER_BATCH {
                    self.tokenize_waiting();
                }
            }
            Content::Features(features) => self.rows.push(features),
        }
        if self.num_texts > 0 && !self.rows.is_empty() {
            return Err(Error::Data(
                "some documents have text and others only features".into(),
            ));
        }
        Ok(())
    }

    /// Number of documents with labels so far.
    pub fn num_documents(&self) -> usize {
        self.labels_of_documents.num_rows()
    }

    /// Fits the features and puts the labels in order. Documents with features of their own have
    /// `num_features` of them, or as many as occur.
    pub fn finish(
        mut self,
        vocabulary: &[Label],
        num_features: Option<usize>,
    ) -> Result<TrainingSet> {
        if self.labels_of_documents.num_rows() == 0 {
            return Err(Error::data(match self.num_without_labels {
                0 => "there are no documents to train on".to_owned(),
                count => format!("none of the {count} documents has a label to train on"),
            }));
        }
        self.tokenize_waiting();
        let started = Instant::now();
        let (features, tfidf) = if self.rows.is_empty() {
            let (tfidf, features) = self.text.finish()?;
            (features, Some(tfidf))
        } else {
            (matrix(&self.rows, num_features)?, None)
        };
        let fitting_time = started.elapsed();
        if features.num_entries() == 0 {
            return Err(Error::Data("no document with labels has a feature".into()));
        }
        let (space, final_ids) = self.space.finish(vocabulary);
        self.labels_of_documents
            .remap(|label| final_ids[label as usize].0);
        Ok(TrainingSet {
            features,
            labels_of_documents: self.labels_of_documents,
            space,
            tfidf,
            num_without_labels: self.num_without_labels,
            features_s: (self.features_time + fitting_time).as_secs_f64(),
        })
    }

    fn tokenize_waiting(&mut self) {
        let started = Instant::now();
        self.text.push_batch(&self.waiting_texts);
        self.waiting_texts.clear();
        self.features_time += started.elapsed();
    }
}

fn matrix(rows: &[SparseVector], num_features: Option<usize>) -> Result<SparseMatrix> {
    let occurring = rows.iter().filter_map(|row| row.columns.last()).max();
    let needed = occurring.map_or(0, |&column| column as usize + 1);
    let num_columns = num_features.unwrap_or(needed).max(needed);
    if num_columns > MAX_FEATURES {
        return Err(Error::data(format!(
            "{num_columns} features are too many, expected at most {MAX_FEATURES}; \
             number those that occur without gaps"
        )));
    }
    let num_values = rows.iter().map(|row| row.columns.len()).sum();
    if Announced::new(num_columns as u64)
        .believed(num_values)
        .is_none()
    {
        return Err(Error::data(format!(
            "{num_columns} features are too many where documents have {num_values} values in all; \
             number those that occur without gaps"
        )));
    }
    let mut builder = SparseMatrix::builder(num_columns);
    for row in rows {
        builder.push(row.as_row());
    }
    let mut matrix = builder.finish();
    matrix.normalize_rows();
    Ok(matrix)
}
