//! From label features to a [`LabelTree`].

use serde::{Deserialize, Serialize};

use super::balanced_kmeans::{StopRule, split_evenly};
use super::label_tree::{LabelTree, TreeNode};
use super::{hierarchy, kmeans};
use crate::corpus::LabelSpace;
use crate::{Error, LabelId, Result, SeedStream, SparseMatrix};

/// How labels are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TreeShape {
    /// Halving by balanced 2-means: clusters of one node differ in size by at most one.
    Balanced,
    /// Spherical k-means with clusters of any size, as Bonsai.
    Kmeans,
    /// The broader/narrower relations of the label vocabulary; groups above the leaf limit are
    /// clustered further.
    Hierarchy,
}

/// Settings of a label tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeConfig {
    /// How labels are grouped.
    pub shape: TreeShape,
    /// Children of a node; 2 is Parabel's, larger is shallower and wider.
    pub branching: usize,
    /// A node with at most this many labels is not split further.
    pub max_leaf: usize,
    /// No node is split below this depth, whatever its size.
    pub max_depth: usize,
    /// Clustering stops when the mean similarity gains less than this in a round.
    pub min_gain: f32,
    /// Clustering stops after this many rounds.
    pub max_rounds: usize,
    /// Largest entries kept of a label's feature vector.
    pub max_label_features: usize,
    /// Share of the label's own names in its features, 0 to 1.
    pub label_text_weight: f32,
}

impl Default for TreeConfig {
    fn default() -> Self {
        Self {
            shape: TreeShape::Balanced,
            branching: 16,
            max_leaf: 100,
            max_depth: 20,
            min_gain: 1e-4,
            max_rounds: 50,
            max_label_features: 1000,
            label_text_weight: 0.0,
        }
    }
}

impl TreeConfig {
    /// Refuses settings that cannot work, naming the key below `tree`.
    pub fn validate(&self) -> Result<()> {
        let check = |is_valid: bool, key: &str, message: &str| {
            if is_valid {
                Ok(())
            } else {
                Err(Error::config(format!("tree.{key}"), message))
            }
        };
        check(self.branching >= 2, "branching", "must be at least 2")?;
        check(self.max_leaf >= 1, "max_leaf", "must be at least 1")?;
        check(self.max_rounds >= 1, "max_rounds", "must be at least 1")?;
        check(self.min_gain >= 0.0, "min_gain", "must not be negative")?;
        check(
            self.max_label_features >= 1,
            "max_label_features",
            "must be at least 1",
        )?;
        check(
            (0.0..=1.0).contains(&self.label_text_weight),
            "label_text_weight",
            "must lie between 0 and 1",
        )
    }

    fn stop_rule(&self) -> StopRule {
        StopRule {
            min_gain: self.min_gain,
            max_rounds: self.max_rounds,
        }
    }
}

/// Builds the tree over all rows of `features`, which are the labels of `space` in order. The same
/// seed gives the same tree for any number of threads.
pub fn build(
    features: &SparseMatrix,
    space: &LabelSpace,
    config: &TreeConfig,
    seed: SeedStream,
) -> Result<LabelTree> {
    config.validate()?;
    let root = match config.shape {
        TreeShape::Hierarchy => {
            let root = hierarchy::nested(space)?;
            split_wide_groups(root, features, config, seed, 0)
        }
        TreeShape::Balanced | TreeShape::Kmeans => {
            let labels = (0..features.num_rows() as u32).collect();
            grow(labels, features, config, seed, 0)
        }
    };
    Ok(LabelTree::from(root))
}

fn grow(
    mut labels: Vec<u32>,
    features: &SparseMatrix,
    config: &TreeConfig,
    seed: SeedStream,
    depth: usize,
) -> TreeNode {
    if labels.len() <= config.max_leaf || depth >= config.max_depth {
        return TreeNode::leaf(labels.into_iter().map(LabelId).collect());
    }
    let parts: Vec<Vec<u32>> = match config.shape {
        TreeShape::Kmeans => kmeans::split(
            features,
            &labels,
            config.branching,
            config.stop_rule(),
            seed,
        ),
        TreeShape::Balanced | TreeShape::Hierarchy => {
            let num_parts = config
                .branching
                .min(labels.len().div_ceil(config.max_leaf))
                .max(2);
            split_evenly(features, &mut labels, num_parts, config.stop_rule(), seed)
                .into_iter()
                .map(|part| part.to_vec())
                .collect()
        }
    };
    if parts.len() < 2 {
        // All labels look alike: no clustering can tell them apart.
        return TreeNode::leaf(labels.into_iter().map(LabelId).collect());
    }
    TreeNode {
        children: grow_all(parts, features, config, seed, depth + 1),
        labels: Vec::new(),
    }
}

fn grow_all(
    parts: Vec<Vec<u32>>,
    features: &SparseMatrix,
    config: &TreeConfig,
    seed: SeedStream,
    depth: usize,
) -> Vec<TreeNode> {
    use rayon::prelude::*;
    parts
        .into_par_iter()
        .enumerate()
        .map(|(index, part)| {
            // Numbered from 2: 0 and 1 are the halves inside an even split.
            grow(part, features, config, seed.child(index as u64 + 2), depth)
        })
        .collect()
}

/// Clusters the direct labels of a hierarchy's nodes where they are more than a leaf may hold.
fn split_wide_groups(
    node: TreeNode,
    features: &SparseMatrix,
    config: &TreeConfig,
    seed: SeedStream,
    depth: usize,
) -> TreeNode {
    let children = node.children.into_iter().zip(2_u64..);
    let mut children: Vec<TreeNode> = children
        .map(|(child, index)| {
            split_wide_groups(child, features, config, seed.child(index), depth + 1)
        })
        .collect();
    if node.labels.len() <= config.max_leaf {
        return TreeNode {
            children,
            labels: node.labels,
        };
    }
    let labels = node.labels.iter().map(|label| label.0).collect();
    let grown = grow(labels, features, config, seed.named("wide group"), depth);
    children.extend(grown.children);
    TreeNode {
        children,
        labels: grown.labels,
    }
}
