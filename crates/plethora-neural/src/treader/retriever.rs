//! The neighbours of a text among the training documents, and what they bring.

use std::path::PathBuf;

use plethora_core::artifact::ModelWriter;
use plethora_core::neighbours::{KnownDocuments, Neighbour, TermVote, shares};
use plethora_core::text::{TfIdf, Words};
use plethora_core::{Error, IndexRows, LabelId, Result};

use super::config::TReaderConfig;
use super::neighbour_index::{INDEX_FILE, NeighbourIndex, WORDS_FILE};
use super::teacher::Teacher;
use super::teacher_rows::{TeacherRow, TeacherRows};
use crate::systems::network_file::folder_of;

/// Name of what is remembered of the training documents.
pub(super) const DOCUMENTS_FILE: &str = "documents.safetensors";
/// Name of what can be read of labels and their parents.
pub(super) const TEACHER_FILE: &str = "teacher.safetensors";

/// Finds neighbours, and knows their labels.
#[derive(Debug)]
pub(crate) struct Retriever {
    index: NeighbourIndex,
    known: Known,
}

/// What is known of the training documents and their labels.
#[derive(Debug)]
pub(super) struct Known {
    documents: KnownDocuments,
    teacher: Teacher,
}

/// Why a label has the votes it has.
#[derive(Debug)]
pub(super) struct NeighbourVotes<'a> {
    /// The neighbours, the nearest first, each with its share of the votes.
    pub(super) neighbours: Vec<(Neighbour, f32)>,
    /// What the terms of the text add to the votes for the label, and what these are; absent where
    /// documents are not compared by terms.
    pub(super) terms: Option<(Vec<TermVote>, &'a TfIdf)>,
    /// Who the neighbours are.
    pub(super) documents: &'a KnownDocuments,
}

impl Known {
    /// Opens the files at the paths that `path_of` gives.
    pub(super) fn open(
        path_of: impl Fn(&str) -> Result<PathBuf>,
        words: &Words,
        num_labels: usize,
    ) -> Result<Self> {
        Ok(Self {
            documents: KnownDocuments::open(&path_of(DOCUMENTS_FILE)?, num_labels)?,
            teacher: Teacher::open(&path_of(TEACHER_FILE)?, num_labels, words.num_rows())?,
        })
    }

    /// Number of training documents.
    pub(super) fn num_documents(&self) -> usize {
        self.documents.len()
    }

    /// Who they are, and their labels.
    pub(super) fn documents(&self) -> &KnownDocuments {
        &self.documents
    }

    /// Makes rows of neighbours, to train on.
    pub(super) fn rows<'a>(&'a self, config: &'a TReaderConfig) -> TeacherRows<'a> {
        TeacherRows {
            neighbours: &config.neighbours,
            config: &config.teacher,
            documents: &self.documents,
            teacher: &self.teacher,
            has_views: false,
        }
    }

    /// Makes rows of neighbours, to rank labels by.
    pub(super) fn rows_to_rank<'a>(&'a self, config: &'a TReaderConfig) -> TeacherRows<'a> {
        TeacherRows {
            has_views: config.teacher.is_mixed(),
            ..self.rows(config)
        }
    }
}

impl Retriever {
    /// Puts together an index and what is known of its documents; `path_of` says where they are from.
    pub(super) fn new(
        index: NeighbourIndex,
        known: Known,
        path_of: impl Fn(&str) -> Result<PathBuf>,
    ) -> Result<Self> {
        if index.num_documents() != known.num_documents() {
            let path = path_of(INDEX_FILE)?;
            return Err(Error::model(&path, "the index is of other documents"));
        }
        Ok(Self { index, known })
    }

    /// Copies its files from where they were made, and what makes the features of texts.
    pub(super) fn save(
        &self,
        path_of: impl Fn(&str) -> PathBuf,
        writer: &ModelWriter,
    ) -> Result<()> {
        let mut names = vec![INDEX_FILE, DOCUMENTS_FILE, TEACHER_FILE];
        match &self.index {
            NeighbourIndex::Terms(terms) => {
                terms.tfidf.save_to(&folder_of(writer))?;
            }
            NeighbourIndex::Means(_) => names.push(WORDS_FILE),
        }
        for name in names {
            let (from, to) = (path_of(name), writer.path(name));
            if std::fs::hard_link(&from, &to).is_err() {
                std::fs::copy(&from, &to).map_err(Error::write(&to))?;
            }
        }
        Ok(())
    }

    /// What can be read of labels.
    pub(crate) fn teacher(&self) -> &Teacher {
        &self.known.teacher
    }

    /// What the neighbours of texts bring, which are the words of `sequences`.
    pub(super) fn rows_of_texts(
        &self,
        texts: &[impl AsRef<str> + Sync],
        sequences: &IndexRows,
        config: &TReaderConfig,
    ) -> Vec<TeacherRow> {
        let limit = config.neighbours.limit;
        let found = self.index.nearest_of_texts(texts, sequences, limit);
        let makes = self.known.rows_to_rank(config);
        makes.all(found.len(), |document| found[document].clone())
    }

    /// Why a label has its votes for a text, which is the words of `sequences`.
    pub(super) fn votes_of_text(
        &self,
        text: &str,
        sequences: &IndexRows,
        label: LabelId,
        config: &TReaderConfig,
    ) -> NeighbourVotes<'_> {
        let limit = config.neighbours.limit;
        let documents = &self.known.documents;
        let nearest = self.index.nearest_of_texts(&[text], sequences, limit);
        let found = nearest.into_iter().next().unwrap_or_default();
        let power = config.neighbours.votes_by();
        let has_label = |document: u32| documents.labels(document).contains(&label.0);
        let terms = match &self.index {
            NeighbourIndex::Terms(terms) => {
                let row = terms.tfidf.transform_one(text);
                let votes = terms
                    .index
                    .term_votes(row.as_row(), &found, power, has_label);
                Some((votes, terms.tfidf.as_ref()))
            }
            NeighbourIndex::Means(_) => None,
        };
        let shares = shares(&found, power);
        NeighbourVotes {
            neighbours: found.into_iter().zip(shares).collect(),
            terms,
            documents,
        }
    }
}
