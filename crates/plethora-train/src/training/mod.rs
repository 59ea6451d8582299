//! From a corpus to a model folder, in stages that can be gone on with.
//!
//! `job.rs` is what all systems have in common; a family of systems is one file that says how its
//! training documents are collected, trained on and saved.

mod corpus;
mod family;
mod features;
mod job;
mod knn;
mod linear;
#[cfg(feature = "torch")]
mod neural;
mod report;

pub use corpus::Corpus;
pub use job::TrainingJob;
pub use linear::warn_of_linear;
pub use report::{ModelSize, TrainingReport};
