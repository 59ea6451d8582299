//! A shard's own copies of the rows it meets.

use super::kernel::LANES;

/// In place of a slot for a row that was not copied.
const NO_SLOT: u32 = u32::MAX;

/// Copies of some rows of a table, side by side.
#[derive(Debug)]
pub(super) struct LocalRows {
    width: usize,
    /// The width rounded up to whole lanes; what is beyond the width stays zero.
    stride: usize,
    slot_of_row: Vec<u32>,
    /// Row and slot of each copy.
    copied: Vec<(u32, u32)>,
    /// How often each copy was moved.
    num_moves: Vec<u32>,
    values: Vec<f32>,
}

/// A copy of a row, with what happened to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct MovedRow<'a> {
    pub(super) row: u32,
    pub(super) num_moves: u32,
    pub(super) values: &'a [f32],
}

impl LocalRows {
    pub(super) fn new(num_rows: usize, width: usize) -> Self {
        Self {
            width,
            stride: width.next_multiple_of(LANES),
            slot_of_row: vec![NO_SLOT; num_rows],
            copied: Vec::new(),
            num_moves: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Forgets all copies.
    pub(super) fn clear(&mut self) {
        for (row, _) in self.copied.drain(..) {
            self.slot_of_row[row as usize] = NO_SLOT;
        }
        self.num_moves.clear();
    }

    /// Length of a copy.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// The slot of a row, copied from `table` when it is met first.
    pub(super) fn slot(&mut self, row: u32, table: &[f32]) -> u32 {
        let slot = self.slot_of_row[row as usize];
        if slot != NO_SLOT {
            return slot;
        }
        let slot = self.copied.len();
        let start = slot * self.stride;
        if self.values.len() == start {
            self.values.resize(start + self.stride, 0.0);
        }
        self.values[start..][..self.width]
            .copy_from_slice(&table[row as usize * self.width..][..self.width]);
        self.slot_of_row[row as usize] = slot as u32;
        self.copied.push((row, slot as u32));
        self.num_moves.push(0);
        slot as u32
    }

    /// Notes that the copy in a slot is moved some times.
    pub(super) fn count_moves(&mut self, slot: u32, num_moves: usize) {
        self.num_moves[slot as usize] += num_moves as u32;
    }

    /// The copy in a slot.
    pub(super) fn row_mut(&mut self, slot: u32) -> &mut [f32] {
        &mut self.values[slot as usize * self.stride..][..self.stride]
    }

    /// Sorts the copies by row; needed before [`copies_in`](Self::copies_in).
    pub(super) fn sort(&mut self) {
        self.copied.sort_unstable();
    }

    /// The copies of rows from `first` up to but without `end`, in their order.
    pub(super) fn copies_in(&self, first: u32, end: u32) -> impl Iterator<Item = MovedRow<'_>> {
        let place = |row| self.copied.partition_point(|&(copied, _)| copied < row);
        let range = place(first)..place(end);
        self.copied[range].iter().map(|&(row, slot)| {
            let start = slot as usize * self.stride;
            MovedRow {
                row,
                num_moves: self.num_moves[slot as usize],
                values: &self.values[start..][..self.width],
            }
        })
    }
}
