//! From settings and a corpus to a trained, measured, explained, calibrated or combined model, for
//! every system: what the command line and the Python package share.
//!
//! Nothing here prints, and nothing of the environment is read but where the user keeps caches.

pub mod auto;
pub mod calibration;
pub mod check;
mod corpus_reading;
pub mod ensembles;
pub mod evaluation;
pub mod explanation;
pub mod figures;
pub mod folders;
pub mod labels;
pub mod merging;
mod model_folder;
mod model_opening;
mod page;
pub mod papers;
pub mod report;
pub mod search;
mod session;
pub mod training;

pub use corpus_reading::{in_file, no_labels, shown, tell_feedback, tell_warnings};
pub use model_opening::ModelOpening;
pub use session::{Session, SharedProgress};
