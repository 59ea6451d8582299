//! The trained numbers of a network.
//!
//! Dense parameters live side by side in one buffer, and so do their gradients: the optimizer, the
//! gradient's norm, averaging and checkpoints each work on one tensor instead of dozens. Tables
//! (word vectors, label vectors of candidates) are apart: a step reads and updates the rows of its
//! batch only.

mod dense;
mod row_table;

pub use dense::{DenseParameters, DenseParametersBuilder, ParameterId};
pub use row_table::{RowTable, TableRows};

/// Everything that training changes.
#[derive(Debug)]
pub struct Parameters {
    /// Parameters that every step changes as a whole.
    pub dense: DenseParameters,
    /// Tables of which a step changes some rows.
    pub tables: Vec<RowTable>,
}
