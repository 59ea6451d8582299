//! The labels of the nearest training documents: the system `knn`, which learns nothing and is hard to
//! beat where texts repeat themselves.
//!
//! [`KnnSetBuilder`] reads documents, [`KnnTrainer`] writes their index, [`KnnModel`] asks it.

mod config;
mod model;
mod power;
mod train;
mod training_set;

pub use config::{KNN, KNN_RECIPE, KnnConfig};
pub use model::{KnnExplanation, KnnModel, KnnVote};
pub use power::MAX_ASKED;
pub use train::KnnTrainer;
pub use training_set::{KnnSet, KnnSetBuilder};
