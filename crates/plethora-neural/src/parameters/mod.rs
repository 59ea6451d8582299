//! The trained numbers of a network.
//!
//! Dense parameters live side by side in one buffer, and so do their gradients: the optimizer, the
//! gradient's norm, averaging and checkpoints each work on one tensor instead of dozens. Tables
//! (word vectors, label vectors of candidates) are apart: a step reads and updates the rows of its
//! batch only.

mod dense;
mod row_table;
mod trained_tensors;

pub use dense::{DenseGroup, DenseParameters, DenseParametersBuilder, ParameterId, RateGroup};
pub use row_table::{RowTable, TableRows};
pub(crate) use trained_tensors::TrainedTensors;

/// Everything that training changes.
#[derive(Debug)]
pub struct Parameters {
    /// Parameters that every step changes as a whole.
    pub dense: DenseParameters,
    /// Tables of which a step changes some rows.
    pub tables: Vec<RowTable>,
}

impl Parameters {
    /// What training changes, sharing its storage: a change there is a change here.
    pub(crate) fn trained(&self) -> TrainedTensors {
        TrainedTensors::of(self)
    }

    /// Names and shapes of all parameters and tables, by which a file is known to fit.
    pub(crate) fn layout(&self) -> Vec<(String, Vec<i64>)> {
        let dense = self.dense.iter();
        let tables = self
            .tables
            .iter()
            .map(|table| (table.name(), table.values()));
        dense
            .chain(tables)
            .map(|(name, values)| (name.to_owned(), values.size()))
            .collect()
    }
}
