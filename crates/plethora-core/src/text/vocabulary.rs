//! The terms of a training set.

use super::term_table::TermTable;
use crate::TermId;

/// Terms with their document frequencies, numbered in the order of their UTF-8 bytes.
///
/// Made by a [`VocabularyBuilder`](super::VocabularyBuilder).
#[derive(Debug, Clone)]
pub struct Vocabulary {
    terms: TermTable,
    document_frequencies: Vec<u32>,
    num_documents: u64,
}

impl Vocabulary {
    pub(super) fn new(
        terms: TermTable,
        document_frequencies: Vec<u32>,
        num_documents: u64,
    ) -> Self {
        assert_eq!(terms.len(), document_frequencies.len());
        Self {
            terms,
            document_frequencies,
            num_documents,
        }
    }

    /// Number of terms.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// True without any term.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The term with this id; an n-gram has single spaces between its words.
    ///
    /// # Panics
    /// If the id is not below [`len`](Self::len).
    pub fn term(&self, id: TermId) -> &str {
        self.terms.term(id.0)
    }

    /// The id of a term, spelt as the tokenizer spells it.
    pub fn id(&self, term: &str) -> Option<TermId> {
        self.terms.get(term).map(TermId)
    }

    /// All terms in the order of their ids.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = &str> {
        self.terms.terms()
    }

    /// Number of training documents with each term.
    pub fn document_frequencies(&self) -> &[u32] {
        &self.document_frequencies
    }

    /// Number of training documents.
    pub fn num_documents(&self) -> u64 {
        self.num_documents
    }
}
