//! Indexes of the training documents, in which the neighbours of a text are found.

use std::path::{Path, PathBuf};

use plethora_core::artifact::{ArrayFileWriter, Dtype, MappedArray, MappedArrays};
use plethora_core::neighbours::{DenseIndex, MeanVectors, Neighbour, Queries, TermIndex};
use plethora_core::text::TfIdf;
use plethora_core::{Error, IndexRows, Result, SparseMatrix, SparseRow};

/// Name of the index in a model folder.
pub(super) const INDEX_FILE: &str = "neighbours.safetensors";
/// Name of the word vectors by which documents are compared, where they are.
pub(super) const WORDS_FILE: &str = "first_words.safetensors";

/// Array of the word vectors in their file.
const WORD_VECTORS: &str = "vectors";

/// An index, by what documents are compared.
#[derive(Debug)]
pub(super) enum NeighbourIndex {
    Terms(TermNeighbours),
    Means(MeanNeighbours),
}

/// Documents that are compared by their terms.
#[derive(Debug)]
pub(super) struct TermNeighbours {
    pub(super) index: TermIndex,
    pub(super) tfidf: Box<TfIdf>,
}

/// Documents that are compared by the means of their words' first vectors.
#[derive(Debug)]
pub(super) struct MeanNeighbours {
    index: DenseIndex,
    /// The first vectors of all words.
    words: MappedArray<f32>,
}

impl TermNeighbours {
    /// Opens the index at the path that `path_of` gives; `tfidf` makes the features of texts.
    pub(super) fn open(path_of: impl Fn(&str) -> Result<PathBuf>, tfidf: TfIdf) -> Result<Self> {
        let path = path_of(INDEX_FILE)?;
        let index = TermIndex::open(&path)?;
        if index.num_terms() != tfidf.num_features() {
            return Err(Error::model(&path, "the index is of other terms"));
        }
        let tfidf = Box::new(tfidf);
        Ok(Self { index, tfidf })
    }
}

impl MeanNeighbours {
    /// Opens the files at the paths that `path_of` gives; there are so many words.
    pub(super) fn open(
        path_of: impl Fn(&str) -> Result<PathBuf>,
        num_words: usize,
    ) -> Result<Self> {
        let index = DenseIndex::open(&path_of(INDEX_FILE)?)?;
        let path = path_of(WORDS_FILE)?;
        let words: MappedArray<f32> = MappedArrays::open(&path)?.owned(WORD_VECTORS)?;
        if words.len() != num_words * index.width() {
            return Err(Error::model(&path, "the vectors are of other words"));
        }
        Ok(Self { index, words })
    }

    /// Writes the vectors of words by which documents will be compared.
    pub(super) fn write_words(vectors: &[f32], path: &Path) -> Result<()> {
        let mut file = ArrayFileWriter::create(path)?;
        let array = file.begin(WORD_VECTORS, Dtype::F32)?;
        file.append(array, vectors)?;
        file.finish()
    }

    /// The neighbours of documents with these words.
    fn nearest(&self, sequences: &IndexRows, queries: &Queries) -> Vec<Vec<Neighbour>> {
        let means = MeanVectors {
            words: &self.words,
            width: self.index.width(),
        };
        self.index.nearest(&means.of_all(sequences), queries)
    }
}

impl NeighbourIndex {
    /// Number of training documents.
    pub(super) fn num_documents(&self) -> usize {
        match self {
            Self::Terms(terms) => terms.index.num_documents(),
            Self::Means(means) => means.index.num_documents(),
        }
    }

    /// The neighbours of documents with these features and words, whichever it compares.
    pub(super) fn nearest<'a>(
        &self,
        features: impl Iterator<Item = SparseRow<'a>>,
        words: impl Iterator<Item = &'a [u32]>,
        queries: &Queries,
    ) -> Vec<Vec<Neighbour>> {
        match self {
            Self::Terms(terms) => {
                let rows = matrix_of(features, terms.tfidf.num_features());
                terms.index.nearest(&rows, queries)
            }
            Self::Means(means) => {
                let sequences = words.map(|words| words.iter().copied()).collect();
                means.nearest(&sequences, queries)
            }
        }
    }

    /// The neighbours of texts, which are the words of `sequences`.
    pub(super) fn nearest_of_texts(
        &self,
        texts: &[impl AsRef<str> + Sync],
        sequences: &IndexRows,
        limit: usize,
    ) -> Vec<Vec<Neighbour>> {
        let queries = Queries::of_others(limit);
        match self {
            Self::Terms(terms) => terms.index.nearest(&terms.tfidf.transform(texts), &queries),
            Self::Means(means) => means.nearest(sequences, &queries),
        }
    }
}

/// Rows of features as a matrix.
pub(super) fn matrix_of<'a>(
    rows: impl Iterator<Item = SparseRow<'a>>,
    num_features: usize,
) -> SparseMatrix {
    let mut matrix = SparseMatrix::builder(num_features);
    rows.for_each(|row| matrix.push(row));
    matrix.finish()
}
