//! The trained numbers of a network.
//!
//! Dense parameters live side by side in one buffer, and so do their gradients: the optimizer, the
//! gradient's norm, averaging and checkpoints each work on one tensor instead of dozens. Tables
//! (word vectors, label vectors of candidates) are apart: a step reads and updates the rows of its
//! batch only.

mod dense;
mod int8;
mod row_share;
mod row_table;
mod trained_tensors;

pub use dense::{DenseGroup, DenseParameters, DenseParametersBuilder, ParameterId, RateGroup};
pub(crate) use row_share::{RowShare, write_values};
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

    /// Whether some tables are in shards over several processes now.
    pub(crate) fn is_divided(&self) -> bool {
        self.tables.iter().any(|table| table.share().is_some())
    }

    /// Names and shapes of all parameters and tables, by which a file is known to fit.
    pub(crate) fn layout(&self) -> Vec<(String, Vec<i64>)> {
        let dense = self.dense.iter();
        let dense = dense.map(|(name, values)| (name.to_owned(), values.size()));
        let tables = self.tables.iter();
        let tables = tables.map(|table| (table.name().to_owned(), table.size()));
        dense.chain(tables).collect()
    }
}
