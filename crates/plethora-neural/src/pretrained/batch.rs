//! Documents as a transformer takes them.

use tch::{Device, Tensor};

use crate::head::LabelPlaces;
use crate::transfer::{pinned, upload};

/// How documents are cut that are too long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    /// Pieces that stay.
    pub(crate) max_length: usize,
    /// How many of them are special ones, which stay at the end.
    pub(crate) num_at_end: usize,
    /// Batches are a multiple of this many pieces long.
    pub(crate) step: usize,
}

/// Lengths of batches on a GPU are multiples of this. Every new shape costs milliseconds there: memory
/// is allocated and kernels are chosen anew.
const STEP_ON_GPU: usize = 32;

impl Cut {
    pub(crate) fn new(max_length: usize, num_at_end: usize, device: Device) -> Self {
        Self {
            max_length,
            num_at_end,
            step: if device == Device::Cpu {
                1
            } else {
                STEP_ON_GPU
            },
        }
    }

    /// Pieces of a document that stay.
    pub(crate) fn length(self, pieces: &[u32]) -> usize {
        pieces.len().min(self.max_length)
    }

    fn pieces(self, pieces: &[u32]) -> impl Iterator<Item = u32> {
        let length = self.length(pieces);
        let num_at_end = self.num_at_end.min(length);
        let start = &pieces[..length - num_at_end];
        let end = &pieces[pieces.len() - num_at_end..];
        start.iter().chain(end).copied()
    }
}

/// Documents of one step, cut into pieces.
#[derive(Debug)]
pub(crate) struct PieceBatch {
    /// documents x pieces; behind its end a document is padded.
    ids: Tensor,
    /// Pieces of each document.
    lengths: Tensor,
    /// True where all documents are equally long.
    is_full: bool,
    /// What the labels are; absent in prediction.
    pub(crate) targets: Option<LabelPlaces>,
}

/// The parts of a batch that are computed with, on the device.
pub(crate) struct PiecesOnDevice {
    pub(crate) ids: Tensor,
    pub(crate) lengths: Tensor,
    /// documents x pieces: true where a document has a piece; absent where all are equally long.
    pub(crate) mask: Option<Tensor>,
}

impl PieceBatch {
    /// The documents with these pieces.
    pub(crate) fn new(sequences: &[&[u32]], cut: Cut) -> Self {
        let longest = sequences.iter().map(|pieces| cut.length(pieces)).max();
        let longest = longest.unwrap_or(0).max(1).next_multiple_of(cut.step);
        let longest = longest.min(cut.max_length.max(1));
        // Any piece can be padding: it is masked.
        let mut ids = vec![0_i32; sequences.len() * longest];
        for (line, pieces) in ids.chunks_mut(longest).zip(sequences) {
            for (place, piece) in line.iter_mut().zip(cut.pieces(pieces)) {
                *place = piece as i32;
            }
        }
        // A document without pieces counts as one piece: attention needs something to attend to.
        let lengths: Vec<i64> = sequences
            .iter()
            .map(|pieces| cut.length(pieces).max(1) as i64)
            .collect();
        Self {
            is_full: lengths.iter().all(|&length| length == longest as i64),
            ids: Tensor::from_slice(&ids).view([sequences.len() as i64, longest as i64]),
            lengths: Tensor::from_slice(&lengths),
            targets: None,
        }
    }

    /// The batch with the true labels of its documents.
    pub(crate) fn with_labels<'a>(mut self, labels: impl Iterator<Item = &'a [u32]>) -> Self {
        self.targets = Some(LabelPlaces::new(labels));
        self
    }

    /// The batch in memory that a GPU can read by itself, so that the upload waits for nobody.
    pub(crate) fn pinned(self, device: Device) -> Self {
        if device == Device::Cpu {
            return self;
        }
        Self {
            ids: pinned(&self.ids, device),
            lengths: pinned(&self.lengths, device),
            is_full: self.is_full,
            targets: self.targets.map(|targets| targets.pinned(device)),
        }
    }

    pub(crate) fn to_device(&self, device: Device) -> PiecesOnDevice {
        let ids = upload(&self.ids, device);
        let lengths = upload(&self.lengths, device);
        let mask = (!self.is_full).then(|| {
            let places = Tensor::arange(ids.size()[1], (tch::Kind::Int64, device));
            places.lt_tensor(&lengths.unsqueeze(1))
        });
        PiecesOnDevice { ids, lengths, mask }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(tensor: &Tensor) -> Vec<i64> {
        tensor
            .to_kind(tch::Kind::Int64)
            .flatten(0, -1)
            .try_into()
            .unwrap()
    }

    const CUT: Cut = Cut {
        max_length: 3,
        num_at_end: 1,
        step: 1,
    };

    #[test]
    fn batches_are_as_long_as_they_must_or_a_multiple() {
        let cut = Cut {
            max_length: 10,
            step: 4,
            ..CUT
        };
        let width = |pieces: &[u32]| {
            let on_device = PieceBatch::new(&[pieces], cut).to_device(Device::Cpu);
            assert_eq!(
                on_device.mask.is_some(),
                on_device.ids.size()[1] > pieces.len() as i64
            );
            on_device.ids.size()[1]
        };
        assert_eq!([width(&[1; 4]), width(&[1; 5]), width(&[1; 9])], [4, 8, 10]);
    }

    #[test]
    fn special_pieces_stay_where_documents_are_cut() {
        let batch = PieceBatch::new(&[&[101, 1, 2, 3, 102], &[101, 102]], CUT);
        let on_device = batch.to_device(Device::Cpu);
        assert_eq!(numbers(&on_device.ids), [101, 1, 102, 101, 102, 0]);
        assert_eq!(numbers(&on_device.lengths), [3, 2]);
    }

    #[test]
    fn short_documents_are_padded_and_masked() {
        let batch = PieceBatch::new(&[&[7, 3], &[9, 4, 5], &[]], CUT);
        let on_device = batch.to_device(Device::Cpu);
        assert_eq!(numbers(&on_device.ids), [7, 3, 0, 9, 4, 5, 0, 0, 0]);
        assert_eq!(numbers(&on_device.lengths), [2, 3, 1]);
        assert_eq!(
            numbers(&on_device.mask.unwrap()),
            [1, 1, 0, 1, 1, 1, 1, 0, 0]
        );
        let batch = PieceBatch::new(&[&[7, 3], &[9, 4]], CUT);
        assert!(batch.to_device(Device::Cpu).mask.is_none());
    }
}
