//! Systems whose documents are rows of features: linear classifiers on label [`trees`], and [`knn`]; and
//! [`lexical`], which looks for names of labels.
//!
//! They share how documents become rows (`feature_reader.rs`, `training_set.rs`) and how a model of rows
//! becomes a system (`feature_system.rs`).

mod feature_reader;
mod feature_system;
mod fingerprint;
pub mod knn;
pub mod lexical;
mod ranking;
mod training_set;
pub mod trees;

use plethora_system::Family;
pub use ranking::{by_rank, keep_best};
pub use training_set::{TrainingSet, TrainingSetBuilder};

/// The families of this crate; the first system of the first one is the default.
pub static FAMILIES: [&dyn Family; 3] = [&trees::Trees, &knn::Knn, &lexical::Lexical];
