//! Terms counted in a slice of documents, by one thread.

use super::parts::{PartBuffer, PartsConfig};
use super::term_table::TermTable;
use super::tokenizer::{TermRuns, Tokenizer, WordBuffer};

/// Rows of term numbers and counts, one row per document.
#[derive(Debug, Default)]
pub(super) struct CountRows {
    /// Number of entries of each row.
    pub(super) lengths: Vec<u32>,
    pub(super) ids: Vec<u32>,
    /// Held as `f32` because TF-IDF weights take their place.
    pub(super) counts: Vec<f32>,
}

/// What one thread found in its documents; `rows` use the numbers of `terms`.
#[derive(Debug, Default)]
pub(super) struct TermCounts {
    pub(super) terms: TermTable,
    pub(super) document_frequencies: Vec<u32>,
    pub(super) rows: CountRows,
}

impl TermCounts {
    /// Counts the terms in `texts`.
    pub(super) fn of(
        texts: &[impl AsRef<str>],
        tokenizer: &Tokenizer,
        runs: TermRuns,
        parts_of_words: &PartsConfig,
    ) -> Self {
        let mut found = Self::default();
        let mut words = WordBuffer::default();
        let mut parts = PartBuffer::default();
        let mut entry_ends = Vec::new();
        for text in texts {
            tokenizer.fill(text.as_ref(), &mut words);
            parts.fill(&words, parts_of_words);
            found.add_row(words.terms(runs).chain(parts.terms()), &mut entry_ends);
        }
        found
    }

    /// Appends a row. `entry_ends` knows for each term the position after its latest entry, which
    /// lies in the current row only if it is past the row's start.
    fn add_row<'a>(&mut self, terms: impl Iterator<Item = &'a str>, entry_ends: &mut Vec<usize>) {
        let row_start = self.rows.ids.len();
        for term in terms {
            let id = self.terms.intern(term);
            if id as usize == entry_ends.len() {
                entry_ends.push(0);
                self.document_frequencies.push(0);
            }
            let entry_end = entry_ends[id as usize];
            if entry_end > row_start {
                self.rows.counts[entry_end - 1] += 1.0;
            } else {
                self.rows.ids.push(id);
                self.rows.counts.push(1.0);
                entry_ends[id as usize] = self.rows.ids.len();
                self.document_frequencies[id as usize] += 1;
            }
        }
        self.rows
            .lengths
            .push((self.rows.ids.len() - row_start) as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_count_within_documents_and_frequencies_across() {
        let found = TermCounts::of(
            &["b a b", "", "a c"],
            &Tokenizer::default(),
            TermRuns::WORDS,
            &PartsConfig::default(),
        );
        assert_eq!(found.terms.terms().collect::<Vec<_>>(), ["b", "a", "c"]);
        assert_eq!(found.document_frequencies, [1, 2, 1]);
        assert_eq!(found.rows.lengths, [2, 0, 2]);
        assert_eq!(found.rows.ids, [0, 1, 1, 2]);
        assert_eq!(found.rows.counts, [2.0, 1.0, 1.0, 1.0]);
    }
}
