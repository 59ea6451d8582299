//! Rows of indices without values: the labels of each document, the documents of each label.

use rayon::prelude::*;

/// Compressed rows of `u32` indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexRows {
    starts: Vec<usize>,
    items: Vec<u32>,
}

impl Default for IndexRows {
    fn default() -> Self {
        Self {
            starts: vec![0],
            items: Vec::new(),
        }
    }
}

impl IndexRows {
    /// Appends a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = u32>) {
        self.items.extend(row);
        self.starts.push(self.items.len());
    }

    /// Number of rows.
    pub fn num_rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of indices in all rows.
    pub fn num_items(&self) -> usize {
        self.items.len()
    }

    /// The row at `index`.
    pub fn row(&self, index: usize) -> &[u32] {
        &self.items[self.starts[index]..self.starts[index + 1]]
    }

    /// All rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.num_rows()).map(|index| self.row(index))
    }

    /// Replaces each index by its entry in `new_indices` and leaves it in its place.
    pub fn replace(&mut self, new_indices: impl Fn(u32) -> u32 + Sync) {
        self.items
            .par_iter_mut()
            .for_each(|item| *item = new_indices(*item));
    }

    /// Replaces each index by its entry in `new_indices` and sorts each row.
    pub fn remap(&mut self, new_indices: impl Fn(u32) -> u32) {
        for range in self.starts.windows(2) {
            let row = &mut self.items[range[0]..range[1]];
            for item in row.iter_mut() {
                *item = new_indices(*item);
            }
            row.sort_unstable();
        }
    }

    /// The rows that hold each index below `num_columns`, in rising order.
    pub fn transpose(&self, num_columns: usize) -> Self {
        let mut starts = vec![0; num_columns + 1];
        for &item in &self.items {
            starts[item as usize + 1] += 1;
        }
        for column in 0..num_columns {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut items = vec![0; self.items.len()];
        for (row, columns) in (0_u32..).zip(self.rows()) {
            for &column in columns {
                items[next[column as usize]] = row;
                next[column as usize] += 1;
            }
        }
        Self { starts, items }
    }
}

impl<Row: IntoIterator<Item = u32>> FromIterator<Row> for IndexRows {
    fn from_iter<Rows: IntoIterator<Item = Row>>(rows: Rows) -> Self {
        let mut result = Self::default();
        rows.into_iter().for_each(|row| result.push(row));
        result
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn transposing_twice_gives_the_sorted_rows_back(
            rows in prop::collection::vec(prop::collection::btree_set(0_u32..12, 0..6), 0..20)
        ) {
            let original: IndexRows = rows.into_iter().collect();
            let transposed = original.transpose(12);
            prop_assert_eq!(transposed.num_rows(), 12);
            prop_assert_eq!(transposed.transpose(original.num_rows()), original);
        }
    }
}
