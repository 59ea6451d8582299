//! What documents or labels add to metrics, a row each.

/// Numbers of observations (documents or labels), row by row.
#[derive(Debug, Clone, Default)]
pub(super) struct ObservationTable {
    num_columns: usize,
    values: Vec<f32>,
}

/// A quotient of two sums over rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantity {
    pub(super) key: String,
    pub(super) numerator: usize,
    /// The column that is summed below the line; the number of rows where there is none.
    pub(super) denominator: Option<usize>,
    /// What the quotient is multiplied by.
    pub(super) scale: f64,
}

impl Quantity {
    /// The mean of a column.
    pub(super) fn mean(key: impl Into<String>, column: usize) -> Self {
        Self {
            key: key.into(),
            numerator: column,
            denominator: None,
            scale: 1.0,
        }
    }

    /// The quantity from the sums of all columns; 0 where there is nothing to divide by.
    pub(super) fn of_sums(&self, sums: &[f64], num_rows: f64) -> f64 {
        let denominator = self.denominator.map_or(num_rows, |column| sums[column]);
        if denominator > 0.0 {
            self.scale * sums[self.numerator] / denominator
        } else {
            0.0
        }
    }
}

impl ObservationTable {
    pub(super) fn new(num_columns: usize) -> Self {
        Self {
            num_columns,
            values: Vec::new(),
        }
    }

    /// Adds a row.
    pub(super) fn push(&mut self, row: impl IntoIterator<Item = f64>) {
        self.values
            .extend(row.into_iter().map(|value| value as f32));
        debug_assert!(self.values.len().is_multiple_of(self.num_columns));
    }

    pub(super) fn num_rows(&self) -> usize {
        self.values.len() / self.num_columns.max(1)
    }

    pub(super) fn num_columns(&self) -> usize {
        self.num_columns
    }

    pub(super) fn row(&self, number: usize) -> &[f32] {
        &self.values[number * self.num_columns..][..self.num_columns]
    }

    /// The rows in blocks of so many, each row by row.
    pub(super) fn blocks(&self, num_rows: usize) -> impl Iterator<Item = &[f32]> {
        self.values.chunks(num_rows * self.num_columns.max(1))
    }

    /// A table of some rows with only the columns that `quantities` need, and these as they read it.
    pub(super) fn select(&self, rows: &[u32], quantities: &[Quantity]) -> (Self, Vec<Quantity>) {
        let mut columns: Vec<usize> = quantities
            .iter()
            .flat_map(|one| [Some(one.numerator), one.denominator])
            .flatten()
            .collect();
        columns.sort_unstable();
        columns.dedup();
        let mut values = Vec::with_capacity(rows.len() * columns.len());
        for &row in rows {
            let row = self.row(row as usize);
            values.extend(columns.iter().map(|&column| row[column]));
        }
        let place = |column: usize| columns.partition_point(|&known| known < column);
        let quantities = quantities.iter().map(|one| Quantity {
            numerator: place(one.numerator),
            denominator: one.denominator.map(place),
            ..one.clone()
        });
        let table = Self {
            num_columns: columns.len(),
            values,
        };
        (table, quantities.collect())
    }

    /// The sums of all columns over some rows.
    pub(super) fn sums(&self, rows: impl Iterator<Item = usize>) -> Vec<f64> {
        let mut sums = vec![0.0; self.num_columns];
        for row in rows {
            for (sum, &value) in sums.iter_mut().zip(self.row(row)) {
                *sum += f64::from(value);
            }
        }
        sums
    }
}
