//! Dual coordinate descent for many classifiers of one node at once.
//!
//! All classifiers of a node see the same documents and differ only in which of them are positive.
//! So up to [`LANES`] classifiers are trained side by side: the weights of a feature for all lanes
//! lie in one cache line, a document's features are looked up once for all of them, and each step is
//! a short run of vector instructions instead of a gather. Lanes never mix: what they share is the
//! order of documents and the pass at which the whole block stops. A few classifiers, as at the
//! nodes of a binary tree, take [`FEW_LANES`], which keeps four features in a line.
//!
//! Primal problem of a lane, with y = +1 or -1 and C the cost:
//!
//! ```text
//! min_w  1/2 |w|^2 + C sum_i max(0, 1 - y_i w.x_i)^2        (squared hinge)
//! min_w  1/2 |w|^2 + C sum_i log(1 + exp(-y_i w.x_i))       (log)
//! ```

#![expect(
    clippy::inline_always,
    reason = "the loops must be compiled into each processor's version of the solver"
)]

mod lane_rows;
mod log_loss;
mod squared_hinge;

use plethora_core::SeedStream;

use self::lane_rows::LaneRows;

use crate::trees::config::{Loss, SolverConfig};
use crate::trees::problem::{NodeProblem, prefetch};

/// Classifiers trained side by side: as many `f32` as fill a cache line.
pub(crate) const LANES: usize = 16;

/// Lanes of a block with few classifiers.
const FEW_LANES: usize = 4;

/// Visits from when a document is fetched until it is there.
const VISITS_AHEAD: usize = 3;

/// Weights of up to [`LANES`] classifiers over a node's features.
#[derive(Debug)]
pub(crate) struct BlockWeights {
    weights: LaneRows,
    biases: Vec<f32>,
}

impl BlockWeights {
    /// The weights of a feature (local number), one for each lane.
    pub(crate) fn of_feature(&self, feature: usize) -> &[f32] {
        self.weights.row(feature)
    }

    /// The bias of each lane.
    pub(crate) fn biases(&self) -> &[f32] {
        &self.biases
    }
}

/// Trains the classifiers whose positive documents (local numbers) are given, at most [`LANES`].
pub(crate) fn train_block(
    problem: &NodeProblem,
    positives: &[Vec<u32>],
    config: &SolverConfig,
    seed: SeedStream,
) -> BlockWeights {
    if positives.len() <= FEW_LANES {
        dispatch(
            BlockState::<FEW_LANES>::new(problem, positives),
            config,
            seed,
        )
    } else {
        dispatch(BlockState::<LANES>::new(problem, positives), config, seed)
    }
}

/// Runs the widest version of the loops that this processor has. All versions do the same
/// operations on each lane in the same order, so the weights are equal to the last bit.
fn dispatch<const N: usize>(
    state: BlockState<'_, N>,
    config: &SolverConfig,
    seed: SeedStream,
) -> BlockWeights {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq")]
        fn with_avx512<const N: usize>(
            state: BlockState<'_, N>,
            config: &SolverConfig,
            seed: SeedStream,
        ) -> BlockWeights {
            state.run(config, seed)
        }
        #[target_feature(enable = "avx2")]
        fn with_avx2<const N: usize>(
            state: BlockState<'_, N>,
            config: &SolverConfig,
            seed: SeedStream,
        ) -> BlockWeights {
            state.run(config, seed)
        }
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
        {
            #[expect(unsafe_code, reason = "needs the processor features just detected")]
            // SAFETY: the features that the function is compiled for were detected above.
            return unsafe { with_avx512(state, config, seed) };
        }
        if is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "needs the processor features just detected")]
            // SAFETY: the feature that the function is compiled for was detected above.
            return unsafe { with_avx2(state, config, seed) };
        }
    }
    state.run(config, seed)
}

/// What a block of `N` lanes has learnt so far.
struct BlockState<'a, const N: usize> {
    problem: &'a NodeProblem,
    /// Bit l of a document's entry is set where it is a positive of lane l.
    signs: Vec<u16>,
    /// The dual variables of each document.
    alphas: LaneRows,
    weights: LaneRows,
    bias: [f32; N],
    /// Lanes with a classifier; the rest of a last block is empty.
    num_classifiers: usize,
}

impl<'a, const N: usize> BlockState<'a, N> {
    fn new(problem: &'a NodeProblem, positives: &[Vec<u32>]) -> Self {
        assert!(positives.len() <= N);
        let mut signs = vec![0_u16; problem.num_documents()];
        for (lane, documents) in positives.iter().enumerate() {
            for &document in documents {
                signs[document as usize] |= 1 << lane;
            }
        }
        Self {
            problem,
            signs,
            alphas: LaneRows::zero(problem.num_documents(), N),
            weights: LaneRows::zero(problem.num_features(), N),
            bias: [0.0; N],
            num_classifiers: positives.len(),
        }
    }

    #[inline(always)]
    fn run(mut self, config: &SolverConfig, seed: SeedStream) -> BlockWeights {
        match config.loss {
            Loss::SquaredHinge => squared_hinge::run(&mut self, config, seed),
            Loss::Log => log_loss::run(&mut self, config, seed),
        }
        BlockWeights {
            weights: self.weights,
            biases: self.bias.to_vec(),
        }
    }

    /// +1 in the lanes where the document is positive, -1 elsewhere.
    #[inline(always)]
    fn signs(&self, document: usize) -> [f32; N] {
        let signs = self.signs[document];
        std::array::from_fn(|lane| if (signs >> lane) & 1 == 1 { 1.0 } else { -1.0 })
    }

    /// Has the processor fetch what a visit to a document reads, but for weights: those that most documents have are
    /// in its caches anyway.
    #[inline(always)]
    fn prefetch(&self, document: usize) {
        self.problem.prefetch(document);
        prefetch(&self.alphas.rows::<N>()[document..]);
    }

    /// w.x of every lane, the bias counted as a feature of value 1.
    #[inline(always)]
    fn scores(&self, document: usize) -> [f32; N] {
        let (features, values) = self.problem.document(document);
        let weights = self.weights.rows::<N>();
        let mut sums = self.bias;
        for (&feature, &value) in features.iter().zip(values) {
            for (sum, weight) in sums.iter_mut().zip(&weights[feature as usize]) {
                *sum += value * weight;
            }
        }
        sums
    }

    /// Squared length of a document, the bias included.
    #[inline(always)]
    fn squared_length(&self, document: usize) -> f32 {
        self.problem.squared_length(document) + 1.0
    }

    /// w += step * x in every lane.
    #[inline(always)]
    fn add(&mut self, document: usize, steps: &[f32; N]) {
        let (features, values) = self.problem.document(document);
        let weights = self.weights.rows_mut::<N>();
        for (&feature, &value) in features.iter().zip(values) {
            for (weight, step) in weights[feature as usize].iter_mut().zip(steps) {
                *weight += value * step;
            }
        }
        for (bias, step) in self.bias.iter_mut().zip(steps) {
            *bias += step;
        }
    }
}

#[cfg(test)]
mod tests {
    use plethora_core::{SparseMatrix, SparseVector};
    use serde::Deserialize;

    use super::*;

    /// Made by `testdata/linear/make_golden.py`.
    #[derive(Deserialize)]
    struct Golden {
        x: Vec<Vec<f32>>,
        positives: Vec<Vec<u32>>,
        solutions: Vec<Solution>,
    }

    #[derive(Deserialize)]
    struct Solution {
        loss: Loss,
        cost: f32,
        weights: Vec<Vec<f32>>,
        biases: Vec<f32>,
    }

    fn golden() -> Golden {
        serde_json::from_str(include_str!("../../../../../testdata/linear/golden.json")).unwrap()
    }

    fn problem(x: &[Vec<f32>]) -> NodeProblem {
        let mut builder = SparseMatrix::builder(x[0].len());
        for row in x {
            let entries = (0..).zip(row).filter(|(_, value)| **value != 0.0);
            let row = SparseVector::from_entries(entries.map(|(c, &v)| (c, v)).collect());
            builder.push(row.as_row());
        }
        let documents: Vec<u32> = (0..x.len() as u32).collect();
        NodeProblem::gather(&builder.finish(), &documents)
    }

    fn solver(loss: Loss, cost: f32) -> SolverConfig {
        SolverConfig {
            loss,
            cost,
            epsilon: 1e-5,
            max_epochs: 5000,
            prune_below: 0.0,
        }
    }

    #[test]
    fn weights_equal_those_of_liblinear() {
        let golden = golden();
        let problem = problem(&golden.x);
        for solution in &golden.solutions {
            let config = solver(solution.loss, solution.cost);
            let block = train_block(&problem, &golden.positives, &config, SeedStream::new(1));
            // liblinear's primal log solver and our f32 dual agree to about three digits.
            let tolerance = if solution.loss == Loss::Log {
                5e-3
            } else {
                1e-3
            };
            for (lane, weights) in solution.weights.iter().enumerate() {
                for (local, &column) in problem.global_features().iter().enumerate() {
                    let ours = block.of_feature(local)[lane];
                    let theirs = weights[column as usize];
                    assert!(
                        (ours - theirs).abs() < tolerance * theirs.abs().max(1.0),
                        "{:?} C={}: {ours} for {theirs}",
                        solution.loss,
                        solution.cost
                    );
                }
                assert!((block.biases()[lane] - solution.biases[lane]).abs() < 5e-3);
            }
        }
    }

    #[test]
    fn a_document_twice_at_half_the_cost_is_the_document() {
        let golden = golden();
        let (once, num_documents) = (problem(&golden.x), golden.x.len() as u32);
        let mut twice = problem(&[&golden.x[..], &golden.x].concat());
        twice.lower_costs(0.5, &[]);
        let copied = |documents: &Vec<u32>| {
            let copies = documents.iter().map(|document| document + num_documents);
            documents.iter().copied().chain(copies).collect()
        };
        let positives: Vec<Vec<u32>> = golden.positives.iter().map(copied).collect();
        for loss in [Loss::SquaredHinge, Loss::Log] {
            let config = solver(loss, 1.0);
            let seed = SeedStream::new(1);
            let expected = train_block(&once, &golden.positives, &config, seed);
            let found = train_block(&twice, &positives, &config, seed);
            for feature in 0..once.num_features() {
                let pairs = found.of_feature(feature).iter();
                for (found, expected) in pairs.zip(expected.of_feature(feature)) {
                    assert!((found - expected).abs() < 5e-3, "{found} {expected}");
                }
            }
        }
    }

    #[test]
    fn a_classifier_does_not_depend_on_its_neighbours() {
        let golden = golden();
        let problem = problem(&golden.x);
        let config = solver(Loss::SquaredHinge, 1.0);
        let together = train_block(&problem, &golden.positives, &config, SeedStream::new(1));
        let alone = train_block(
            &problem,
            &golden.positives[1..2],
            &config,
            SeedStream::new(1),
        );
        for feature in 0..problem.num_features() {
            let difference = together.of_feature(feature)[1] - alone.of_feature(feature)[0];
            assert!(difference.abs() < 1e-3);
        }
    }

    #[test]
    fn all_versions_of_the_loop_give_the_same_bits() {
        let golden = golden();
        let problem = problem(&golden.x);
        for loss in [Loss::SquaredHinge, Loss::Log] {
            let config = SolverConfig {
                max_epochs: 7,
                ..solver(loss, 1.0)
            };
            let seed = SeedStream::new(1);
            let dispatched = train_block(&problem, &golden.positives, &config, seed);
            let plain = BlockState::<FEW_LANES>::new(&problem, &golden.positives);
            let plain = plain.run(&config, seed);
            let wide = BlockState::<LANES>::new(&problem, &golden.positives);
            let wide = wide.run(&config, seed);
            for feature in 0..problem.num_features() {
                assert_eq!(dispatched.of_feature(feature), plain.of_feature(feature));
                let lanes = golden.positives.len();
                assert_eq!(
                    plain.of_feature(feature)[..lanes],
                    wide.of_feature(feature)[..lanes]
                );
            }
        }
    }
}
