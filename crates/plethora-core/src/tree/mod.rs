//! Label trees: grouping labels by the documents they occur in, so that a classifier looks at a
//! few groups instead of at every label.

mod balanced_kmeans;
mod builder;
mod hierarchy;
mod kmeans;
mod label_features;
mod label_tree;

pub use builder::{TreeConfig, TreeShape, build};
pub use label_features::{add_label_text, label_features};
pub use label_tree::{LabelTree, TreeNode};
