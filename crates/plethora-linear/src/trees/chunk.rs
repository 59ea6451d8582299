//! The pruned weights of up to 256 classes of one node, by feature.

use half::bf16;

use crate::trees::problem::NodeProblem;
use crate::trees::solver::{BlockWeights, LANES};
use crate::trees::tree_weights::ChunkView;

/// Classes of a chunk: their number within it fits in a byte.
pub(crate) const CHUNK_CLASSES: usize = 256;

/// Sparse weights of a run of a node's classes, grouped by feature, as they are stored.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Chunk {
    /// One bias per class.
    pub(crate) biases: Vec<f32>,
    /// Features with any weight, rising.
    pub(crate) features: Vec<u32>,
    /// Where each feature's entries end.
    pub(crate) entry_ends: Vec<u32>,
    /// The class of each entry, counted within the chunk.
    pub(crate) classes: Vec<u8>,
    /// The weight of each entry, as bits of a bf16: half the size, and its rounding (one part in
    /// 256, both ways) averages out over the features of a document.
    pub(crate) weights: Vec<u16>,
}

/// Which weights are dropped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pruning {
    /// Smaller ones.
    pub(crate) below: f32,
    /// Of so many features, the first ones.
    pub(crate) num_features: usize,
}

impl Pruning {
    fn keeps(self, feature: u32, weight: f32) -> bool {
        let is_large = weight.abs() >= self.below || feature as usize >= self.num_features;
        is_large && weight != 0.0
    }
}

impl Chunk {
    /// Classes without weights, which another process trains.
    pub(crate) fn untrained(num_classes: usize) -> Self {
        Self {
            biases: vec![0.0; num_classes],
            ..Self::default()
        }
    }

    pub(crate) fn view(&self) -> ChunkView<'_> {
        ChunkView {
            biases: &self.biases,
            features: &self.features,
            entry_ends: &self.entry_ends,
            classes: &self.classes,
            weights: &self.weights,
        }
    }

    /// Joins trained blocks, [`LANES`] classes each but for the last, and prunes them.
    pub(crate) fn from_blocks(
        problem: &NodeProblem,
        blocks: &[BlockWeights],
        num_classes: usize,
        pruning: Pruning,
    ) -> Self {
        let mut chunk = Self::default();
        for class in 0..num_classes {
            chunk
                .biases
                .push(blocks[class / LANES].biases()[class % LANES]);
        }
        for &feature in problem.in_global_order() {
            let global_feature = problem.global_features()[feature as usize];
            let entries_before = chunk.classes.len();
            for (block_number, block) in blocks.iter().enumerate() {
                let first_class = block_number * LANES;
                let lanes = (num_classes - first_class).min(LANES);
                let weights = &block.of_feature(feature as usize)[..lanes];
                for (class, &weight) in (first_class..).zip(weights) {
                    if pruning.keeps(global_feature, weight) {
                        chunk.classes.push(class as u8);
                        chunk.weights.push(bf16::from_f32(weight).to_bits());
                    }
                }
            }
            if chunk.classes.len() > entries_before {
                chunk.features.push(global_feature);
                chunk.entry_ends.push(chunk.classes.len() as u32);
            }
        }
        chunk
    }
}
