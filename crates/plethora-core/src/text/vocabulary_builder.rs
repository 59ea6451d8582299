//! Collects the terms of training documents and keeps those worth keeping.

use rayon::prelude::*;

use super::parts::{PartsConfig, is_part};
use super::term_counts::{CountRows, TermCounts};
use super::term_table::TermTable;
use super::tokenizer::{TermRuns, Tokenizer};
use super::vocabulary::Vocabulary;
use crate::{Error, Hint, Message, Result};

/// In place of the final number of a term that is not kept.
pub(super) const DROPPED: u32 = u32::MAX;

/// Documents that one thread counts before its terms are merged. Larger chunks look up each
/// frequent term fewer times in the shared table, smaller ones spread better over threads.
const CHUNK_SIZES: std::ops::RangeInclusive<usize> = 64..=4096;

/// Which terms a vocabulary keeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TermSelection {
    /// Fewest documents a term must occur in.
    pub min_df: u32,
    /// Largest share of the documents a term may occur in.
    pub max_df: f64,
    /// Most terms to keep: those with the highest document frequency, and of equal ones those
    /// that come first in the order of their bytes.
    pub max_terms: Option<usize>,
    /// Fewest documents that a part of a word must occur in.
    pub min_part_df: u32,
}

/// Collects terms and their document frequencies, batch after batch.
#[derive(Debug, Clone)]
pub struct VocabularyBuilder {
    tokenizer: Tokenizer,
    runs: TermRuns,
    parts: PartsConfig,
    terms: TermTable,
    document_frequencies: Vec<u32>,
    num_documents: u64,
}

impl VocabularyBuilder {
    /// An empty collection of terms.
    pub fn new(tokenizer: Tokenizer, runs: TermRuns) -> Self {
        let (terms, document_frequencies) = (TermTable::default(), Vec::new());
        Self {
            tokenizer,
            runs,
            parts: PartsConfig::default(),
            terms,
            document_frequencies,
            num_documents: 0,
        }
    }

    /// The same with these parts of words as further terms.
    pub(super) fn with_parts(self, parts: PartsConfig) -> Self {
        Self { parts, ..self }
    }

    /// Number of documents counted.
    pub fn num_documents(&self) -> u64 {
        self.num_documents
    }

    /// Counts the terms of training documents, in parallel. Batches of some thousand documents
    /// are fastest.
    pub fn push_batch(&mut self, texts: &[impl AsRef<str> + Sync]) {
        self.count_batch(texts);
    }

    /// Counts the terms of a batch and returns its rows with provisional term numbers.
    pub(super) fn count_batch(&mut self, texts: &[impl AsRef<str> + Sync]) -> Vec<CountRows> {
        let chunks: Vec<TermCounts> = texts
            .par_chunks(chunk_size(texts.len()))
            .map(|chunk| TermCounts::of(chunk, &self.tokenizer, self.runs, &self.parts))
            .collect();
        let chunks: Vec<(CountRows, Vec<u32>)> = chunks
            .into_iter()
            .map(|chunk| {
                let TermCounts {
                    terms,
                    document_frequencies,
                    rows,
                } = chunk;
                let shared_ids = self.merge(&terms, &document_frequencies, rows.lengths.len());
                (rows, shared_ids)
            })
            .collect();
        chunks
            .into_par_iter()
            .map(|(mut rows, shared_ids)| {
                for id in &mut rows.ids {
                    *id = shared_ids[*id as usize];
                }
                rows
            })
            .collect()
    }

    /// Adds what was counted in `num_documents` documents and returns for each of `terms` its
    /// provisional number here.
    pub(super) fn merge(
        &mut self,
        terms: &TermTable,
        document_frequencies: &[u32],
        num_documents: usize,
    ) -> Vec<u32> {
        self.num_documents += num_documents as u64;
        terms
            .terms()
            .zip(document_frequencies)
            .map(|(term, frequency)| {
                let id = self.terms.intern(term);
                if id as usize == self.document_frequencies.len() {
                    self.document_frequencies.push(0);
                }
                self.document_frequencies[id as usize] += frequency;
                id
            })
            .collect()
    }

    /// Takes a document that was counted out again, by the provisional numbers of its terms, each once.
    pub(super) fn forget(&mut self, terms: impl IntoIterator<Item = u32>) {
        self.num_documents -= 1;
        for term in terms {
            self.document_frequencies[term as usize] -= 1;
        }
    }

    /// The terms that `selection` keeps.
    ///
    /// # Errors
    /// If it keeps none.
    pub fn finish(self, selection: TermSelection) -> Result<Vocabulary> {
        self.finish_with_final_ids(selection)
            .map(|(vocabulary, _)| vocabulary)
    }

    /// The terms that `selection` keeps, and for each provisional number the final one or
    /// [`DROPPED`].
    pub(super) fn finish_with_final_ids(
        self,
        selection: TermSelection,
    ) -> Result<(Vocabulary, Vec<u32>)> {
        let kept = self.select(selection);
        if kept.is_empty() {
            return Err(self.nothing_kept(selection));
        }
        let mut final_ids = vec![DROPPED; self.terms.len()];
        for (final_id, &id) in (0..).zip(&kept) {
            final_ids[id as usize] = final_id;
        }
        let terms = TermTable::from_distinct(kept.iter().map(|&id| self.terms.term(id)));
        let frequencies = kept
            .iter()
            .map(|&id| self.document_frequencies[id as usize])
            .collect();
        Ok((
            Vocabulary::new(terms, frequencies, self.num_documents),
            final_ids,
        ))
    }

    /// Provisional numbers of the kept terms, in the order of the terms.
    fn select(&self, selection: TermSelection) -> Vec<u32> {
        let max_documents = selection.max_df * self.num_documents as f64;
        let mut kept: Vec<u32> = (0..)
            .zip(&self.document_frequencies)
            .filter(|&(id, &frequency)| {
                let is_part = !self.parts.is_off() && is_part(self.terms.term(id));
                let least = if is_part {
                    selection.min_part_df
                } else {
                    selection.min_df
                };
                // Terms of forgotten documents alone are none.
                frequency >= least.max(1) && f64::from(frequency) <= max_documents
            })
            .map(|(id, _)| id)
            .collect();
        if let Some(max_terms) = selection
            .max_terms
            .filter(|&max_terms| max_terms < kept.len())
        {
            kept.par_sort_unstable_by(|&left, &right| {
                let frequency = |id: u32| self.document_frequencies[id as usize];
                frequency(right)
                    .cmp(&frequency(left))
                    .then_with(|| self.terms.term(left).cmp(self.terms.term(right)))
            });
            kept.truncate(max_terms);
        }
        kept.par_sort_unstable_by(|&left, &right| {
            self.terms.term(left).cmp(self.terms.term(right))
        });
        kept
    }

    fn nothing_kept(&self, selection: TermSelection) -> Error {
        if self.terms.len() == 0 {
            return Error::data(format!(
                "none of the {} training documents has a word in its text",
                self.num_documents
            ));
        }
        let message = Message::new(format!(
            "no term is left: none of {} terms occurs in at least {} (min_df) and at most {:.0} \
             (max_df) of {} training documents",
            self.terms.len(),
            selection.min_df,
            (selection.max_df * self.num_documents as f64).floor(),
            self.num_documents
        ));
        Error::Data(match selection.min_df {
            0 | 1 => message,
            _ => message
                .text("; ")
                .hint(Hint::setting("min_df", "1"))
                .text(" keeps rare terms"),
        })
    }
}

/// Documents of a batch that one thread counts at a time.
pub(super) fn chunk_size(num_documents: usize) -> usize {
    num_documents
        .div_ceil(4 * rayon::current_num_threads())
        .clamp(*CHUNK_SIZES.start(), *CHUNK_SIZES.end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TermId;

    const ALL: TermSelection = TermSelection {
        min_df: 1,
        max_df: 1.0,
        max_terms: None,
        min_part_df: 1,
    };

    fn vocabulary(selection: TermSelection) -> Result<Vocabulary> {
        let mut builder = VocabularyBuilder::new(Tokenizer::default(), TermRuns::WORDS);
        builder.push_batch(&["sea air", "sea air fire"]);
        builder.push_batch(&["sea earth", "Sea"]);
        builder.finish(selection)
    }

    #[test]
    fn terms_are_sorted_and_counted_over_batches() {
        let vocabulary = vocabulary(ALL).unwrap();
        assert_eq!(
            vocabulary.terms().collect::<Vec<_>>(),
            ["air", "earth", "fire", "sea"]
        );
        assert_eq!(vocabulary.document_frequencies(), [2, 1, 1, 4]);
        assert_eq!(vocabulary.num_documents(), 4);
        assert_eq!(vocabulary.id("fire"), Some(TermId(2)));
        assert_eq!(vocabulary.id("water"), None);
    }

    #[test]
    fn rare_and_frequent_terms_are_dropped_on_request() {
        let kept = |selection| {
            let vocabulary = vocabulary(selection).unwrap();
            vocabulary
                .terms()
                .map(ToOwned::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(kept(TermSelection { min_df: 2, ..ALL }), ["air", "sea"]);
        assert_eq!(
            kept(TermSelection { max_df: 0.5, ..ALL }),
            ["air", "earth", "fire"]
        );
        assert_eq!(
            kept(TermSelection {
                max_terms: Some(3),
                ..ALL
            }),
            ["air", "earth", "sea"]
        );
    }

    #[test]
    fn nothing_left_says_why() {
        let message = vocabulary(TermSelection { min_df: 9, ..ALL })
            .unwrap_err()
            .to_string();
        assert!(message.contains("at least 9 (min_df)"), "{message}");
        assert!(message.ends_with("; min_df=1 keeps rare terms"));
        let mut empty = VocabularyBuilder::new(Tokenizer::default(), TermRuns::WORDS);
        empty.push_batch(&["", "..."]);
        let message = empty.finish(ALL).unwrap_err().to_string();
        assert!(
            message.contains("none of the 2 training documents has a word"),
            "{message}"
        );
    }
}
