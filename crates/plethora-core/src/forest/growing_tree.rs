//! One tree of a forest while it grows, on histograms of gradients.

use std::ops::Range;

use rayon::prelude::*;

use super::ForestConfig;
use super::boosting::Node;
use super::feature_rows::{FeatureRows, NUM_BINS};

/// Leaves with less are not cut.
const MIN_HESSIAN: f64 = 1e-3;

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

/// A tree that is grown leaf by leaf.
pub(super) struct GrowingTree<'a> {
    rows: &'a FeatureRows,
    gradients: &'a [[f32; 2]],
    config: &'a ForestConfig,
    /// All rows, those of a leaf together and in their order.
    order: Vec<u32>,
    /// The nodes so far.
    pub(super) nodes: Vec<Node>,
    leaves: Vec<Leaf>,
}

impl<'a> GrowingTree<'a> {
    /// A tree of one leaf; a row has a gradient and a Hessian.
    pub(super) fn new(
        rows: &'a FeatureRows,
        gradients: &'a [[f32; 2]],
        config: &'a ForestConfig,
    ) -> Self {
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
    pub(super) fn grow(&mut self) {
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

    /// Adds the value of each row's leaf to its margin.
    pub(super) fn add_values(&self, margins: &mut [f32]) {
        for leaf in &self.leaves {
            let value = self.nodes[leaf.node].value;
            for &row in &self.order[leaf.rows.clone()] {
                margins[row as usize] += value;
            }
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
            // Nothing lies above the last bin.
            let last = self.rows.num_bins(feature) - 1;
            for (bin, sums_of_bin) in histogram[..last].iter().enumerate() {
                low = low.plus(*sums_of_bin);
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
