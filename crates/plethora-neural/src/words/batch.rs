//! Documents as a network takes them.

use plethora_core::text::Words;
use tch::{Device, Kind, Tensor};

use crate::batch::numbered;
use crate::head::LabelPlaces;

/// Documents of one step, the longest first, on the processor.
#[derive(Debug)]
pub(crate) struct WordBatch {
    /// The rows of the word table that occur, rising; the first is the padding.
    pub(crate) rows: Tensor,
    /// documents x words: places in `rows`.
    pub(crate) words: Tensor,
    /// Words of each document, falling.
    pub(crate) lengths: Tensor,
    /// The true labels, where all labels are scored; none in prediction.
    pub(crate) labels: LabelPlaces,
    /// The labels to choose from; absent where these are all.
    pub(crate) candidates: Option<Candidates>,
}

/// Labels that are scored, other ones for each document.
#[derive(Debug)]
pub(crate) struct Candidates {
    /// The rows of the label table that occur, rising.
    pub(crate) rows: Tensor,
    /// documents x candidates: places in `rows`; short lists are padded with place 0.
    pub(crate) places: Tensor,
    /// documents x candidates: one for a candidate, zero for padding.
    pub(crate) filled: Tensor,
    /// documents x candidates: one where the candidate is true; zeros in prediction.
    pub(crate) truth: Tensor,
    /// All of them together, padding not among them.
    pub(crate) total: usize,
}

impl WordBatch {
    /// The documents with these word rows, which come the longest first.
    pub(crate) fn new(sequences: &[&[u32]]) -> Self {
        let num_words = sequences.first().map_or(0, |sequence| sequence.len());
        let mut rows: Vec<u32> = sequences
            .iter()
            .flat_map(|words| words.iter().copied())
            .collect();
        rows.push(Words::PADDING);
        let (rows, place_of) = numbered(rows);
        let mut words = vec![0_i32; sequences.len() * num_words];
        for (line, sequence) in words.chunks_mut(num_words.max(1)).zip(sequences) {
            debug_assert!(
                sequence.len() <= num_words,
                "documents come the longest first"
            );
            for (place, row) in line.iter_mut().zip(*sequence) {
                *place = place_of[row];
            }
        }
        let lengths: Vec<i64> = sequences.iter().map(|words| words.len() as i64).collect();
        Self {
            rows,
            words: Tensor::from_slice(&words).view([sequences.len() as i64, num_words as i64]),
            lengths: Tensor::from_slice(&lengths),
            labels: LabelPlaces::new(sequences.iter().map(|_| [].as_slice())),
            candidates: None,
        }
    }

    /// The batch with the true labels of its documents, where all labels are scored.
    pub(crate) fn with_labels<'a>(mut self, labels: impl Iterator<Item = &'a [u32]>) -> Self {
        self.labels = LabelPlaces::new(labels);
        self
    }

    /// The batch with labels to choose from.
    pub(crate) fn with_candidates(self, candidates: &[Vec<u32>]) -> Self {
        let no_labels = candidates.iter().map(|_| [].as_slice());
        self.with_truth(candidates, no_labels)
    }

    /// The batch with labels to choose from, and which of them are true.
    pub(crate) fn with_truth<'a>(
        mut self,
        candidates: &[Vec<u32>],
        labels: impl Iterator<Item = &'a [u32]>,
    ) -> Self {
        let width = candidates.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let (rows, place_of) = numbered(candidates.iter().flatten().copied().collect());
        let mut places = vec![0_i32; candidates.len() * width];
        let mut filled = vec![0.0_f32; candidates.len() * width];
        let mut truth = vec![0.0_f32; candidates.len() * width];
        for ((document, candidates), labels) in candidates.iter().enumerate().zip(labels) {
            for (column, candidate) in candidates.iter().enumerate() {
                let cell = document * width + column;
                places[cell] = place_of[candidate];
                filled[cell] = 1.0;
                truth[cell] = f32::from(u8::from(labels.contains(candidate)));
            }
        }
        let shape = [candidates.len() as i64, width as i64];
        self.candidates = Some(Candidates {
            rows,
            places: Tensor::from_slice(&places).view(shape),
            filled: Tensor::from_slice(&filled).view(shape),
            truth: Tensor::from_slice(&truth).view(shape),
            total: candidates.iter().map(Vec::len).sum(),
        });
        self
    }

    /// Number of documents.
    pub(crate) fn num_documents(&self) -> i64 {
        self.lengths.numel() as i64
    }

    /// documents x words on `device`: true where a document has a word; absent where all are
    /// equally long.
    pub(crate) fn mask(&self, device: Device) -> Option<Tensor> {
        let num_words = self.words.size()[1];
        let shortest = self.lengths.int64_value(&[self.num_documents() - 1]);
        (shortest < num_words).then(|| {
            let places = Tensor::arange(num_words, (Kind::Int64, device));
            places.lt_tensor(&self.lengths.to_device(device).unsqueeze(1))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(tensor: &Tensor) -> Vec<i64> {
        tensor
            .to_kind(Kind::Int64)
            .flatten(0, -1)
            .try_into()
            .unwrap()
    }

    #[test]
    fn words_are_places_among_the_rows_of_the_batch() {
        let batch = WordBatch::new(&[&[7, 3, 7], &[9]]);
        assert_eq!(numbers(&batch.rows), [0, 3, 7, 9]);
        assert_eq!(numbers(&batch.words), [2, 1, 2, 3, 0, 0]);
        assert_eq!(numbers(&batch.lengths), [3, 1]);
        assert_eq!(
            numbers(&batch.mask(Device::Cpu).unwrap()),
            [1, 1, 1, 1, 0, 0]
        );
        assert!(WordBatch::new(&[&[7], &[9]]).mask(Device::Cpu).is_none());
    }

    #[test]
    fn candidates_of_a_document_know_which_are_true() {
        let candidates = [vec![5, 2], vec![8]];
        let labels: [&[u32]; 2] = [&[2, 6], &[8]];
        let batch = WordBatch::new(&[&[3], &[3]]).with_truth(&candidates, labels.into_iter());
        let parts = batch.candidates.unwrap();
        assert_eq!(numbers(&parts.rows), [2, 5, 8]);
        assert_eq!(numbers(&parts.places), [1, 0, 2, 0]);
        assert_eq!(numbers(&parts.filled), [1, 1, 1, 0]);
        assert_eq!(numbers(&parts.truth), [0, 1, 1, 0]);
        assert_eq!(parts.total, 3);
    }
}
