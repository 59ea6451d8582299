//! Small steps between numbers in memory and tensors.

use half::f16;
use half::slice::{HalfBitsSliceExt as _, HalfFloatSliceExt as _};
use tch::{Kind, Tensor};

use crate::systems::vectors::Vectors;

/// Lengths below this count as none.
const SHORTEST: f64 = 1e-12;

/// Rows of unit length; those of zeros stay.
pub(super) fn unit(rows: &Tensor) -> Tensor {
    let rows = rows.to_kind(Kind::Float);
    let lengths = rows
        .square()
        .sum_dim_intlist([1].as_slice(), true, Kind::Float);
    // The root of a sum that is zero has no gradient.
    &rows / (lengths + SHORTEST * SHORTEST).sqrt().clamp_min(SHORTEST)
}

/// Some vectors as a tensor of 32 bits.
pub(super) fn rows_of(vectors: &Vectors, rows: impl ExactSizeIterator<Item = u32>) -> Tensor {
    let (num_rows, width) = (rows.len(), vectors.width());
    let mut values = vec![0.0_f32; num_rows * width];
    for (row, line) in rows.zip(values.chunks_mut(width)) {
        let halves: &[f16] = vectors.row(row as usize).reinterpret_cast();
        halves.convert_to_f32_slice(line);
    }
    Tensor::from_slice(&values).view([num_rows as i64, width as i64])
}

/// Numbers of a tensor in half precision, as bits, row by row.
pub(super) fn half_bits(tensor: &Tensor) -> Vec<u16> {
    let values: Vec<f32> = crate::systems::rankings::flat(&tensor.to_kind(Kind::Float));
    values
        .iter()
        .map(|&value| f16::from_f32(value).to_bits())
        .collect()
}
