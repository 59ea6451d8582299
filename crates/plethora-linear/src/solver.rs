//! Dual coordinate descent for many classifiers of one node at once.
//!
//! All classifiers of a node see the same documents and differ only in which of them are positive.
//! So [`LANES`] classifiers are trained side by side: the weights of a feature for all lanes lie in
//! one cache line, a document's features are looked up once for all of them, and each step is a
//! short run of vector instructions instead of a gather. Lanes never mix, so a classifier's weights
//! do not depend on its neighbours, except for the step at which the whole block stops.
//!
//! Primal problem of a lane, with y = +1 or -1 and C the cost (Hsieh et al. 2008):
//!
//! ```text
//! min_w  1/2 |w|^2 + C sum_i max(0, 1 - y_i w.x_i)^2        (squared hinge)
//! min_w  1/2 |w|^2 + C sum_i log(1 + exp(-y_i w.x_i))       (log)
//! ```

use plethora_core::SeedStream;
use rand::seq::SliceRandom;

use crate::config::{Loss, SolverConfig};
use crate::problem::NodeProblem;

/// Classifiers trained side by side: as many `f32` as fill a cache line.
pub(crate) const LANES: usize = 16;

/// One value of each lane.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(crate) struct Lanes(pub(crate) [f32; LANES]);

/// Weights of up to [`LANES`] classifiers over a node's features.
#[derive(Debug)]
pub(crate) struct BlockWeights {
    /// By local feature.
    pub(crate) weights: Vec<Lanes>,
    pub(crate) bias: Lanes,
}

/// Trains the classifiers whose positive documents (local numbers) are given, at most [`LANES`].
pub(crate) fn train_block(
    problem: &NodeProblem,
    positives: &[Vec<u32>],
    config: &SolverConfig,
    seed: SeedStream,
) -> BlockWeights {
    assert!(positives.len() <= LANES);
    let mut signs = vec![0_u16; problem.num_documents()];
    for (lane, documents) in positives.iter().enumerate() {
        for &document in documents {
            signs[document as usize] |= 1 << lane;
        }
    }
    let state = BlockState {
        problem,
        signs,
        alphas: vec![Lanes::default(); problem.num_documents()],
        weights: vec![Lanes::default(); problem.num_features()],
        bias: Lanes::default(),
        active_lanes: positives.len(),
    };
    dispatch(state, config, seed)
}

/// Runs the widest version of the loop that this processor has. All versions do the same
/// operations on each lane in the same order, so the weights are equal to the last bit.
fn dispatch(state: BlockState<'_>, config: &SolverConfig, seed: SeedStream) -> BlockWeights {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq")]
        fn with_avx512(
            state: BlockState<'_>,
            config: &SolverConfig,
            seed: SeedStream,
        ) -> BlockWeights {
            state.run(config, seed)
        }
        #[target_feature(enable = "avx2")]
        fn with_avx2(
            state: BlockState<'_>,
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

struct BlockState<'a> {
    problem: &'a NodeProblem,
    /// Bit l of a document's entry is set where it is a positive of lane l.
    signs: Vec<u16>,
    alphas: Vec<Lanes>,
    weights: Vec<Lanes>,
    bias: Lanes,
    active_lanes: usize,
}

impl BlockState<'_> {
    #[inline(always)]
    fn run(mut self, config: &SolverConfig, seed: SeedStream) -> BlockWeights {
        match config.loss {
            Loss::SquaredHinge => self.run_squared_hinge(config, seed),
            Loss::Log => self.run_log(config, seed),
        }
        BlockWeights {
            weights: self.weights,
            bias: self.bias,
        }
    }

    /// Projected gradients decide when to stop, and which documents can rest: one whose alphas are
    /// all zero and whose gradients all lie above the largest of the last round cannot change soon.
    #[inline(always)]
    fn run_squared_hinge(&mut self, config: &SolverConfig, seed: SeedStream) {
        let diagonal = 0.5 / config.cost;
        let mut rng = seed.rng();
        let mut active: Vec<u32> = (0..self.problem.num_documents() as u32).collect();
        // Lanes without a classifier get a margin that holds from the start: they never move.
        let margins: [f32; LANES] =
            std::array::from_fn(|lane| if lane < self.active_lanes { 1.0 } else { -1.0 });
        let mut rest_above = margins.map(|margin| if margin > 0.0 { f32::INFINITY } else { 0.0 });
        for _ in 0..config.max_epochs {
            active.shuffle(&mut rng);
            let mut largest = [f32::NEG_INFINITY; LANES];
            let mut smallest = [f32::INFINITY; LANES];
            let mut kept = 0;
            for index in 0..active.len() {
                let document = active[index] as usize;
                let scores = self.scores(document);
                let signs = sign_lanes(self.signs[document]);
                let curvature = self.problem.squared_length(document) + 1.0 + diagonal;
                let inverse = 1.0 / curvature;
                let alphas = &mut self.alphas[document].0;
                let mut steps = [0.0_f32; LANES];
                let mut can_rest = true;
                let mut any_step = false;
                for lane in 0..LANES {
                    let alpha = alphas[lane];
                    let gradient = signs[lane] * scores.0[lane] - margins[lane] + diagonal * alpha;
                    let is_bound = alpha == 0.0;
                    let projected = if is_bound {
                        gradient.min(0.0)
                    } else {
                        gradient
                    };
                    can_rest &= is_bound & (gradient > rest_above[lane]);
                    largest[lane] = largest[lane].max(projected);
                    smallest[lane] = smallest[lane].min(projected);
                    let new_alpha = (alpha - gradient * inverse).max(0.0);
                    // Steps below this do not move a weight that pruning would keep.
                    let step = if projected.abs() > 1e-6 {
                        new_alpha - alpha
                    } else {
                        0.0
                    };
                    alphas[lane] = alpha + step;
                    steps[lane] = step * signs[lane];
                    any_step |= step != 0.0;
                }
                if any_step {
                    self.add(document, &steps);
                }
                if !can_rest {
                    active[kept] = document as u32;
                    kept += 1;
                }
            }
            active.truncate(kept);
            let is_done =
                (0..self.active_lanes).all(|lane| largest[lane] - smallest[lane] <= config.epsilon);
            if is_done || active.is_empty() {
                break;
            }
            for lane in 0..self.active_lanes {
                rest_above[lane] = if largest[lane] > 0.0 {
                    largest[lane]
                } else {
                    f32::INFINITY
                };
            }
        }
    }

    /// Coordinate descent on the dual of logistic regression (Yu et al. 2011): each alpha moves in
    /// (0, C) by a few Newton steps on its own one-variable problem.
    #[inline(always)]
    fn run_log(&mut self, config: &SolverConfig, seed: SeedStream) {
        const NEWTON_STEPS: usize = 3;
        let cost = config.cost;
        // Alphas start a little inside their interval, where the logarithms are finite.
        let start = (0.001 * cost).min(1e-8_f32.max(0.001 * cost));
        let mut rng = seed.rng();
        let mut order: Vec<u32> = (0..self.problem.num_documents() as u32).collect();
        for document in 0..self.problem.num_documents() {
            let signs = sign_lanes(self.signs[document]);
            self.alphas[document] = Lanes([start; LANES]);
            self.add(document, &signs.map(|sign| sign * start));
        }
        for _ in 0..config.max_epochs {
            order.shuffle(&mut rng);
            let mut largest_move = 0.0_f32;
            for &document in &order {
                let document = document as usize;
                let scores = self.scores(document);
                let signs = sign_lanes(self.signs[document]);
                let curvature = self.problem.squared_length(document) + 1.0;
                let mut steps = [0.0_f32; LANES];
                for lane in 0..self.active_lanes {
                    let alpha = self.alphas[document].0[lane];
                    let margin = signs[lane] * scores.0[lane];
                    let mut new_alpha = alpha;
                    for _ in 0..NEWTON_STEPS {
                        let gradient = margin
                            + curvature * (new_alpha - alpha)
                            + (new_alpha / (cost - new_alpha)).ln();
                        let slope = curvature + cost / (new_alpha * (cost - new_alpha));
                        let next = new_alpha - gradient / slope;
                        // A step that leaves the interval goes a tenth of the way to its end.
                        new_alpha = if next <= 0.0 {
                            0.1 * new_alpha
                        } else if next >= cost {
                            cost - 0.1 * (cost - new_alpha)
                        } else {
                            next
                        };
                    }
                    let inside = new_alpha.clamp(1e-6 * cost, cost * (1.0 - 1e-6));
                    let step = inside - alpha;
                    largest_move = largest_move.max(step.abs() / cost);
                    self.alphas[document].0[lane] = inside;
                    steps[lane] = step * signs[lane];
                }
                self.add(document, &steps);
            }
            if largest_move <= 0.1 * config.epsilon {
                break;
            }
        }
    }

    /// w.x of every lane, the bias counted as a feature of value 1.
    #[inline(always)]
    fn scores(&self, document: usize) -> Lanes {
        let (features, values) = self.problem.document(document);
        let mut sums = self.bias;
        for (&feature, &value) in features.iter().zip(values) {
            let weights = &self.weights[feature as usize].0;
            for lane in 0..LANES {
                sums.0[lane] += value * weights[lane];
            }
        }
        sums
    }

    /// w += step * x in every lane.
    #[inline(always)]
    fn add(&mut self, document: usize, steps: &[f32; LANES]) {
        let (features, values) = self.problem.document(document);
        for (&feature, &value) in features.iter().zip(values) {
            let weights = &mut self.weights[feature as usize].0;
            for lane in 0..LANES {
                weights[lane] += value * steps[lane];
            }
        }
        for lane in 0..LANES {
            self.bias.0[lane] += steps[lane];
        }
    }
}

/// +1 where the bit of a lane is set, -1 elsewhere.
#[inline(always)]
fn sign_lanes(signs: u16) -> [f32; LANES] {
    std::array::from_fn(|lane| if signs >> lane & 1 == 1 { 1.0 } else { -1.0 })
}
