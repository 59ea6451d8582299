//! Rows of lanes that do not straddle cache lines.

use bytemuck::{Pod, Zeroable};

/// As many `f32` as fill a cache line, where one starts.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct CacheLine([f32; 16]);

/// Rows of 4 or 16 values each: a row lies within one cache line.
#[derive(Debug)]
pub(super) struct LaneRows {
    lines: Vec<CacheLine>,
    width: usize,
}

impl LaneRows {
    pub(super) fn zero(num_rows: usize, width: usize) -> Self {
        let num_lines = (num_rows * width).div_ceil(16);
        Self {
            lines: vec![CacheLine::zeroed(); num_lines],
            width,
        }
    }

    /// All rows, and what is left of the last line; `N` is the width.
    #[inline(always)]
    pub(super) fn rows<const N: usize>(&self) -> &[[f32; N]] {
        bytemuck::cast_slice::<_, f32>(&self.lines).as_chunks().0
    }

    #[inline(always)]
    pub(super) fn rows_mut<const N: usize>(&mut self) -> &mut [[f32; N]] {
        bytemuck::cast_slice_mut::<_, f32>(&mut self.lines)
            .as_chunks_mut()
            .0
    }

    pub(super) fn row(&self, row: usize) -> &[f32] {
        let values: &[f32] = bytemuck::cast_slice(&self.lines);
        &values[row * self.width..(row + 1) * self.width]
    }
}
