//! The matrix behind an encoder that does not learn.

use std::path::Path;

use plethora_core::artifact::{ArrayFileWriter, Dtype, MappedArray, MappedArrays};
use plethora_core::{Error, Result};

/// Name of the matrix in a model folder; absent where the encoder itself has learnt, or nothing has.
pub(super) const PROJECTION_FILE: &str = "projection.safetensors";

/// Sums that a product is computed in, side by side.
const LANES: usize = 16;

/// A square matrix, row by row.
#[derive(Debug)]
pub(super) struct Projection {
    width: usize,
    values: MappedArray<f32>,
}

impl Projection {
    /// Writes a matrix.
    pub(super) fn write(values: &[f32], path: &Path) -> Result<()> {
        let mut file = ArrayFileWriter::create(path)?;
        let array = file.begin("projection", Dtype::F32)?;
        file.append(array, values)?;
        file.finish()
    }

    /// Opens the matrix for vectors of `width` numbers.
    pub(super) fn open(path: &Path, width: usize) -> Result<Self> {
        let values = MappedArrays::open(path)?.owned("projection")?;
        if values.len() == width * width {
            Ok(Self { width, values })
        } else {
            let message = "the matrix does not fit the vectors of the encoder";
            Err(Error::model(path, message))
        }
    }

    /// Number of values.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The matrix times a vector. One vector after the other, so that each gets the same numbers alone and
    /// among others.
    pub(super) fn apply(&self, vector: &[f32]) -> Vec<f32> {
        self.values
            .chunks(self.width)
            .map(|row| product(row, vector))
            .collect()
    }
}

fn product(left: &[f32], right: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (left, left_end) = left.as_chunks::<LANES>();
    let (right, right_end) = right.as_chunks::<LANES>();
    for (left, right) in left.iter().zip(right) {
        for (sum, (left, right)) in sums.iter_mut().zip(left.iter().zip(right)) {
            *sum += left * right;
        }
    }
    let of_end: f32 = left_end.iter().zip(right_end).map(|(l, r)| l * r).sum();
    sums.iter().sum::<f32>() + of_end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_comes_back_and_is_multiplied_with() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(PROJECTION_FILE);
        let width = 17;
        let mut values = vec![0.0; width * width];
        for row in 0..width {
            values[row * width + row] = 2.0;
        }
        values[16] = 1.0;
        Projection::write(&values, &path).unwrap();
        let projection = Projection::open(&path, width).unwrap();
        let vector: Vec<f32> = (0..width).map(|number| number as f32).collect();
        let product = projection.apply(&vector);
        assert_eq!((product[0], product[1], product[16]), (16.0, 2.0, 32.0));
        let message = Projection::open(&path, 3).unwrap_err().to_string();
        assert!(message.contains("does not fit"), "{message}");
    }
}
