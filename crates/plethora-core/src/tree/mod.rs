//! Label trees: grouping labels by the documents they occur in, so that a classifier looks at a
//! few groups instead of at every label.

mod balanced_kmeans;
mod builder;
mod hierarchy;
mod kmeans;
mod label_features;
mod label_tree;
mod wide;

pub use builder::{TreeConfig, TreeShape, build};
pub use label_features::{add_label_text, label_features, label_texts};
pub use label_tree::{LabelTree, TreeNode};
pub use wide::{build_wide, check_widths};
