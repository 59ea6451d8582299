//! The labels of the nearest training documents: the system `knn`, which learns nothing and is hard to
//! beat where texts repeat themselves.
//!
//! [`KnnSetBuilder`] reads documents, [`KnnTrainer`] writes their index, [`KnnModel`] asks it.

mod addition;
mod config;
mod family;
mod model;
mod power;
mod train;
mod trainable;
mod training_set;

pub use config::{KnnConfig, OpenKnnConfig};
pub use family::Knn;
#[cfg(test)]
pub(crate) use family::recipe;
pub use model::{KnnExplanation, KnnModel, KnnVote};
pub use train::KnnTrainer;
pub use training_set::{KnnSet, KnnSetBuilder};
