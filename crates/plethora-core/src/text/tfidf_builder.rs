//! Fits TF-IDF and makes the training matrix in one pass over the texts.

use rayon::prelude::*;

use super::term_counts::CountRows;
use super::tfidf::TfIdf;
use super::tfidf_config::TfIdfConfig;
use super::tokenizer::Tokenizer;
use super::vocabulary_builder::{DROPPED, VocabularyBuilder};
use crate::{Result, SparseMatrix};

/// Rows that one thread weighs at a time.
const ROWS_PER_TASK: usize = 1024;

/// Reads training texts once and gives the fitted [`TfIdf`] and the rows of these texts.
///
/// While reading it holds eight bytes for each different term of a document, which is what the
/// matrix needs that takes their place in the same memory, and the terms themselves. The result
/// is the same for any number of threads and any batches.
///
/// ```
/// use plethora_core::text::{TfIdfBuilder, TfIdfConfig};
///
/// let mut builder = TfIdfBuilder::new(TfIdfConfig::default())?;
/// builder.push_batch(&["red apples", "green apples"]);
/// builder.push_batch(&["green tea"]);
/// let (tfidf, matrix) = builder.finish()?;
/// assert_eq!(tfidf.num_features(), 2); // "apples" and "green" occur twice
/// assert_eq!(matrix.num_rows(), 3);
/// # Ok::<(), plethora_core::Error>(())
/// ```
#[derive(Debug)]
pub struct TfIdfBuilder {
    config: TfIdfConfig,
    vocabulary: VocabularyBuilder,
    rows: CountedRows,
}

/// Documents as provisional term numbers and counts, one row behind the other.
#[derive(Debug)]
struct CountedRows {
    row_starts: Vec<usize>,
    ids: Vec<u32>,
    counts: Vec<f32>,
}

impl TfIdfBuilder {
    /// A builder without documents.
    ///
    /// # Errors
    /// If the settings cannot work.
    pub fn new(config: TfIdfConfig) -> Result<Self> {
        config.validate()?;
        let tokenizer = Tokenizer::new(config.tokenizer.clone());
        let vocabulary = VocabularyBuilder::new(tokenizer, config.runs()).with_parts(config.parts);
        Ok(Self {
            config,
            vocabulary,
            rows: CountedRows::new(),
        })
    }

    /// Number of documents read.
    pub fn num_documents(&self) -> u64 {
        self.vocabulary.num_documents()
    }

    /// Adds training documents, in parallel. Batches of some thousand documents are fastest.
    pub fn push_batch(&mut self, texts: &[impl AsRef<str> + Sync]) {
        for rows in self.vocabulary.count_batch(texts) {
            self.rows.append(&rows);
        }
    }

    /// The fitted transformer, and the matrix with one row per document in the order of the
    /// batches.
    ///
    /// # Errors
    /// If no term is left after pruning.
    pub fn finish(self) -> Result<(TfIdf, SparseMatrix)> {
        let (tfidf, final_ids) = fit(self.config, self.vocabulary)?;
        let matrix = self.rows.weigh(&tfidf, &final_ids)?;
        Ok((tfidf, matrix))
    }

    /// As [`finish`](Self::finish), of all documents but those of `held`, which rise: these are as if they
    /// had never been read. Their rows, by the terms of the others, come last.
    ///
    /// # Errors
    /// If no term is left after pruning.
    pub fn finish_without(&self, held: &[u32]) -> Result<(TfIdf, SparseMatrix, SparseMatrix)> {
        let mut vocabulary = self.vocabulary.clone();
        let (mut others, mut apart) = (CountedRows::new(), CountedRows::new());
        for document in 0..self.rows.len() {
            let (ids, counts) = self.rows.row(document);
            if held.binary_search(&(document as u32)).is_err() {
                others.push(ids, counts);
            } else {
                vocabulary.forget(ids.iter().copied());
                apart.push(ids, counts);
            }
        }
        let (tfidf, final_ids) = fit(self.config.clone(), vocabulary)?;
        let others = others.weigh(&tfidf, &final_ids)?;
        let apart = apart.weigh(&tfidf, &final_ids)?;
        Ok((tfidf, others, apart))
    }
}

impl CountedRows {
    fn new() -> Self {
        Self {
            row_starts: vec![0],
            ids: Vec::new(),
            counts: Vec::new(),
        }
    }

    fn len(&self) -> usize {
        self.row_starts.len() - 1
    }

    fn row(&self, document: usize) -> (&[u32], &[f32]) {
        let range = self.row_starts[document]..self.row_starts[document + 1];
        (&self.ids[range.clone()], &self.counts[range])
    }

    fn push(&mut self, ids: &[u32], counts: &[f32]) {
        self.ids.extend_from_slice(ids);
        self.counts.extend_from_slice(counts);
        self.row_starts.push(self.ids.len());
    }

    fn append(&mut self, rows: &CountRows) {
        let mut end = self.ids.len();
        self.ids.extend_from_slice(&rows.ids);
        self.counts.extend_from_slice(&rows.counts);
        self.row_starts.extend(rows.lengths.iter().map(|&length| {
            end += length as usize;
            end
        }));
    }

    /// The rows by the terms that are kept, weighted in the same memory.
    fn weigh(self, tfidf: &TfIdf, final_ids: &[u32]) -> Result<SparseMatrix> {
        let Self {
            mut row_starts,
            mut ids,
            mut counts,
        } = self;
        let kept_lengths = weigh_rows(tfidf, final_ids, &row_starts, &mut ids, &mut counts);
        close_gaps(&kept_lengths, &mut row_starts, &mut ids, &mut counts);
        SparseMatrix::from_parts(tfidf.num_features(), row_starts, ids, counts)
    }
}

/// The terms that are worth keeping, and the final number of each provisional one.
fn fit(config: TfIdfConfig, vocabulary: VocabularyBuilder) -> Result<(TfIdf, Vec<u32>)> {
    let (vocabulary, final_ids) = vocabulary
        .finish_with_final_ids(config.selection())
        .map_err(|error| error.within("text"))?;
    Ok((TfIdf::new(config, vocabulary), final_ids))
}

/// Turns each row's provisional counts into its weights at the front of the row's own place, and
/// returns how many entries each row kept.
fn weigh_rows(
    tfidf: &TfIdf,
    final_ids: &[u32],
    row_starts: &[usize],
    mut ids: &mut [u32],
    mut counts: &mut [f32],
) -> Vec<u32> {
    let mut tasks = Vec::new();
    let mut first_row = 0;
    while first_row + 1 < row_starts.len() {
        let last_row = (first_row + ROWS_PER_TASK).min(row_starts.len() - 1);
        let starts = &row_starts[first_row..=last_row];
        let num_entries = starts[starts.len() - 1] - starts[0];
        let (task_ids, rest_of_ids) = ids.split_at_mut(num_entries);
        let (task_counts, rest_of_counts) = counts.split_at_mut(num_entries);
        tasks.push((starts, task_ids, task_counts));
        (ids, counts, first_row) = (rest_of_ids, rest_of_counts, last_row);
    }
    let lengths: Vec<Vec<u32>> = tasks
        .into_par_iter()
        .map(|(starts, ids, counts)| {
            let mut scratch = Scratch::default();
            let lengths = starts.windows(2).map(|range| {
                let range = range[0] - starts[0]..range[1] - starts[0];
                let (ids, counts) = (&mut ids[range.clone()], &mut counts[range]);
                scratch.weigh_row(tfidf, final_ids, ids, counts)
            });
            lengths.collect()
        })
        .collect();
    lengths.concat()
}

/// Buffers that one thread uses for all of its rows.
#[derive(Debug, Default)]
struct Scratch {
    entries: Vec<(u32, f32)>,
    weights: Vec<f64>,
}

impl Scratch {
    fn weigh_row(
        &mut self,
        tfidf: &TfIdf,
        final_ids: &[u32],
        ids: &mut [u32],
        counts: &mut [f32],
    ) -> u32 {
        let entries = ids.iter().zip(counts.iter());
        let entries = entries.map(|(&id, &count)| (final_ids[id as usize], count));
        self.entries.clear();
        self.entries
            .extend(entries.filter(|&(column, _)| column != DROPPED));
        self.entries.sort_unstable_by_key(|&(column, _)| column);
        for ((&(column, value), id), count) in self
            .entries
            .iter()
            .zip(ids.iter_mut())
            .zip(counts.iter_mut())
        {
            (*id, *count) = (column, value);
        }
        let num_kept = self.entries.len();
        tfidf.weigh(&ids[..num_kept], &mut counts[..num_kept], &mut self.weights);
        num_kept as u32
    }
}

/// Moves the rows' kept entries together and gives back the memory behind them.
fn close_gaps(
    kept_lengths: &[u32],
    row_starts: &mut [usize],
    ids: &mut Vec<u32>,
    counts: &mut Vec<f32>,
) {
    let (mut old_start, mut new_end) = (0, 0);
    for (row, &length) in kept_lengths.iter().enumerate() {
        let kept = old_start..old_start + length as usize;
        ids.copy_within(kept.clone(), new_end);
        counts.copy_within(kept, new_end);
        new_end += length as usize;
        old_start = row_starts[row + 1];
        row_starts[row + 1] = new_end;
    }
    ids.truncate(new_end);
    counts.truncate(new_end);
    ids.shrink_to_fit();
    counts.shrink_to_fit();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_documents_are_as_if_they_had_never_been_read() {
        let texts = [
            "sea air",
            "sea fire fire",
            "...",
            "air wind",
            "sea wind",
            "wind air air",
        ];
        let mut all = TfIdfBuilder::new(TfIdfConfig::default()).unwrap();
        all.push_batch(&texts);
        for held in [&[][..], &[1], &[2, 4]] {
            let some = |wanted: bool| -> Vec<&str> {
                let texts = (0..).zip(texts);
                texts
                    .filter(|(number, _)| held.contains(number) == wanted)
                    .map(|(_, text)| text)
                    .collect()
            };
            let mut alone = TfIdfBuilder::new(TfIdfConfig::default()).unwrap();
            alone.push_batch(&some(false));
            let (expected, matrix) = alone.finish().unwrap();
            let (tfidf, others, apart) = all.finish_without(held).unwrap();
            assert_eq!(others, matrix);
            assert_eq!(apart, expected.transform(&some(true)));
            assert_eq!(tfidf.transform(&texts), expected.transform(&texts));
        }
    }
}
