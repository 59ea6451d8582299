//! What every classifier of Plethora shares: reading corpora, turning text into features, building
//! label trees, measuring rankings, and the model folder on disk.
//!
//! No tensors, no terminal, no async: everything here runs on the CPU and is deterministic, for
//! any number of threads.

mod announced;
pub mod artifact;
pub mod calibration;
mod cells;
pub mod checks;
pub mod corpus;
mod error;
pub mod forest;
mod ids;
mod index_rows;
pub mod metrics;
pub mod neighbours;
mod progress;
mod seed;
mod sparse;
pub mod text;
pub mod training_log;
pub mod tree;

pub use announced::Announced;
pub use cells::{grouped, one_field, printable, shortened};
pub use error::{Argument, Error, Hint, Key, Message, Result, Wording};
pub use ids::{LabelId, TermId};
pub use index_rows::IndexRows;
pub use metrics::ScoredLabel;
pub use progress::{NoProgress, Progress};
pub use seed::SeedStream;
pub use sparse::{SparseMatrix, SparseMatrixBuilder, SparseRow, SparseVector};
