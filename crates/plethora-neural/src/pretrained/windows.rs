//! Documents longer than the encoder, read in windows.
//!
//! A window is a row of the batch like any other, with the special pieces of a text around it. A document has
//! as few windows as hold it, all of nearly one length, so that rows need little padding; whose they are is
//! known on the device, where their vectors become one and their states lie side by side again.

use tch::{Device, Kind, Tensor};

use super::batch::Cut;
use crate::transfer::{pinned, upload};
use crate::transformer::Pooling;

/// The pieces of a window: special ones, a part of a text, special ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a>([&'a [u32]; 3]);

impl<'a> Row<'a> {
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|part| part.len()).sum()
    }

    pub(super) fn pieces(&self) -> impl Iterator<Item = u32> + use<'a> {
        self.0.into_iter().flatten().copied()
    }
}

impl Cut {
    /// The same for documents of so many windows at most, each with so many special pieces before its text.
    #[must_use]
    pub(crate) fn with_windows(self, windows: usize, num_at_start: usize) -> Self {
        Self {
            num_at_start,
            windows,
            ..self
        }
    }

    /// Pieces of a document that are read at most.
    pub(crate) fn whole_length(self) -> usize {
        match self.windows {
            0 | 1 => self.max_length,
            windows => self.num_special() + windows.saturating_mul(self.room()),
        }
    }

    /// The windows of a document with these pieces, at least one.
    pub(super) fn rows(self, pieces: &[u32]) -> Vec<Row<'_>> {
        let length = self.length(pieces);
        if length <= self.max_length {
            let num_at_end = self.num_at_end.min(length);
            let start = &pieces[..length - num_at_end];
            let end = &pieces[pieces.len() - num_at_end..];
            return vec![Row([&[], start, end])];
        }
        let (before, text) = pieces.split_at(self.num_at_start);
        let text = &text[..length - self.num_special()];
        let after = &pieces[pieces.len() - self.num_at_end..];
        let num_windows = text.len().div_ceil(self.room());
        text.chunks(text.len().div_ceil(num_windows))
            .map(|part| Row([before, part, after]))
            .collect()
    }

    fn num_special(self) -> usize {
        self.num_at_start + self.num_at_end
    }

    /// Pieces of a text in a window.
    fn room(self) -> usize {
        self.max_length.saturating_sub(self.num_special()).max(1)
    }
}

/// Which windows are whose, on the processor.
#[derive(Debug)]
pub(super) struct WindowsOfDocuments {
    /// The document of each window.
    owners: Tensor,
    /// 3 x documents: the number of a document's first window, pieces of each of its windows but the last,
    /// and pieces of all of them.
    documents: Tensor,
    /// Pieces of the document with most of them, rounded up to where batches are.
    longest: i64,
}

/// The same on the device.
#[derive(Debug)]
pub(crate) struct WindowsOnDevice {
    owners: Tensor,
    documents: Tensor,
    longest: i64,
}

impl WindowsOfDocuments {
    /// Lengths of documents are multiples of `step`, as those of windows are.
    pub(super) fn new(of_documents: &[Vec<Row<'_>>], step: usize) -> Self {
        let mut owners = Vec::new();
        let [mut firsts, mut sizes, mut totals] = [const { Vec::new() }; 3];
        for (document, rows) in (0_i64..).zip(of_documents) {
            firsts.push(owners.len() as i64);
            owners.extend(rows.iter().map(|_| document));
            sizes.push(rows[0].len().max(1) as i64);
            totals.push(rows.iter().map(Row::len).sum::<usize>().max(1) as i64);
        }
        let longest = totals.iter().copied().max().unwrap_or(1) as usize;
        let documents = [firsts, sizes, totals].concat();
        Self {
            owners: Tensor::from_slice(&owners),
            documents: Tensor::from_slice(&documents).view([3, -1]),
            longest: longest.next_multiple_of(step) as i64,
        }
    }

    pub(super) fn pinned(self, device: Device) -> Self {
        Self {
            owners: pinned(&self.owners, device),
            documents: pinned(&self.documents, device),
            ..self
        }
    }

    pub(super) fn to_device(&self, device: Device) -> WindowsOnDevice {
        WindowsOnDevice {
            owners: upload(&self.owners, device),
            documents: upload(&self.documents, device),
            longest: self.longest,
        }
    }
}

impl WindowsOnDevice {
    /// The vector of each document from those of its windows: with means as vectors the mean over all its
    /// pieces, otherwise the mean over its windows.
    ///
    /// # Shapes
    /// From rows x width, of rows with `lengths` pieces, to documents x width.
    pub(super) fn pooled(&self, vectors: &Tensor, lengths: &Tensor, pooling: Pooling) -> Tensor {
        let numbers = Tensor::arange(self.num_documents(), (Kind::Int64, vectors.device()));
        let is_own = self.owners.unsqueeze(0).eq_tensor(&numbers.unsqueeze(1));
        let counts = match pooling {
            Pooling::Mean => is_own.to_kind(Kind::Float) * lengths.unsqueeze(0),
            Pooling::Cls => is_own.to_kind(Kind::Float),
        };
        let shares = &counts / counts.sum_dim_intlist(1, true, Kind::Float);
        // A product rather than sums row by row, whose order would be another in every run on a GPU.
        let pooled = shares.matmul(&vectors.to_kind(Kind::Float));
        pooled.to_kind(vectors.kind())
    }

    /// The states of all windows of a document side by side, and where a document has a piece.
    ///
    /// # Shapes
    /// From rows x pieces x width to documents x pieces x width and documents x pieces.
    pub(super) fn side_by_side(&self, states: &Tensor) -> (Tensor, Tensor) {
        let (_, row_length, width) = states.size3().unwrap_or((0, 0, 0));
        let columns = Tensor::arange(self.longest, (Kind::Int64, states.device())).unsqueeze(0);
        let of_documents = |part| self.documents.select(0, part).unsqueeze(1);
        let (firsts, sizes, totals) = (of_documents(0), of_documents(1), of_documents(2));
        let mask = columns.lt_tensor(&totals);
        let rows = firsts + columns.divide_tensor_mode(&sizes, "floor");
        let flat = states.reshape([-1, width]);
        // Places behind a document's end take any piece, but not all of them the same: gradients of one that
        // many take would wait for each other on a GPU.
        let places = rows * row_length + columns.remainder_tensor(&sizes);
        let places = places.remainder(flat.size()[0]);
        let together = flat.index_select(0, &places.flatten(0, -1));
        (together.view([-1, self.longest, width]), mask)
    }

    fn num_documents(&self) -> i64 {
        self.documents.size()[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUT: Cut = Cut {
        max_length: 5,
        num_at_end: 1,
        num_at_start: 1,
        windows: 3,
        step: 1,
    };

    fn rows(cut: Cut, pieces: &[u32]) -> Vec<Vec<u32>> {
        let rows = cut.rows(pieces);
        rows.iter().map(|row| row.pieces().collect()).collect()
    }

    /// A text of so many pieces, counted from 1, between its special ones.
    fn text(length: u32) -> Vec<u32> {
        let text = 1..=length;
        [101].into_iter().chain(text).chain([102]).collect()
    }

    #[test]
    fn long_documents_have_as_few_windows_as_hold_them_of_one_length() {
        assert_eq!(rows(CUT, &text(3)), [[101, 1, 2, 3, 102]]);
        assert_eq!(rows(CUT, &text(4)), [[101, 1, 2, 102], [101, 3, 4, 102]]);
        let seven = rows(CUT, &text(7));
        assert_eq!(seven[0], [101, 1, 2, 3, 102]);
        assert_eq!(seven[2], [101, 7, 102]);
        // What lies behind the last window is cut.
        assert_eq!(CUT.whole_length(), 11);
        assert_eq!(rows(CUT, &text(9)), rows(CUT, &text(30)));
        let one = CUT.with_windows(1, 1);
        assert_eq!(rows(one, &text(7)), [[101, 1, 2, 3, 102]]);
        assert_eq!(rows(CUT, &[]), [[0_u32; 0]]);
    }

    #[test]
    fn no_piece_is_lost_or_read_twice() {
        for length in 0..60 {
            for max_length in 3..9 {
                let cut = Cut {
                    max_length,
                    windows: 4,
                    ..CUT
                };
                let pieces = text(length);
                let rows = rows(cut, &pieces);
                assert!(rows.len() <= 4);
                assert!(rows.iter().all(|row| (2..=max_length).contains(&row.len())));
                let read: Vec<u32> = (rows.iter())
                    .flat_map(|row| row[1..row.len() - 1].to_vec())
                    .collect();
                let kept = cut.length(&pieces) - 2;
                assert_eq!(read, pieces[1..=kept]);
            }
        }
    }

    /// Two documents, of two windows and of one, with a state per piece that is its number.
    fn example() -> (WindowsOnDevice, Tensor, Tensor) {
        let (long, short) = (text(5), text(2));
        let of_documents = [CUT.rows(&long), CUT.rows(&short)];
        let windows = WindowsOfDocuments::new(&of_documents, 1).to_device(Device::Cpu);
        let lengths = Tensor::from_slice(&[5_i64, 4, 4]);
        let states = Tensor::from_slice(&[
            101.0_f32, 1.0, 2.0, 3.0, 102.0, 101.0, 4.0, 5.0, 102.0, -1.0, 101.0, 1.0, 2.0, 102.0,
            -1.0,
        ]);
        (windows, lengths, states.view([3, 5, 1]))
    }

    fn floats(tensor: &Tensor) -> Vec<f32> {
        tensor
            .to_kind(Kind::Float)
            .flatten(0, -1)
            .try_into()
            .unwrap()
    }

    #[test]
    fn states_of_a_document_lie_side_by_side() {
        let (windows, _, states) = example();
        let (together, mask) = windows.side_by_side(&states);
        assert_eq!(together.size(), [2, 9, 1]);
        let together = floats(&(together.squeeze_dim(2) * &mask));
        let long = [101.0, 1.0, 2.0, 3.0, 102.0, 101.0, 4.0, 5.0, 102.0];
        assert_eq!(together[..9], long);
        assert_eq!(
            together[9..],
            [101.0, 1.0, 2.0, 102.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        );
        assert_eq!(
            floats(&mask.sum_dim_intlist(1, false, Kind::Int64)),
            [9.0, 4.0]
        );
    }

    #[test]
    fn the_vector_of_a_document_is_the_mean_over_its_pieces_or_windows() {
        let (windows, lengths, _) = example();
        let vectors = Tensor::from_slice2(&[[1.0_f32, 9.0], [10.0, 0.0], [3.3, 0.7]]);
        let mean = floats(&windows.pooled(&vectors, &lengths, Pooling::Mean));
        assert!((mean[0] - 5.0).abs() < 1e-6 && (mean[1] - 5.0).abs() < 1e-6);
        let of_windows = floats(&windows.pooled(&vectors, &lengths, Pooling::Cls));
        assert_eq!(of_windows[..2], [5.5, 4.5]);
        // One window is taken as it is, to the last bit.
        assert_eq!([&mean[2..], &of_windows[2..]], [[3.3, 0.7]; 2]);
    }
}
