//! From label features to a [`LabelTree`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::balanced_kmeans::{StopRule, split_evenly};
use super::label_tree::{LabelTree, TreeNode};
use super::{hierarchy, kmeans};
use crate::checks::{at_least, number_from, share};
use crate::corpus::LabelSpace;
use crate::{LabelId, Result, SeedStream, SparseMatrix};

/// How labels are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
        at_least("tree.branching", self.branching, 2)?;
        at_least("tree.max_leaf", self.max_leaf, 1)?;
        at_least("tree.max_rounds", self.max_rounds, 1)?;
        number_from("tree.min_gain", self.min_gain, 0.0)?;
        at_least("tree.max_label_features", self.max_label_features, 1)?;
        share("tree.label_text_weight", self.label_text_weight)
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

pub(super) fn grow(
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

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;
    use rand::RngExt;

    use super::*;
    use crate::SparseVector;
    use crate::corpus::Label;

    pub(in crate::tree) fn random_features(num_labels: usize, seed: u64) -> SparseMatrix {
        let mut rng = SeedStream::new(seed).rng();
        let mut builder = SparseMatrix::builder(50);
        for _ in 0..num_labels {
            let entries = (0..rng.random_range(0..8))
                .map(|_| (rng.random_range(0..50), rng.random_range(0.1..1.0)))
                .collect();
            let mut row = SparseVector::from_entries(entries);
            row.normalize();
            builder.push(row.as_row());
        }
        builder.finish()
    }

    fn build_tree(features: &SparseMatrix, config: &TreeConfig, seed: u64) -> LabelTree {
        build(
            features,
            &LabelSpace::default(),
            config,
            SeedStream::new(seed),
        )
        .unwrap()
    }

    fn shape() -> impl Strategy<Value = TreeShape> {
        prop_oneof![Just(TreeShape::Balanced), Just(TreeShape::Kmeans)]
    }

    proptest! {
        #[test]
        fn every_label_hangs_under_exactly_one_node(
            num_labels in 1_usize..200, branching in 2_usize..9, max_leaf in 1_usize..30,
            shape in shape(), seed: u64,
        ) {
            let config = TreeConfig { shape, branching, max_leaf, ..TreeConfig::default() };
            let tree = build_tree(&random_features(num_labels, seed), &config, seed);
            let mut labels: Vec<u32> = (0..tree.num_nodes())
                .flat_map(|node| tree.labels(node).iter().map(|label| label.0))
                .collect();
            labels.sort_unstable();
            prop_assert_eq!(labels, (0..num_labels as u32).collect::<Vec<_>>());
        }

        #[test]
        fn balanced_clusters_keep_their_size_limits(
            num_labels in 2_usize..300, branching in 2_usize..9, max_leaf in 1_usize..40, seed: u64,
        ) {
            let config = TreeConfig { branching, max_leaf, ..TreeConfig::default() };
            let tree = build_tree(&random_features(num_labels, seed), &config, seed);
            let mut sizes = vec![0; tree.num_nodes()];
            for node in (0..tree.num_nodes()).rev() {
                let below = tree.children(node).map(|child| sizes[child]);
                let children: Vec<usize> = below.collect();
                if let (Some(least), Some(most)) = (children.iter().min(), children.iter().max()) {
                    prop_assert!(most - least <= 1);
                }
                prop_assert!(tree.labels(node).len() <= max_leaf);
                prop_assert!(children.len() <= branching);
                sizes[node] = tree.labels(node).len() + children.iter().sum::<usize>();
            }
        }
    }

    #[test]
    fn sizes_that_straddle_the_leaf_limit_are_split_where_needed() {
        let config = TreeConfig {
            branching: 2,
            max_leaf: 5,
            ..TreeConfig::default()
        };
        let tree = build_tree(&random_features(11, 3), &config, 3);
        // 11 = 5 + 6: the five stay, the six become 3 + 3.
        let mut sizes: Vec<usize> = (0..tree.num_nodes())
            .map(|node| tree.labels(node).len())
            .collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [0, 0, 3, 3, 5]);
    }

    #[test]
    fn any_number_of_threads_gives_the_same_tree() {
        let features = random_features(5000, 9);
        for shape in [TreeShape::Balanced, TreeShape::Kmeans] {
            let config = TreeConfig {
                shape,
                max_leaf: 20,
                ..TreeConfig::default()
            };
            let with_threads = |threads| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                pool.install(|| build_tree(&features, &config, 4))
            };
            assert_eq!(with_threads(1), with_threads(2));
            assert_ne!(with_threads(1), build_tree(&features, &config, 5));
        }
    }

    #[test]
    fn similar_labels_end_in_the_same_cluster() {
        let mut builder = SparseMatrix::builder(4);
        for label in 0..40_u32 {
            let column = label % 2 * 2;
            let mut row = SparseVector::from_entries(vec![(column, 1.0), (column + 1, 0.5)]);
            row.normalize();
            builder.push(row.as_row());
        }
        let config = TreeConfig {
            branching: 2,
            max_leaf: 20,
            ..TreeConfig::default()
        };
        // Two random centres of one kind leave everything as it is; most seeds find the kinds.
        let features = builder.finish();
        let is_pure = |seed: &u64| {
            let tree = build_tree(&features, &config, *seed);
            tree.labels(1)
                .windows(2)
                .all(|pair| pair[0].0 % 2 == pair[1].0 % 2)
        };
        assert!((0..20).filter(is_pure).count() >= 8);
    }

    #[test]
    fn wide_groups_of_a_hierarchy_are_clustered() {
        let labels: Vec<Label> = (0..60)
            .map(|id| Label {
                key: format!("{id:02}"),
                parents: if id == 0 { vec![] } else { vec!["00".into()] },
                ..Label::default()
            })
            .collect();
        let space = LabelSpace::new(labels, vec![1; 60]);
        let config = TreeConfig {
            shape: TreeShape::Hierarchy,
            max_leaf: 10,
            branching: 8,
            ..TreeConfig::default()
        };
        let tree = build(&random_features(60, 1), &space, &config, SeedStream::new(1)).unwrap();
        assert_eq!(tree.num_labels(), 60);
        assert!((0..tree.num_nodes()).all(|node| tree.labels(node).len() <= 10));
    }

    #[test]
    fn impossible_settings_are_named() {
        let config = TreeConfig {
            branching: 1,
            ..TreeConfig::default()
        };
        let error = config.validate().unwrap_err().to_string();
        assert_eq!(error, "tree.branching: must be at least 2, found 1");
    }
}
