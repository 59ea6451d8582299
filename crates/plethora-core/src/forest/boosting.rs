//! Boosted trees on histograms with logistic loss.
//!
//! Features are cut into bins once; a tree is grown leaf by leaf, each time where the loss falls most,
//! and its leaves are Newton steps that the learning rate shortens (Friedman 2001; Ke et al. 2017).
//! Sums go over rows in their order, so the forest is the same for any number of threads.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::ForestConfig;
use super::feature_rows::FeatureRows;
use super::growing_tree::GrowingTree;
use crate::Result;
use crate::artifact::{ArrayFileWriter, Dtype, MappedArrays};

/// Rows that go down a tree together, so that none waits for the answers of another.
const LANES: usize = 8;

/// A question, or an answer where it has no second node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Node {
    pub(super) feature: u32,
    /// Values up to this go to the node `next`, others to the one behind it.
    pub(super) threshold: f32,
    /// 0 for a leaf: no question leads back to the first node.
    pub(super) next: u32,
    pub(super) value: f32,
}

/// Trees whose sum is the log-odds of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Forest {
    bias: f32,
    trees: Vec<Vec<Node>>,
}

impl Forest {
    /// The probabilities of rows of `num_features`, one behind the other.
    pub fn probabilities(&self, rows: &[f32], num_features: usize) -> Vec<f32> {
        let mut margins = vec![self.bias; rows.len() / num_features];
        // By trees, as one fits the nearest cache and all of them do not.
        for tree in &self.trees {
            let depth = depth(tree);
            let margins = margins.chunks_mut(LANES);
            for (margins, rows) in margins.zip(rows.chunks(LANES * num_features)) {
                add_values(tree, depth, margins, rows, num_features);
            }
        }
        margins.into_iter().map(sigmoid).collect()
    }

    /// Fits a forest to rows, of which `truth` says which are true.
    pub fn fit(rows: &FeatureRows, truth: &[bool], config: &ForestConfig) -> Self {
        let num_true = truth.iter().filter(|&&is_true| is_true).count();
        // Half a row of a kind that there is none of keeps the log-odds finite.
        let at_least_half = |count: usize| (count as f64).max(0.5);
        let odds = at_least_half(num_true) / at_least_half(truth.len() - num_true);
        let bias = odds.ln() as f32;
        let mut margins = vec![bias; truth.len()];
        let mut trees = Vec::with_capacity(config.num_trees);
        for _ in 0..config.num_trees {
            let gradients: Vec<[f32; 2]> = (margins.par_iter().zip(truth))
                .map(|(&margin, &is_true)| {
                    let probability = sigmoid(margin);
                    let gradient = probability - f32::from(u8::from(is_true));
                    [gradient, probability * (1.0 - probability)]
                })
                .collect();
            let mut growing = GrowingTree::new(rows, &gradients, config);
            growing.grow();
            growing.add_values(&mut margins);
            trees.push(growing.nodes);
        }
        Self { bias, trees }
    }

    /// Writes the forest as a file of arrays.
    pub fn write(&self, path: &std::path::Path) -> Result<()> {
        let mut file = ArrayFileWriter::create(path)?;
        let nodes = || self.trees.iter().flatten();
        let sizes: Vec<u32> = self.trees.iter().map(|tree| tree.len() as u32).collect();
        let features: Vec<u32> = nodes().map(|node| node.feature).collect();
        let next: Vec<u32> = nodes().map(|node| node.next).collect();
        for (name, values) in [("sizes", sizes), ("features", features), ("next", next)] {
            let array = file.begin(name, Dtype::U32)?;
            file.append(array, &values)?;
        }
        let thresholds: Vec<f32> = nodes().map(|node| node.threshold).collect();
        let values: Vec<f32> = nodes().map(|node| node.value).collect();
        for (name, values) in [
            ("thresholds", thresholds),
            ("values", values),
            ("bias", vec![self.bias]),
        ] {
            let array = file.begin(name, Dtype::F32)?;
            file.append(array, &values)?;
        }
        file.finish()
    }

    /// Reads what [`write`](Self::write) wrote; none where its parts do not fit each other or rows of
    /// `num_features`.
    pub fn read(file: &MappedArrays, num_features: usize) -> Result<Option<Self>> {
        let (features, next) = (file.array::<u32>("features")?, file.array::<u32>("next")?);
        let (thresholds, values) = (file.array("thresholds")?, file.array("values")?);
        let (sizes, bias) = (file.array::<u32>("sizes")?, file.array::<f32>("bias")?);
        let num_nodes = features.len();
        let total: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
        let sizes_fit = [next.len(), thresholds.len(), values.len()] == [num_nodes; 3]
            && total == num_nodes as u64
            && bias.len() == 1;
        if !sizes_fit {
            return Ok(None);
        }
        let nodes: Vec<Node> = (0..num_nodes)
            .map(|node| Node {
                feature: features[node],
                threshold: thresholds[node],
                next: next[node],
                value: values[node],
            })
            .collect();
        let mut rest = &nodes[..];
        let mut trees = Vec::with_capacity(sizes.len());
        for &size in sizes {
            let (tree, others) = rest.split_at(size as usize);
            trees.push(tree.to_vec());
            rest = others;
        }
        let bias = bias[0];
        let forest = Self { bias, trees };
        Ok(forest.is_sound(num_features).then_some(forest))
    }

    /// True for a forest whose questions are about rows of `num_features` and lead forwards only, so
    /// that every path ends: what is read from a file may be anything.
    pub fn is_sound(&self, num_features: usize) -> bool {
        self.trees.iter().all(|tree| {
            let is_sound = |(place, node): (usize, &Node)| {
                let next = node.next as usize;
                let leads_on = next > place && next + 1 < tree.len();
                // Leaves ask nothing, but their feature is looked up all the same: guessing would take longer.
                (node.next == 0 || leads_on) && (node.feature as usize) < num_features
            };
            !tree.is_empty() && tree.iter().enumerate().all(is_sound)
        })
    }
}

/// Questions on the longest way down a tree.
fn depth(tree: &[Node]) -> usize {
    let mut depths = vec![0; tree.len()];
    for (place, node) in tree.iter().enumerate() {
        let next = node.next as usize;
        if next > 0 {
            (depths[next], depths[next + 1]) = (depths[place] + 1, depths[place] + 1);
        }
    }
    depths.into_iter().max().unwrap_or(0)
}

/// Adds a tree's answers to the margins of up to [`LANES`] rows. All take as many steps as the longest way
/// has, and leaves are not left: to guess wrong where a way ends would take longer.
fn add_values(tree: &[Node], depth: usize, margins: &mut [f32], rows: &[f32], num_features: usize) {
    let mut places = [0; LANES];
    let places = &mut places[..margins.len()];
    for _ in 0..depth {
        for (lane, place) in places.iter_mut().enumerate() {
            let node = &tree[*place];
            let value = rows[lane * num_features + node.feature as usize];
            let is_above = value > node.threshold;
            let next = node.next as usize + usize::from(is_above);
            *place = if node.next == 0 { *place } else { next };
        }
    }
    for (margin, &place) in margins.iter_mut().zip(&*places) {
        *margin += tree[place].value;
    }
}

fn sigmoid(margin: f32) -> f32 {
    1.0 / (1.0 + (-margin).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Golden {
        settings: ForestConfig,
        rows: Vec<Vec<f32>>,
        truth: Vec<bool>,
        probabilities: Vec<f32>,
    }

    fn config() -> ForestConfig {
        ForestConfig {
            num_trees: 1,
            num_leaves: 2,
            learning_rate: 1.0,
            min_rows: 1,
            ridge: 0.0,
        }
    }

    fn fit(values: &[f32], num_features: usize, truth: &[bool], config: &ForestConfig) -> Forest {
        Forest::fit(&FeatureRows::new(values, num_features), truth, config)
    }

    #[test]
    fn the_forest_is_that_of_scikit_learn() {
        let text = include_str!("../../../../testdata/forest/golden.json");
        let golden: Golden = serde_json::from_str(text).unwrap();
        let config = golden.settings;
        let num_features = golden.rows[0].len();
        let values = golden.rows.concat();
        let forest = fit(&values, num_features, &golden.truth, &config);
        let found = forest.probabilities(&values, num_features);
        for (row, (found, expected)) in found.iter().zip(&golden.probabilities).enumerate() {
            let difference = (found - expected).abs();
            assert!(difference < 1e-4, "row {row}: {found}, expected {expected}");
        }
    }

    #[test]
    fn a_leaf_is_a_newton_step_computed_by_hand() {
        // Half of four rows is true: log-odds 0, gradients of 1/2 either way, Hessians of 1/4. Both
        // leaves have sums of 2 * 1/2 and 2 * 1/4, so their steps are of length 2.
        let values = [1.0, 2.0, 3.0, 4.0];
        let forest = fit(&values, 1, &[false, false, true, true], &config());
        assert_eq!((forest.bias, forest.trees.len()), (0.0, 1));
        let tree = &forest.trees[0];
        assert_eq!((tree[0].next, tree[0].threshold), (1, 2.5));
        assert_eq!([tree[1].value, tree[2].value], [-2.0, 2.0]);
        let found = forest.probabilities(&[2.5, 2.6], 1);
        assert_eq!(found, [sigmoid(-2.0), sigmoid(2.0)]);
    }

    #[test]
    fn rows_of_one_kind_and_no_rows_give_a_forest_without_questions() {
        for truth in [&[true; 3][..], &[false; 3], &[]] {
            let values = vec![1.0; truth.len()];
            let forest = fit(&values, 1, truth, &config());
            assert!(forest.trees.iter().all(|tree| tree.len() == 1));
            let found = forest.probabilities(&[1.0], 1)[0];
            assert!(found.is_finite() && found > 0.0 && found < 1.0);
        }
    }

    type Damage = fn(&mut Forest);

    #[test]
    fn forests_come_back_as_written_and_damaged_ones_are_refused() {
        let values: Vec<f32> = (0..200).map(|value| value as f32).collect();
        let truth: Vec<bool> = (0..100).map(|row| row % 7 < 3).collect();
        let config = ForestConfig {
            num_trees: 3,
            num_leaves: 5,
            ..config()
        };
        let forest = fit(&values, 2, &truth, &config);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("forest.safetensors");
        let read = |forest: &Forest, num_features| {
            forest.write(&path).unwrap();
            Forest::read(&MappedArrays::open(&path).unwrap(), num_features).unwrap()
        };
        assert_eq!(read(&forest, 2), Some(forest.clone()));
        let damages: [Damage; 5] = [
            |forest| {
                let leaf = forest.trees[0].last_mut().unwrap();
                assert_eq!(leaf.next, 0);
                leaf.feature = 2;
            },
            |forest| forest.trees[0][1].next = 1,
            |forest| forest.trees[0][0].next = 99,
            |forest| forest.trees[0][0].feature = 2,
            |forest| forest.trees.push(Vec::new()),
        ];
        for damage in damages {
            let mut damaged = forest.clone();
            damage(&mut damaged);
            assert_eq!(read(&damaged, 2), None);
        }
    }
}
