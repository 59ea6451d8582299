//! Documents as a transformer takes them.

use tch::{Device, Tensor};

use super::windows::{Row, WindowsOfDocuments, WindowsOnDevice};
use crate::head::LabelPlaces;
use crate::transfer::{pinned, upload};

/// How documents are cut that are too long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    /// Pieces of a window, or of a document where there is but one.
    pub(crate) max_length: usize,
    /// How many of them are special ones, which stay at the end.
    pub(crate) num_at_end: usize,
    /// How many special ones stand before a text.
    pub(crate) num_at_start: usize,
    /// Windows of a document at most.
    pub(crate) windows: usize,
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
            num_at_start: 0,
            windows: 1,
            step: if device == Device::Cpu {
                1
            } else {
                STEP_ON_GPU
            },
        }
    }

    /// Pieces of a document that stay.
    pub(crate) fn length(self, pieces: &[u32]) -> usize {
        pieces.len().min(self.whole_length())
    }
}

/// Documents of one step, cut into pieces.
#[derive(Debug)]
pub(crate) struct PieceBatch {
    /// rows x pieces, a row per window; behind its end a window is padded.
    ids: Tensor,
    /// Pieces of each window.
    lengths: Tensor,
    /// True where all windows are equally long.
    is_full: bool,
    /// Which windows are whose; absent where each document has one.
    windows: Option<WindowsOfDocuments>,
    /// What the labels are; absent in prediction.
    pub(crate) targets: Option<LabelPlaces>,
}

/// The parts of a batch that are computed with, on the device.
pub(crate) struct PiecesOnDevice {
    pub(crate) ids: Tensor,
    pub(crate) lengths: Tensor,
    /// rows x pieces: true where a window has a piece; absent where all are equally long.
    pub(crate) mask: Option<Tensor>,
    /// Which rows are whose; absent where each document has one.
    pub(crate) windows: Option<WindowsOnDevice>,
}

impl PieceBatch {
    /// The documents with these pieces.
    pub(crate) fn new(sequences: &[&[u32]], cut: Cut) -> Self {
        let of_documents: Vec<Vec<Row<'_>>> =
            sequences.iter().map(|pieces| cut.rows(pieces)).collect();
        let rows: Vec<Row<'_>> = of_documents.iter().flatten().copied().collect();
        let longest = rows.iter().map(Row::len).max();
        let longest = longest.unwrap_or(0).max(1).next_multiple_of(cut.step);
        let longest = longest.min(cut.max_length.max(1));
        // Any piece can be padding: it is masked.
        let mut ids = vec![0_i32; rows.len() * longest];
        for (line, row) in ids.chunks_mut(longest).zip(&rows) {
            for (place, piece) in line.iter_mut().zip(row.pieces()) {
                *place = piece as i32;
            }
        }
        // A document without pieces counts as one piece: attention needs something to attend to.
        let lengths: Vec<i64> = rows.iter().map(|row| row.len().max(1) as i64).collect();
        Self {
            is_full: lengths.iter().all(|&length| length == longest as i64),
            ids: Tensor::from_slice(&ids).view([rows.len() as i64, longest as i64]),
            lengths: Tensor::from_slice(&lengths),
            windows: (rows.len() > sequences.len())
                .then(|| WindowsOfDocuments::new(&of_documents, cut.step)),
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
            windows: self.windows.map(|windows| windows.pinned(device)),
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
        PiecesOnDevice {
            ids,
            lengths,
            mask,
            windows: (self.windows.as_ref()).map(|windows| windows.to_device(device)),
        }
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
        num_at_start: 1,
        windows: 1,
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
