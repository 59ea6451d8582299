//! Compressed sparse rows: the one place with index arithmetic.

use crate::{Error, Result};

/// A sparse matrix of `f32` in compressed rows; column indices rise within a row.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseMatrix {
    num_columns: usize,
    row_starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

/// One row of a [`SparseMatrix`], borrowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SparseRow<'a> {
    /// Column indices, rising.
    pub columns: &'a [u32],
    /// The values at these columns.
    pub values: &'a [f32],
}

/// One row that stands alone.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseVector {
    /// Column indices, rising.
    pub columns: Vec<u32>,
    /// The values at these columns.
    pub values: Vec<f32>,
}

/// Appends rows to a growing [`SparseMatrix`].
#[derive(Debug, Clone)]
pub struct SparseMatrixBuilder {
    matrix: SparseMatrix,
}

impl SparseMatrix {
    /// Starts an empty matrix with `num_columns` columns.
    pub fn builder(num_columns: usize) -> SparseMatrixBuilder {
        SparseMatrixBuilder {
            matrix: Self {
                num_columns,
                row_starts: vec![0],
                columns: Vec::new(),
                values: Vec::new(),
            },
        }
    }

    /// Builds from raw arrays, which must describe a well-formed matrix.
    pub fn from_parts(
        num_columns: usize,
        row_starts: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f32>,
    ) -> Result<Self> {
        let starts_rise = row_starts.first() == Some(&0) && row_starts.is_sorted();
        let ends_fit = row_starts.last() == Some(&columns.len()) && columns.len() == values.len();
        if !starts_rise || !ends_fit {
            return Err(Error::Data(
                "row starts do not fit the entries of a matrix".into(),
            ));
        }
        let rows_are_sorted = row_starts.windows(2).all(|range| {
            let row = &columns[range[0]..range[1]];
            row.is_sorted_by(|left, right| left < right)
                && row
                    .last()
                    .is_none_or(|&column| (column as usize) < num_columns)
        });
        if !rows_are_sorted {
            return Err(Error::Data(
                "columns of a matrix row must rise and stay in bounds".into(),
            ));
        }
        Ok(Self {
            num_columns,
            row_starts,
            columns,
            values,
        })
    }

    /// Number of rows.
    pub fn num_rows(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// Number of columns.
    pub fn num_columns(&self) -> usize {
        self.num_columns
    }

    /// Number of stored entries.
    pub fn num_entries(&self) -> usize {
        self.columns.len()
    }

    /// The row at `index`.
    pub fn row(&self, index: usize) -> SparseRow<'_> {
        let range = self.row_starts[index]..self.row_starts[index + 1];
        SparseRow {
            columns: &self.columns[range.clone()],
            values: &self.values[range],
        }
    }

    /// All rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = SparseRow<'_>> {
        (0..self.num_rows()).map(|index| self.row(index))
    }

    /// Where each row starts in the entries, and where the last one ends.
    pub fn row_starts(&self) -> &[usize] {
        &self.row_starts
    }

    /// Divides each row by its Euclidean length; empty and zero rows stay as they are.
    pub fn normalize_rows(&mut self) {
        for range in self.row_starts.windows(2) {
            normalize(&mut self.values[range[0]..range[1]]);
        }
    }
}

impl<'a> SparseRow<'a> {
    /// Number of stored entries.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// True for a row without entries.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Pairs of column and value.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (usize, f32)> + use<'a> {
        self.columns
            .iter()
            .zip(self.values)
            .map(|(&column, &value)| (column as usize, value))
    }

    /// Inner product with a dense vector that covers all columns.
    pub fn dot(&self, dense: &[f32]) -> f32 {
        self.iter()
            .map(|(column, value)| value * dense[column])
            .sum()
    }

    /// Adds `scale` times this row to a dense vector that covers all columns.
    pub fn add_to(&self, dense: &mut [f32], scale: f32) {
        for (column, value) in self.iter() {
            dense[column] += scale * value;
        }
    }
}

impl From<SparseRow<'_>> for SparseVector {
    fn from(row: SparseRow<'_>) -> Self {
        Self {
            columns: row.columns.to_vec(),
            values: row.values.to_vec(),
        }
    }
}

impl SparseVector {
    /// Sorts `entries` by column and adds up what falls on one column.
    pub fn from_entries(mut entries: Vec<(u32, f32)>) -> Self {
        entries.sort_by_key(|&(column, _)| column);
        let mut vector = Self::default();
        for (column, value) in entries {
            if vector.columns.last() == Some(&column) {
                if let Some(last) = vector.values.last_mut() {
                    *last += value;
                }
            } else {
                vector.columns.push(column);
                vector.values.push(value);
            }
        }
        vector
    }

    /// Borrows the vector as a row.
    pub fn as_row(&self) -> SparseRow<'_> {
        SparseRow {
            columns: &self.columns,
            values: &self.values,
        }
    }

    /// Divides by the Euclidean length; an empty or zero vector stays as it is.
    pub fn normalize(&mut self) {
        normalize(&mut self.values);
    }
}

impl SparseMatrixBuilder {
    /// Appends a row.
    ///
    /// # Panics
    /// If the columns do not rise or exceed the matrix: rows come from this crate's own code.
    pub fn push(&mut self, row: SparseRow<'_>) {
        debug_assert!(row.columns.is_sorted_by(|left, right| left < right));
        assert!(
            row.columns
                .last()
                .is_none_or(|&column| (column as usize) < self.matrix.num_columns)
        );
        assert_eq!(row.columns.len(), row.values.len());
        self.matrix.columns.extend_from_slice(row.columns);
        self.matrix.values.extend_from_slice(row.values);
        self.matrix.row_starts.push(self.matrix.columns.len());
    }

    /// The finished matrix.
    pub fn finish(self) -> SparseMatrix {
        self.matrix
    }
}

/// Divides by the Euclidean length, computed in `f64` so that long rows do not drift.
fn normalize(values: &mut [f32]) {
    let length = values
        .iter()
        .map(|&value| f64::from(value).powi(2))
        .sum::<f64>()
        .sqrt();
    if length > 0.0 {
        for value in values {
            *value = (f64::from(*value) / length) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn malformed_parts_are_refused() {
        assert!(SparseMatrix::from_parts(3, vec![0, 2], vec![0, 2], vec![1.0, 1.0]).is_ok());
        assert!(SparseMatrix::from_parts(3, vec![0, 2], vec![2, 0], vec![1.0, 1.0]).is_err());
        assert!(SparseMatrix::from_parts(2, vec![0, 2], vec![0, 2], vec![1.0, 1.0]).is_err());
        assert!(SparseMatrix::from_parts(3, vec![0, 1], vec![0, 2], vec![1.0, 1.0]).is_err());
    }

    proptest! {
        #[test]
        fn entries_add_up_and_come_out_sorted(entries in prop::collection::vec((0_u32..20, -5.0_f32..5.0), 0..40)) {
            let mut dense = [0.0_f32; 20];
            for &(column, value) in &entries {
                dense[column as usize] += value;
            }
            let vector = SparseVector::from_entries(entries);
            prop_assert!(vector.columns.is_sorted_by(|left, right| left < right));
            let mut back = [0.0_f32; 20];
            vector.as_row().add_to(&mut back, 1.0);
            for (left, right) in dense.iter().zip(back) {
                prop_assert!((left - right).abs() < 1e-4);
            }
        }

        #[test]
        fn normalised_rows_have_unit_length(values in prop::collection::vec(0.1_f32..9.0, 1..30)) {
            let columns: Vec<u32> = (0..values.len() as u32).collect();
            let mut builder = SparseMatrix::builder(30);
            builder.push(SparseRow { columns: &columns, values: &values });
            let mut matrix = builder.finish();
            matrix.normalize_rows();
            let length: f32 = matrix.row(0).values.iter().map(|value| value * value).sum();
            prop_assert!((length - 1.0).abs() < 1e-5);
        }
    }
}
