//! Linear classifiers on label trees: Parabel, Bonsai, one-vs-all, and one wide tree with hard
//! negatives.
//!
//! All of them are one model with different settings: a [`LabelTree`](plethora_core::tree) whose
//! nodes hold a linear classifier for each child and label. [`LinearTrainer`] makes it from
//! features, [`LinearModel`] ranks labels with it from a memory-mapped file.
//!
//! [`knn`] takes the same features and no tree: the labels of the nearest training documents.

mod beam;
mod chunk;
mod config;
mod explain;
mod fingerprint;
pub mod knn;
mod model;
mod node_documents;
mod problem;
mod recipe;
mod save;
mod solver;
mod train;
mod train_tree;
mod training_beam;
mod training_set;
mod tree_file;
mod tree_weights;

pub use config::{LinearConfig, Loss, SolverConfig};
pub use explain::{FeatureContribution, LabelExplanation};
pub use model::{LinearModel, RankOptions};
pub use recipe::{RECIPES, recipe};
pub use save::{CONFIG_FILE, FeatureSystem, METRICS_FILE, ModelParts};
pub use train::{LinearTrainer, StageTimes};
pub use training_set::{TrainingSet, TrainingSetBuilder};
