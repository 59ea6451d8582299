//! Linear classifiers on label trees: Parabel, Bonsai, one-vs-all, and one wide tree with hard
//! negatives.
//!
//! All of them are one model with different settings: a [`LabelTree`](plethora_core::tree) whose
//! nodes hold a linear classifier for each child and label. [`LinearTrainer`] makes it from
//! features, [`LinearModel`] ranks labels with it from a memory-mapped file.

mod beam;
mod chunk;
mod config;
mod dense_rows;
mod division;
mod estimate;
mod explain;
mod family;
mod feature_table;
mod model;
mod node_documents;
mod problem;
mod solver;
mod train;
mod train_tree;
mod trainable;
mod training_beam;
mod tree_file;
mod tree_weights;

pub use config::{LinearConfig, Loss, SolverConfig};
pub use explain::LabelExplanation;
pub use family::Trees;
pub use model::LinearModel;
pub use train::{LinearTrainer, StageTimes};
