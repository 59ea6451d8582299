//! The fitted transformer from text to TF-IDF rows.

use rayon::prelude::*;

use super::parts::{PartBuffer, is_part};
use super::tfidf_config::TfIdfConfig;
use super::tokenizer::{Tokenizer, WordBuffer};
use super::vocabulary::Vocabulary;
use crate::{SparseMatrix, SparseRow, SparseVector, TermId};

/// Documents that one thread turns into rows at a time.
const CHUNK_SIZE: usize = 256;

/// Turns texts into rows of unit length with one column per term, with what it learnt from training
/// documents. The weights are those of scikit-learn's `TfidfVectorizer`.
///
/// Made by a [`TfIdfBuilder`](super::TfIdfBuilder).
#[derive(Debug, Clone)]
pub struct TfIdf {
    config: TfIdfConfig,
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
    idf: Vec<f32>,
    /// Whether each term is a part of words; empty where no words are taken apart.
    are_parts: Vec<bool>,
}

impl TfIdf {
    pub(super) fn new(config: TfIdfConfig, vocabulary: Vocabulary) -> Self {
        let num_documents = vocabulary.num_documents() as f64;
        // One imagined document with every term keeps the quotient finite and above one.
        let idf = vocabulary
            .document_frequencies()
            .iter()
            .map(|&df| (((1.0 + num_documents) / (1.0 + f64::from(df))).ln() + 1.0) as f32)
            .collect();
        let are_parts = if config.parts.is_off() {
            Vec::new()
        } else {
            vocabulary.terms().map(is_part).collect()
        };
        Self {
            tokenizer: Tokenizer::new(config.tokenizer.clone()),
            config,
            vocabulary,
            idf,
            are_parts,
        }
    }

    /// The settings it was fitted with.
    pub fn config(&self) -> &TfIdfConfig {
        &self.config
    }

    /// The tokenizer that finds its words.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Its terms.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Number of columns.
    pub fn num_features(&self) -> usize {
        self.vocabulary.len()
    }

    /// The term of a column.
    pub fn term(&self, id: TermId) -> &str {
        self.vocabulary.term(id)
    }

    /// `ln((1 + n) / (1 + df)) + 1` of each term, where `df` of `n` training documents have it.
    pub fn idf(&self) -> &[f32] {
        &self.idf
    }

    /// The rows of `texts` in their order, computed in parallel.
    pub fn transform(&self, texts: &[impl AsRef<str> + Sync]) -> SparseMatrix {
        let chunks: Vec<SparseMatrix> = texts
            .par_chunks(CHUNK_SIZE)
            .map(|chunk| {
                let mut builder = SparseMatrix::builder(self.num_features());
                let mut scratch = Scratch::default();
                for text in chunk {
                    builder.push(self.row_of(text.as_ref(), &mut scratch));
                }
                builder.finish()
            })
            .collect();
        let mut builder = SparseMatrix::builder(self.num_features());
        for chunk in chunks {
            for row in chunk.rows() {
                builder.push(row);
            }
        }
        builder.finish()
    }

    /// The row of one text.
    pub fn transform_one(&self, text: &str) -> SparseVector {
        let mut scratch = Scratch::default();
        self.row_of(text, &mut scratch);
        SparseVector {
            columns: scratch.columns,
            values: scratch.values,
        }
    }

    fn row_of<'a>(&self, text: &str, scratch: &'a mut Scratch) -> SparseRow<'a> {
        let Scratch {
            words,
            parts,
            ids,
            columns,
            values,
            ..
        } = scratch;
        self.tokenizer.fill(text, words);
        parts.fill(words, &self.config.parts);
        ids.clear();
        let known = words.terms(self.config.runs()).chain(parts.terms());
        ids.extend(known.filter_map(|term| self.vocabulary.id(term)));
        ids.sort_unstable();
        columns.clear();
        values.clear();
        for occurrences in ids.chunk_by(|left, right| left == right) {
            columns.push(occurrences[0].0);
            values.push(occurrences.len() as f32);
        }
        self.weigh(columns, values, &mut scratch.weights);
        SparseRow { columns, values }
    }

    /// Replaces counts by weights of unit length. Columns must rise: the order of the sum decides
    /// the last bits of the length, and training and prediction must agree on them.
    pub(super) fn weigh(&self, columns: &[u32], counts: &mut [f32], weights: &mut Vec<f64>) {
        weights.clear();
        weights.extend(columns.iter().zip(counts.iter()).map(|(&column, &count)| {
            let count = f64::from(count);
            let is_damped = self.config.sublinear && count > 1.0;
            let tf = if is_damped { 1.0 + count.ln() } else { count };
            tf * f64::from(self.idf[column as usize])
        }));
        self.balance(columns, weights);
        let length = weights
            .iter()
            .map(|weight| weight * weight)
            .sum::<f64>()
            .sqrt();
        for (count, weight) in counts.iter_mut().zip(weights) {
            *count = (*weight / length) as f32;
        }
    }

    /// Gives parts of words, which are many, together the weight that the settings say.
    fn balance(&self, columns: &[u32], weights: &mut [f64]) {
        if self.are_parts.is_empty() {
            return;
        }
        let mut squares = [0.0; 2];
        for (&column, weight) in columns.iter().zip(weights.iter()) {
            squares[usize::from(self.are_parts[column as usize])] += weight * weight;
        }
        let [words, parts] = squares;
        if words == 0.0 || parts == 0.0 {
            return;
        }
        let factor = self.config.parts.weight * (words / parts).sqrt();
        for (&column, weight) in columns.iter().zip(weights) {
            if self.are_parts[column as usize] {
                *weight *= factor;
            }
        }
    }
}

/// Buffers that one thread uses for all of its documents.
#[derive(Debug, Default)]
struct Scratch {
    words: WordBuffer,
    parts: PartBuffer,
    ids: Vec<TermId>,
    columns: Vec<u32>,
    values: Vec<f32>,
    weights: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::super::{PartsConfig, TfIdfBuilder};
    use super::*;

    fn fitted(config: TfIdfConfig, texts: &[&str]) -> (TfIdf, SparseMatrix) {
        let mut builder = TfIdfBuilder::new(config).unwrap();
        builder.push_batch(texts);
        builder.finish().unwrap()
    }

    #[test]
    fn unknown_terms_leave_an_empty_row() {
        let (tfidf, _) = fitted(TfIdfConfig::default(), &["sea air", "sea air"]);
        assert!(tfidf.transform_one("fire, earth").columns.is_empty());
        assert!(tfidf.transform_one("").columns.is_empty());
        let matrix = tfidf.transform(&["", "sea"]);
        assert_eq!((matrix.num_rows(), matrix.num_entries()), (2, 1));
        assert_eq!(matrix.row(1).values, [1.0]);
    }

    #[test]
    fn pairs_of_words_are_terms_on_request() {
        let config = TfIdfConfig {
            max_ngram: 2,
            ..TfIdfConfig::default()
        };
        let (tfidf, _) = fitted(config, &["the sea air", "sea air, the"]);
        let terms: Vec<_> = tfidf.vocabulary().terms().collect();
        assert_eq!(terms, ["air", "sea", "sea air", "the"]);
        assert_eq!(tfidf.transform_one("Sea air").columns, [0, 1, 2]);
    }

    #[test]
    fn parts_of_words_are_terms_on_request_and_weigh_as_much_as_they_shall() {
        let parts = PartsConfig {
            weight: 0.5,
            ..PartsConfig::default()
        };
        let config = TfIdfConfig {
            parts,
            ..TfIdfConfig::default()
        };
        let texts = ["sea waters", "sea water", "sea"];
        let (tfidf, matrix) = fitted(config, &texts);
        let terms: Vec<_> = tfidf.vocabulary().terms().collect();
        // The ends of "waters" and "water" are parts of one document each.
        assert_eq!(terms, ["*ate*", "sea", "wat*", "wate*"]);
        let row = tfidf.transform_one(texts[0]);
        assert_eq!(matrix.row(0).values, row.values);
        let length = |wanted: bool| {
            let entries = row.columns.iter().zip(&row.values);
            let squares = entries
                .filter(|&(&column, _)| is_part(tfidf.term(TermId(column))) == wanted)
                .map(|(_, value)| value * value);
            squares.sum::<f32>().sqrt()
        };
        assert!((length(true) / length(false) - 0.5).abs() < 1e-6);
        let only_parts = tfidf.transform_one("waterfall");
        assert!(!only_parts.columns.is_empty());
    }

    #[test]
    fn repeated_terms_are_damped_only_on_request() {
        let ratio = |sublinear| {
            let config = TfIdfConfig {
                sublinear,
                ..TfIdfConfig::default()
            };
            let (tfidf, _) = fitted(config, &["sea air", "sea air"]);
            let row = tfidf.transform_one("sea sea sea air");
            row.values[1] / row.values[0]
        };
        assert!((ratio(false) - 3.0).abs() < 1e-6);
        assert!((ratio(true) - (1.0 + 3.0_f32.ln())).abs() < 1e-6);
    }
}
