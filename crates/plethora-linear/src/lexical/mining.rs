//! Which phrases go with which labels in the training documents.

use plethora_core::IndexRows;
use rayon::prelude::*;

use super::config::LearntConfig;
use super::words::{NO_WORDS, extend};

/// Phrases that are counted together; all at once would take too much memory.
const PHRASES_PER_PART: u64 = 1 << 22;

/// More parts would read the documents too often.
const MAX_PARTS: u64 = 256;

/// The training documents as phrases are counted in them.
#[derive(Debug, Clone, Copy)]
pub(super) struct CountedDocuments<'a> {
    /// The stems of each document's words, by their numbers.
    pub(super) words: &'a IndexRows,
    /// What stems are known by.
    pub(super) stems: &'a [u64],
    /// The labels of each document.
    pub(super) labels: &'a IndexRows,
}

/// How often phrases occur, and with which labels; in the order of their keys.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PhraseCounts {
    pub(super) keys: Vec<u64>,
    /// Documents with the phrase.
    pub(super) documents: Vec<u32>,
    /// Where the pairs of a phrase end.
    ends: Vec<usize>,
    /// Labels and how many documents have both.
    pairs: Vec<(u32, u32)>,
}

impl PhraseCounts {
    /// The place of a phrase.
    pub(super) fn find(&self, key: u64) -> Option<usize> {
        self.keys.binary_search(&key).ok()
    }

    /// The labels of the phrase at a place, rising, and how many documents have both.
    pub(super) fn pairs(&self, place: usize) -> &[(u32, u32)] {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.pairs[start..self.ends[place]]
    }

    fn push(&mut self, key: u64, documents: u32, pairs: &[(u32, u32)]) {
        self.keys.push(key);
        self.documents.push(documents);
        self.pairs.extend_from_slice(pairs);
        self.ends.push(self.pairs.len());
    }

    fn append(&mut self, other: Self) {
        let first = self.pairs.len();
        self.keys.extend(other.keys);
        self.documents.extend(other.documents);
        self.pairs.extend(other.pairs);
        self.ends
            .extend(other.ends.into_iter().map(|end| first + end));
    }
}

/// Counts phrases of up to `config.max_ngram` words. Kept are labels that a phrase may be a learnt name
/// of, whichever document is left out of the counts, and those of `named`: rising pairs of phrases and
/// labels that they name. Phrases in `named` are kept in any case.
pub(super) fn count(
    documents: CountedDocuments<'_>,
    named: &[(u64, u32)],
    num_labels: usize,
    config: &LearntConfig,
) -> PhraseCounts {
    let num_phrases = (documents.words.num_items() * config.max_ngram) as u64;
    let num_parts = (num_phrases / PHRASES_PER_PART).clamp(1, MAX_PARTS);
    let bits = num_parts.next_power_of_two().ilog2();
    let parts: Vec<PhraseCounts> = (0..1_u64 << bits)
        .into_par_iter()
        .map(|part| {
            let is_in_part = |key: u64| bits == 0 || key >> (u64::BITS - bits) == part;
            let first =
                named.partition_point(|&(key, _)| bits > 0 && key >> (u64::BITS - bits) < part);
            let occurrences = occurrences(documents, config.max_ngram, is_in_part);
            let mut counter = Counter {
                documents,
                named: &named[first..],
                config,
                counts: vec![0; num_labels],
                touched: Vec::new(),
            };
            counter.count(&occurrences)
        })
        .collect();
    let mut all = PhraseCounts::default();
    for part in parts {
        all.append(part);
    }
    all
}

/// Phrases of a part with the documents that have them, in order, each once.
fn occurrences(
    documents: CountedDocuments<'_>,
    max_ngram: usize,
    is_in_part: impl Fn(u64) -> bool,
) -> Vec<(u64, u32)> {
    let mut found = Vec::new();
    for (words, document) in documents.words.rows().zip(0..) {
        for first in 0..words.len() {
            let mut key = NO_WORDS;
            for &word in words[first..].iter().take(max_ngram) {
                key = extend(key, documents.stems[word as usize]);
                if is_in_part(key) {
                    found.push((key, document));
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Counts the labels of one phrase after the other.
struct Counter<'a> {
    documents: CountedDocuments<'a>,
    named: &'a [(u64, u32)],
    config: &'a LearntConfig,
    /// For each label the documents that have the phrase; 0 between phrases.
    counts: Vec<u32>,
    touched: Vec<u32>,
}

impl Counter<'_> {
    fn count(&mut self, occurrences: &[(u64, u32)]) -> PhraseCounts {
        let mut found = PhraseCounts::default();
        for phrase in occurrences.chunk_by(|left, right| left.0 == right.0) {
            let key = phrase[0].0;
            let before = self.named.partition_point(|&(named, _)| named < key);
            let here = self.named[before..].partition_point(|&(named, _)| named == key);
            let names = &self.named[before..before + here];
            self.named = &self.named[before..];
            if phrase.len() < self.config.min_documents as usize && names.is_empty() {
                continue;
            }
            let pairs = self.pairs(phrase, names);
            if !pairs.is_empty() || !names.is_empty() {
                found.push(key, phrase.len() as u32, &pairs);
            }
        }
        found
    }

    fn pairs(&mut self, phrase: &[(u64, u32)], names: &[(u64, u32)]) -> Vec<(u32, u32)> {
        for &(_, document) in phrase {
            for &label in self.documents.labels.row(document as usize) {
                let count = &mut self.counts[label as usize];
                if *count == 0 {
                    self.touched.push(label);
                }
                *count += 1;
            }
        }
        self.touched.sort_unstable();
        let mut pairs = Vec::new();
        for &label in &self.touched {
            let count = std::mem::take(&mut self.counts[label as usize]);
            // A document without the label that is left out makes the phrase stronger.
            let others = phrase.len() as u32 - u32::from(count < phrase.len() as u32);
            let is_named = || names.iter().any(|&(_, named)| named == label);
            if self.config.is_learnt(count, others) || is_named() {
                pairs.push((label, count));
            }
        }
        self.touched.clear();
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> LearntConfig {
        LearntConfig {
            max_ngram: 2,
            min_documents: 2,
            min_strength: 0.4,
            shrinkage: 1.0,
        }
    }

    fn rows(rows: &[&[u32]]) -> IndexRows {
        let mut all = IndexRows::default();
        for row in rows {
            all.push(row.iter().copied());
        }
        all
    }

    #[test]
    fn phrases_are_counted_once_per_document_and_kept_where_they_are_strong() {
        let stems = [10, 20, 30];
        let words = rows(&[&[0, 1, 0, 1], &[0, 1], &[0, 2], &[2]]);
        let labels = rows(&[&[5, 6], &[5], &[7], &[7]]);
        let documents = CountedDocuments {
            words: &words,
            stems: &stems,
            labels: &labels,
        };
        let key = |words: &[u64]| words.iter().fold(NO_WORDS, |key, &word| extend(key, word));
        let mut named = vec![(key(&[20]), 6), (key(&[30, 10]), 0), (key(&[20, 10]), 3)];
        named.sort_unstable();
        let counts = count(documents, &named, 8, &config());
        let found = |words: &[u64]| {
            let place = counts.find(key(words))?;
            Some((counts.documents[place], counts.pairs(place).to_vec()))
        };
        assert_eq!(found(&[10]), Some((3, vec![(5, 2)])));
        assert_eq!(found(&[10, 20]), Some((2, vec![(5, 2)])));
        assert_eq!(found(&[20]), Some((2, vec![(5, 2), (6, 1)])));
        assert_eq!(found(&[30]), Some((2, vec![(7, 2)])));
        // In one document only, but a name; its label is not among the document's.
        assert_eq!(found(&[20, 10]), Some((1, vec![])));
        assert_eq!(found(&[10, 30]), None);
        assert_eq!(found(&[30, 10]), None);
        assert!(counts.keys.is_sorted());
    }
}
