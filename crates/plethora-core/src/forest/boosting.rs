//! Boosted trees on histograms with logistic loss.
//!
//! Features are cut into bins once; a tree is grown leaf by leaf, each time where the loss falls most,
//! and its leaves are Newton steps that the learning rate shortens (Friedman 2001; Ke et al. 2017).
//! Sums go over rows in their order, so the forest is the same for any number of threads.

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::ForestConfig;
use super::feature_rows::{FeatureRows, NUM_BINS};
use crate::Result;
use crate::artifact::{ArrayFileWriter, Dtype, MappedArrays};

/// Leaves with less are not cut.
const MIN_HESSIAN: f64 = 1e-3;

/// A question, or an answer where it has no second node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Node {
    feature: u32,
    /// Values up to this go to the node `next`, others to the one behind it.
    threshold: f32,
    /// 0 for a leaf: no question leads back to the first node.
    next: u32,
    value: f32,
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
            for (margin, row) in margins.iter_mut().zip(rows.chunks_exact(num_features)) {
                *margin += leaf_value(tree, row);
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
            for leaf in &growing.leaves {
                let value = growing.nodes[leaf.node].value;
                for &row in &growing.order[leaf.rows.clone()] {
                    margins[row as usize] += value;
                }
            }
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
                node.next == 0 || leads_on && (node.feature as usize) < num_features
            };
            !tree.is_empty() && tree.iter().enumerate().all(is_sound)
        })
    }
}

fn leaf_value(tree: &[Node], row: &[f32]) -> f32 {
    let mut node = &tree[0];
    while node.next != 0 {
        let is_above = row[node.feature as usize] > node.threshold;
        node = &tree[node.next as usize + usize::from(is_above)];
    }
    node.value
}

fn sigmoid(margin: f32) -> f32 {
    1.0 / (1.0 + (-margin).exp())
}

/// Sums over rows: gradients, Hessians, rows.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    gradient: f64,
    hessian: f64,
    rows: u32,
}

impl Sums {
    fn plus(self, other: Self) -> Self {
        Self {
            gradient: self.gradient + other.gradient,
            hessian: self.hessian + other.hessian,
            rows: self.rows + other.rows,
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            gradient: self.gradient - other.gradient,
            hessian: self.hessian - other.hessian,
            rows: self.rows - other.rows,
        }
    }

    /// How far one leaf for all of them lowers the loss, twice.
    fn gain(self, ridge: f64) -> f64 {
        self.gradient * self.gradient / (self.hessian + ridge)
    }
}

#[derive(Debug, Clone, Copy)]
struct Split {
    gain: f64,
    feature: usize,
    /// Rows of this bin and lower ones go to the first side.
    bin: u8,
}

struct Leaf {
    node: usize,
    rows: Range<usize>,
    histograms: Vec<Sums>,
    split: Option<Split>,
}

struct GrowingTree<'a> {
    rows: &'a FeatureRows,
    gradients: &'a [[f32; 2]],
    config: &'a ForestConfig,
    /// All rows, those of a leaf together and in their order.
    order: Vec<u32>,
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
}

impl<'a> GrowingTree<'a> {
    fn new(rows: &'a FeatureRows, gradients: &'a [[f32; 2]], config: &'a ForestConfig) -> Self {
        let mut tree = Self {
            rows,
            gradients,
            config,
            order: (0..gradients.len() as u32).collect(),
            nodes: Vec::new(),
            leaves: Vec::new(),
        };
        let histograms = tree.histograms(0..gradients.len());
        let sums = histograms[..NUM_BINS].iter().copied();
        let sums = sums.fold(Sums::default(), Sums::plus);
        let root = tree.leaf(0..gradients.len(), sums, histograms);
        tree.leaves.push(root);
        tree
    }

    /// Splits the leaf whose split gains most, while there is one.
    fn grow(&mut self) {
        while self.leaves.len() < self.config.num_leaves {
            let gain = |leaf: &Leaf| leaf.split.map_or(0.0, |split| split.gain);
            let mut best = 0;
            for (place, leaf) in self.leaves.iter().enumerate() {
                if gain(leaf) > gain(&self.leaves[best]) {
                    best = place;
                }
            }
            let Some(split) = self.leaves[best].split else {
                return;
            };
            self.split(best, split);
        }
    }

    fn split(&mut self, leaf: usize, split: Split) {
        let parent = self.leaves.swap_remove(leaf);
        let bins = self.rows.bins(split.feature);
        let rows = &mut self.order[parent.rows.clone()];
        let (low, high): (Vec<u32>, Vec<u32>) =
            (rows.iter()).partition(|&&row| bins[row as usize] <= split.bin);
        rows[..low.len()].copy_from_slice(&low);
        rows[low.len()..].copy_from_slice(&high);
        let middle = parent.rows.start + low.len();
        let ranges = [parent.rows.start..middle, middle..parent.rows.end];
        // The histograms of the larger side are what the smaller one leaves of the parent's.
        let smaller = usize::from(ranges[1].len() < ranges[0].len());
        let few = self.histograms(ranges[smaller].clone());
        let mut many = parent.histograms;
        for (sum, part) in many.iter_mut().zip(&few) {
            *sum = sum.minus(*part);
        }
        let first_bin = split.feature * NUM_BINS;
        let side = |histograms: &[Sums]| {
            let bins = histograms[first_bin..first_bin + NUM_BINS].iter().copied();
            bins.fold(Sums::default(), Sums::plus)
        };
        let mut sides = [(side(&few), few), (side(&many), many)];
        if smaller == 1 {
            sides.swap(0, 1);
        }
        let next = self.nodes.len();
        let node = &mut self.nodes[parent.node];
        node.feature = split.feature as u32;
        node.threshold = self.rows.threshold(split.feature, split.bin);
        node.next = next as u32;
        for (range, (sums, histograms)) in ranges.into_iter().zip(sides) {
            let leaf = self.leaf(range, sums, histograms);
            self.leaves.push(leaf);
        }
    }

    /// A leaf with a node of its own.
    fn leaf(&mut self, rows: Range<usize>, sums: Sums, histograms: Vec<Sums>) -> Leaf {
        let ridge = f64::from(self.config.ridge);
        let step = -sums.gradient / (sums.hessian + ridge).max(f64::MIN_POSITIVE);
        self.nodes.push(Node {
            feature: 0,
            threshold: 0.0,
            next: 0,
            value: (f64::from(self.config.learning_rate) * step) as f32,
        });
        Leaf {
            node: self.nodes.len() - 1,
            split: self.best_split(sums, &histograms),
            rows,
            histograms,
        }
    }

    fn histograms(&self, rows: Range<usize>) -> Vec<Sums> {
        let order = &self.order[rows];
        let mut histograms = vec![Sums::default(); NUM_BINS * self.rows.num_features()];
        let by_feature = histograms.par_chunks_mut(NUM_BINS).enumerate();
        by_feature.for_each(|(feature, histogram)| {
            let bins = self.rows.bins(feature);
            for &row in order {
                let [gradient, hessian] = self.gradients[row as usize];
                let sums = &mut histogram[usize::from(bins[row as usize])];
                sums.gradient += f64::from(gradient);
                sums.hessian += f64::from(hessian);
                sums.rows += 1;
            }
        });
        histograms
    }

    fn best_split(&self, sums: Sums, histograms: &[Sums]) -> Option<Split> {
        let ridge = f64::from(self.config.ridge);
        let whole = sums.gain(ridge);
        let may_be_leaf =
            |side: Sums| side.rows as usize >= self.config.min_rows && side.hessian >= MIN_HESSIAN;
        let mut best: Option<Split> = None;
        for (feature, histogram) in histograms.chunks(NUM_BINS).enumerate() {
            let mut low = Sums::default();
            for bin in 0..self.rows.num_bins(feature).saturating_sub(1) {
                low = low.plus(histogram[bin]);
                let high = sums.minus(low);
                let gain = low.gain(ridge) + high.gain(ridge) - whole;
                if may_be_leaf(low)
                    && may_be_leaf(high)
                    && gain > best.map_or(0.0, |split| split.gain)
                {
                    best = Some(Split {
                        gain,
                        feature,
                        bin: bin as u8,
                    });
                }
            }
        }
        best
    }
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
        type Damage = fn(&mut Forest);
        let damages: [Damage; 4] = [
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
