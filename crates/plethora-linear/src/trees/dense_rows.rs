//! A chunk of few classes laid out with a weight for each of them, zeros among them: for documents that visit it
//! together, adding whole rows is faster than finding out which few classes a feature has.

#![expect(
    clippy::inline_always,
    reason = "the loops must be compiled into each processor's version"
)]

use half::bf16;
use plethora_core::SparseRow;

use crate::trees::feature_table::FeatureTable;
use crate::trees::tree_weights::ChunkView;

/// Weights that are added at once: as many as the widest registers hold.
const LANES: usize = 16;

/// Most classes that are laid out.
pub(crate) const MOST_CLASSES: usize = 4 * LANES;

/// From this many documents on, the layout pays for itself.
pub(crate) const DENSE_FROM: usize = 6;

/// The weights of the chunk at hand; reused from chunk to chunk.
#[derive(Default)]
pub(crate) struct DenseRows {
    /// features x as many times [`LANES`] as the chunk's classes need.
    weights: Vec<[f32; LANES]>,
    lines: usize,
}

impl DenseRows {
    /// Lays a chunk out, which has at most [`MOST_CLASSES`].
    pub(crate) fn fill(&mut self, chunk: &ChunkView<'_>) {
        self.lines = chunk.biases.len().div_ceil(LANES).max(1);
        self.weights.clear();
        self.weights
            .resize(chunk.features.len() * self.lines, [0.0; LANES]);
        let values = self.weights.as_flattened_mut();
        for (row, dense) in values.chunks_mut(self.lines * LANES).enumerate() {
            let (classes, weights) = chunk.entries(row);
            for (&class, &weight) in classes.iter().zip(weights) {
                dense[class as usize] = bf16::from_bits(weight).to_f32();
            }
        }
    }

    /// Adds to `scores`, one for each class and zeros behind them, what the features of a document add: for each class
    /// the same sums in the same order as entry by entry.
    pub(crate) fn add(&self, document: SparseRow<'_>, table: &FeatureTable, scores: &mut [f32]) {
        match self.lines {
            1 => add::<1>(&self.weights, document, table, scores),
            2 => add::<2>(&self.weights, document, table, scores),
            3 => add::<3>(&self.weights, document, table, scores),
            _ => add::<4>(&self.weights, document, table, scores),
        }
    }
}

/// Runs the widest version of the loop that this processor has; none changes a sum.
fn add<const LINES: usize>(
    weights: &[[f32; LANES]],
    document: SparseRow<'_>,
    table: &FeatureTable,
    scores: &mut [f32],
) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,popcnt")]
        fn with_avx512<const LINES: usize>(
            weights: &[[f32; LANES]],
            document: SparseRow<'_>,
            table: &FeatureTable,
            scores: &mut [f32],
        ) {
            plain::<LINES>(weights, document, table, scores);
        }
        #[target_feature(enable = "avx2,popcnt")]
        fn with_avx2<const LINES: usize>(
            weights: &[[f32; LANES]],
            document: SparseRow<'_>,
            table: &FeatureTable,
            scores: &mut [f32],
        ) {
            plain::<LINES>(weights, document, table, scores);
        }
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("popcnt")
        {
            #[expect(unsafe_code, reason = "needs the processor features just detected")]
            // SAFETY: the features that the function is compiled for were detected above.
            return unsafe { with_avx512::<LINES>(weights, document, table, scores) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
            #[expect(unsafe_code, reason = "needs the processor features just detected")]
            // SAFETY: the features that the function is compiled for were detected above.
            return unsafe { with_avx2::<LINES>(weights, document, table, scores) };
        }
    }
    plain::<LINES>(weights, document, table, scores);
}

#[inline(always)]
fn plain<const LINES: usize>(
    weights: &[[f32; LANES]],
    document: SparseRow<'_>,
    table: &FeatureTable,
    scores: &mut [f32],
) {
    let rows = weights.as_chunks::<LINES>().0;
    let mut sums = [[0.0; LANES]; LINES];
    let scores = &mut scores[..LINES * LANES];
    sums.as_flattened_mut().copy_from_slice(scores);
    for (&feature, &value) in document.columns.iter().zip(document.values) {
        if let Some(row) = table.row(feature) {
            for (sums, weights) in sums.iter_mut().zip(&rows[row]) {
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum += value * weight;
                }
            }
        }
    }
    scores.copy_from_slice(sums.as_flattened());
}
