//! The training documents, in which those near a text are found by vectors and by terms.

use std::path::PathBuf;

use plethora_core::artifact::WorkFolder;
use plethora_core::neighbours::{DenseIndex, KnownDocuments, Neighbour, Queries, TermIndex};
use plethora_core::{Error, Result, SparseMatrix};

use super::training_set::DenseSet;
use super::vectors::Vectors;

/// Name of the vectors of the training documents in a model folder.
pub(super) const VECTORS_FILE: &str = "vectors.safetensors";

/// Name of the index of their terms.
pub(super) const TERMS_FILE: &str = "terms.safetensors";

/// Name of what is remembered of them.
pub(super) const DOCUMENTS_FILE: &str = "documents.safetensors";

/// Training documents that can be asked for.
#[derive(Debug)]
pub(super) struct Indexes {
    pub(super) vectors: DenseIndex,
    pub(super) terms: TermIndex,
    pub(super) documents: KnownDocuments,
}

/// Documents that ask for those near them.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) features: SparseMatrix,
    pub(super) vectors: Vectors,
}

impl Indexes {
    /// Writes what `work` does not hold yet.
    pub(super) fn write(set: &DenseSet, work: &WorkFolder) -> Result<()> {
        let labels = &set.set.labels_of_documents;
        if !work.contains(DOCUMENTS_FILE) {
            let all = 0..labels.num_rows();
            KnownDocuments::write(&work.path(DOCUMENTS_FILE), &set.names, labels, all)?;
        }
        if !work.contains(VECTORS_FILE) {
            let vectors = &set.vectors;
            let path = work.path(VECTORS_FILE);
            DenseIndex::write_halves(vectors.bits(), vectors.width(), &path)?;
        }
        if !work.contains(TERMS_FILE) {
            TermIndex::write(&set.set.features, &work.path(TERMS_FILE))?;
        }
        Ok(())
    }

    /// Opens the files at the paths that `path_of` gives, of vectors of `width` numbers, so many terms and
    /// so many labels.
    pub(super) fn open(
        path_of: impl Fn(&str) -> Result<PathBuf>,
        width: usize,
        num_terms: usize,
        num_labels: usize,
    ) -> Result<Self> {
        let path = path_of(DOCUMENTS_FILE)?;
        let indexes = Self {
            vectors: DenseIndex::open(&path_of(VECTORS_FILE)?)?,
            terms: TermIndex::open(&path_of(TERMS_FILE)?)?,
            documents: KnownDocuments::open(&path, num_labels)?,
        };
        let num_documents = indexes.documents.len();
        let fits = indexes.vectors.width() == width
            && indexes.vectors.num_documents() == num_documents
            && indexes.terms.num_terms() == num_terms
            && indexes.terms.num_documents() == num_documents;
        if fits {
            Ok(indexes)
        } else {
            let message = "the documents are others than those of vectors and terms";
            Err(Error::model(&path, message))
        }
    }

    /// The nearest training documents of each that asks, so many by vectors and so many by terms.
    pub(super) fn nearest(&self, asked: &Asked, limits: [usize; 2]) -> Vec<[Vec<Neighbour>; 2]> {
        let [by_vectors, by_terms] = limits.map(Queries::of_others);
        let by_vectors = match by_vectors.limit {
            0 => Vec::new(),
            _ => (self.vectors).nearest(&asked.vectors.to_f32(), &by_vectors),
        };
        let by_terms = match by_terms.limit {
            0 => Vec::new(),
            _ => self.terms.nearest(&asked.features, &by_terms),
        };
        let (mut by_vectors, mut by_terms) = (by_vectors.into_iter(), by_terms.into_iter());
        (0..asked.vectors.len())
            .map(|_| [by_vectors.next(), by_terms.next()].map(Option::unwrap_or_default))
            .collect()
    }

    /// The nearest others of training documents with these numbers, each without itself.
    pub(super) fn nearest_others(
        &self,
        asked: &Asked,
        own: &[u32],
        limits: [usize; 2],
    ) -> Vec<[Vec<Neighbour>; 2]> {
        let one_more = |limit: usize| if limit == 0 { 0 } else { limit + 1 };
        let mut found = self.nearest(asked, limits.map(one_more));
        for (both, &own) in found.iter_mut().zip(own) {
            for (neighbours, limit) in both.iter_mut().zip(limits) {
                neighbours.retain(|neighbour| neighbour.document != own);
                neighbours.truncate(limit);
            }
        }
        found
    }
}
