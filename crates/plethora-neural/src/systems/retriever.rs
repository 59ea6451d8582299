//! The neighbours of a text among the training documents, and what they bring.

use std::path::{Path, PathBuf};

use plethora_core::artifact::{ArrayFileWriter, Dtype, MappedArray, MappedArrays, ModelWriter};
use plethora_core::neighbours::{
    DenseIndex, KnownDocuments, MeanVectors, Neighbour, Queries, TermIndex, TermVote, shares,
};
use plethora_core::text::{TfIdf, Words};
use plethora_core::{Error, IndexRows, LabelId, SparseMatrix};

use crate::Result;
use crate::treader::{TReaderConfig, Teacher, TeacherRow, TeacherRows};

/// Name of the index in a model folder.
pub(super) const INDEX_FILE: &str = "neighbours.safetensors";
/// Name of what is remembered of the training documents.
pub(super) const DOCUMENTS_FILE: &str = "documents.safetensors";
/// Name of what can be read of labels and their parents.
pub(super) const TEACHER_FILE: &str = "teacher.safetensors";
/// Name of the word vectors by which documents are compared, where they are.
pub(super) const WORDS_FILE: &str = "first_words.safetensors";

/// Array of the word vectors in their file.
const WORD_VECTORS: &str = "vectors";

/// Finds neighbours, and knows their labels.
#[derive(Debug)]
pub(crate) struct Retriever {
    index: NeighbourIndex,
    documents: KnownDocuments,
    teacher: Teacher,
}

/// By what documents are compared.
#[derive(Debug)]
enum NeighbourIndex {
    Terms {
        index: TermIndex,
        tfidf: Box<TfIdf>,
    },
    Means {
        index: DenseIndex,
        /// The first vectors of all words.
        words: MappedArray<f32>,
    },
}

/// Documents that ask for neighbours.
#[derive(Clone, Copy)]
pub(super) enum Asking<'a> {
    Rows(&'a SparseMatrix),
    Sequences(&'a IndexRows),
}

/// Why a label has the votes it has.
#[derive(Debug)]
pub struct NeighbourVotes<'a> {
    /// The neighbours, the nearest first, each with its share of the votes.
    pub neighbours: Vec<(Neighbour, f32)>,
    /// What the terms of the text add to the votes for the label; none where documents are not
    /// compared by terms.
    pub terms: Vec<TermVote>,
    /// Who the neighbours are.
    pub documents: &'a KnownDocuments,
    /// What the terms are.
    pub tfidf: Option<&'a TfIdf>,
}

impl Retriever {
    /// Opens the files at the paths that `path_of` gives; texts are compared by the features that
    /// `tfidf` makes, or without it by the vectors of `words`.
    pub(super) fn open(
        (words, tfidf): (&Words, Option<TfIdf>),
        num_labels: usize,
        path_of: impl Fn(&str) -> plethora_core::Result<PathBuf>,
    ) -> Result<Self> {
        let documents = KnownDocuments::open(&path_of(DOCUMENTS_FILE)?, num_labels)?;
        let index_path = path_of(INDEX_FILE)?;
        let (index, num_documents) = if let Some(tfidf) = tfidf {
            let index = TermIndex::open(&index_path)?;
            if index.num_terms() != tfidf.num_features() {
                return Err(Error::model(&index_path, "the index is of other terms").into());
            }
            let count = index.num_documents();
            let tfidf = Box::new(tfidf);
            (NeighbourIndex::Terms { index, tfidf }, count)
        } else {
            let index = DenseIndex::open(&index_path)?;
            let path = path_of(WORDS_FILE)?;
            let vectors: MappedArray<f32> = MappedArrays::open(&path)?.owned(WORD_VECTORS)?;
            if vectors.len() != words.num_rows() * index.width() {
                return Err(Error::model(&path, "the vectors are of other words").into());
            }
            let count = index.num_documents();
            let words = vectors;
            (NeighbourIndex::Means { index, words }, count)
        };
        if num_documents != documents.len() {
            return Err(Error::model(&index_path, "the index is of other documents").into());
        }
        let teacher = Teacher::open(&path_of(TEACHER_FILE)?, num_labels, words.num_rows())?;
        Ok(Self {
            index,
            documents,
            teacher,
        })
    }

    /// Writes the vectors of words by which documents will be compared.
    pub(super) fn write_words(vectors: &[f32], path: &Path) -> Result<()> {
        let mut file = ArrayFileWriter::create(path)?;
        let array = file.begin(WORD_VECTORS, Dtype::F32)?;
        file.append(array, vectors)?;
        file.finish()?;
        Ok(())
    }

    /// Copies its files from where they were made, and what makes the features of texts.
    pub(super) fn save(
        &self,
        path_of: impl Fn(&str) -> PathBuf,
        writer: &ModelWriter,
        folder: &Path,
    ) -> Result<()> {
        let mut names = vec![INDEX_FILE, DOCUMENTS_FILE, TEACHER_FILE];
        match &self.index {
            NeighbourIndex::Terms { tfidf, .. } => {
                tfidf.save_to(folder)?;
            }
            NeighbourIndex::Means { .. } => names.push(WORDS_FILE),
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
        &self.teacher
    }

    /// Number of training documents.
    pub(super) fn num_documents(&self) -> usize {
        self.documents.len()
    }

    /// The neighbours of documents.
    pub(super) fn nearest(&self, asking: Asking<'_>, queries: &Queries) -> Vec<Vec<Neighbour>> {
        match (&self.index, asking) {
            (NeighbourIndex::Terms { index, .. }, Asking::Rows(rows)) => {
                index.nearest(rows, queries)
            }
            (NeighbourIndex::Means { index, words }, Asking::Sequences(sequences)) => {
                let means = MeanVectors {
                    words,
                    width: index.width(),
                };
                index.nearest(&means.of_all(sequences), queries)
            }
            _ => unreachable!("documents ask in the form that they are compared in"),
        }
    }

    /// The neighbours of texts, which are the words of `sequences`.
    fn nearest_of_texts(
        &self,
        texts: &[impl AsRef<str> + Sync],
        sequences: &IndexRows,
        limit: usize,
    ) -> Vec<Vec<Neighbour>> {
        let queries = Queries::of_others(limit);
        match &self.index {
            NeighbourIndex::Terms { tfidf, .. } => {
                self.nearest(Asking::Rows(&tfidf.transform(texts)), &queries)
            }
            NeighbourIndex::Means { .. } => self.nearest(Asking::Sequences(sequences), &queries),
        }
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

    /// What the neighbours of texts bring, which are the words of `sequences`.
    pub(super) fn rows_of_texts(
        &self,
        texts: &[impl AsRef<str> + Sync],
        sequences: &IndexRows,
        config: &TReaderConfig,
    ) -> Vec<TeacherRow> {
        let found = self.nearest_of_texts(texts, sequences, config.neighbours.limit);
        self.rows_to_rank(config)
            .all(found.len(), |document| found[document].clone())
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
        let found = self.nearest_of_texts(&[text], sequences, limit).remove(0);
        let power = config.neighbours.power;
        let has_label = |document: u32| self.documents.labels(document).contains(&label.0);
        let (terms, tfidf) = match &self.index {
            NeighbourIndex::Terms { index, tfidf } => {
                let row = tfidf.transform_one(text);
                let terms = index.term_votes(row.as_row(), &found, power, has_label);
                (terms, Some(tfidf.as_ref()))
            }
            NeighbourIndex::Means { .. } => (Vec::new(), None),
        };
        let shares = shares(&found, power);
        NeighbourVotes {
            neighbours: found.into_iter().zip(shares).collect(),
            terms,
            documents: &self.documents,
            tfidf,
        }
    }
}
