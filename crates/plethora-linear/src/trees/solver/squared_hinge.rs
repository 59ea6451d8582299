//! Squared hinge loss: coordinate descent with shrinking (Hsieh et al. 2008).

use plethora_core::SeedStream;
use rand::seq::SliceRandom;

use super::{BlockState, VISITS_AHEAD};
use crate::trees::config::SolverConfig;

/// Projected gradients smaller than this do not move a weight that pruning would keep.
const NEGLIGIBLE: f32 = 1e-6;

#[inline(always)]
pub(super) fn run<const N: usize>(
    state: &mut BlockState<'_, N>,
    config: &SolverConfig,
    seed: SeedStream,
) {
    let mut rng = seed.rng();
    let mut active: Vec<u32> = (0..state.problem.num_documents() as u32).collect();
    let mut pass = Pass::<N>::first(state.num_classifiers, config.cost);
    for _ in 0..config.max_epochs {
        active.shuffle(&mut rng);
        let mut num_kept = 0;
        for index in 0..active.len() {
            if let Some(&document) = active.get(index + VISITS_AHEAD) {
                state.prefetch(document as usize);
            }
            let document = active[index];
            if !pass.visit(state, document as usize) {
                active[num_kept] = document;
                num_kept += 1;
            }
        }
        active.truncate(num_kept);
        if active.is_empty() || pass.has_converged(config.epsilon) {
            break;
        }
        pass = pass.next();
    }
}

/// One pass over the active documents.
struct Pass<const N: usize> {
    num_classifiers: usize,
    /// 1 / 2C, which the squared loss adds to the diagonal of the dual problem where the cost is full.
    diagonal: f32,
    /// 1 in lanes with a classifier. In the others -1, which holds from the start: they never move.
    margins: [f32; N],
    /// Extreme projected gradients of this pass.
    largest: [f32; N],
    smallest: [f32; N],
    /// A document whose alphas are all 0 and whose gradients all lie above the largest of the last
    /// pass cannot change soon: it rests.
    rest_above: [f32; N],
}

impl<const N: usize> Pass<N> {
    fn first(num_classifiers: usize, cost: f32) -> Self {
        let by_lane = |used: f32, unused: f32| -> [f32; N] {
            std::array::from_fn(|lane| if lane < num_classifiers { used } else { unused })
        };
        Self {
            num_classifiers,
            diagonal: 0.5 / cost,
            margins: by_lane(1.0, -1.0),
            largest: [f32::NEG_INFINITY; N],
            smallest: [f32::INFINITY; N],
            rest_above: by_lane(f32::INFINITY, 0.0),
        }
    }

    fn next(mut self) -> Self {
        for lane in 0..self.num_classifiers {
            let largest = self.largest[lane];
            self.rest_above[lane] = if largest > 0.0 {
                largest
            } else {
                f32::INFINITY
            };
        }
        self.largest = [f32::NEG_INFINITY; N];
        self.smallest = [f32::INFINITY; N];
        self
    }

    fn has_converged(&self, epsilon: f32) -> bool {
        (0..self.num_classifiers).all(|lane| self.largest[lane] - self.smallest[lane] <= epsilon)
    }

    /// Minimises the dual over one document's alphas; true if the document can rest.
    #[inline(always)]
    fn visit(&mut self, state: &mut BlockState<'_, N>, document: usize) -> bool {
        let scores = state.scores(document);
        let signs = state.signs(document);
        let diagonal = self.diagonal / state.problem.cost(document);
        let inverse_curvature = 1.0 / (state.squared_length(document) + diagonal);
        let alphas = &mut state.alphas.rows_mut::<N>()[document];
        let mut steps = [0.0_f32; N];
        let mut can_rest = true;
        let mut moves = false;
        for lane in 0..N {
            let alpha = alphas[lane];
            let gradient = signs[lane] * scores[lane] - self.margins[lane] + diagonal * alpha;
            let is_bound = alpha == 0.0;
            let projected = if is_bound {
                gradient.min(0.0)
            } else {
                gradient
            };
            can_rest &= is_bound && gradient > self.rest_above[lane];
            self.largest[lane] = self.largest[lane].max(projected);
            self.smallest[lane] = self.smallest[lane].min(projected);
            let new_alpha = (alpha - gradient * inverse_curvature).max(0.0);
            let step = if projected.abs() > NEGLIGIBLE {
                new_alpha - alpha
            } else {
                0.0
            };
            alphas[lane] = alpha + step;
            steps[lane] = step * signs[lane];
            moves |= step != 0.0;
        }
        if moves {
            state.add(document, &steps);
        }
        can_rest
    }
}
