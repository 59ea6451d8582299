//! From settings and a corpus to a trained and measured model, for every system: what the command
//! line and the Python package share.
//!
//! Nothing here prints, and nothing of the environment is read but where the user keeps caches.

mod corpus_reading;
pub mod evaluation;
pub mod figures;
pub mod folders;
pub mod resources;
mod session;
pub mod settings;
pub mod training;

pub use corpus_reading::{in_file, no_labels, shown, tell_warnings};
pub use session::{Session, SharedProgress};
