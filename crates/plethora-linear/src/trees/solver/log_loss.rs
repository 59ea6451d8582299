//! Log loss: coordinate descent on the dual of logistic regression (Yu et al. 2011).

use plethora_core::SeedStream;
use rand::seq::SliceRandom;

use super::{BlockState, VISITS_AHEAD};
use crate::trees::config::SolverConfig;

/// Newton steps on the one-variable problem of an alpha: the third changes little.
const NEWTON_STEPS: usize = 3;

/// Alphas live inside (0, C), where the logarithms are finite: this far, as a share of C.
const DISTANCE_FROM_BOUNDS: f32 = 1e-6;

#[inline(always)]
pub(super) fn run<const N: usize>(
    state: &mut BlockState<'_, N>,
    config: &SolverConfig,
    seed: SeedStream,
) {
    let mut rng = seed.rng();
    let mut order: Vec<u32> = (0..state.problem.num_documents() as u32).collect();
    for document in 0..state.problem.num_documents() {
        let start = 0.001 * config.cost * state.problem.cost(document);
        state.alphas.rows_mut::<N>()[document] = [start; N];
        let steps = state.signs(document).map(|sign| sign * start);
        state.add(document, &steps);
    }
    for _ in 0..config.max_epochs {
        order.shuffle(&mut rng);
        let mut largest_move = 0.0_f32;
        for (index, &document) in order.iter().enumerate() {
            if let Some(&later) = order.get(index + VISITS_AHEAD) {
                state.prefetch(later as usize);
            }
            let cost = config.cost * state.problem.cost(document as usize);
            largest_move = largest_move.max(visit(state, document as usize, cost));
        }
        // Moves are shares of C; a tenth of the tolerance for gradients has proved as strict.
        if largest_move <= 0.1 * config.epsilon {
            break;
        }
    }
}

/// Minimises the dual over one document's alphas; returns the largest move as a share of C.
#[inline(always)]
fn visit<const N: usize>(state: &mut BlockState<'_, N>, document: usize, cost: f32) -> f32 {
    let scores = state.scores(document);
    let signs = state.signs(document);
    let curvature = state.squared_length(document);
    let mut steps = [0.0_f32; N];
    let mut largest_move = 0.0_f32;
    for lane in 0..state.num_classifiers {
        let alpha = state.alphas.rows::<N>()[document][lane];
        let new_alpha = minimize(alpha, signs[lane] * scores[lane], curvature, cost);
        let step = new_alpha - alpha;
        largest_move = largest_move.max(step.abs() / cost);
        state.alphas.rows_mut::<N>()[document][lane] = new_alpha;
        steps[lane] = step * signs[lane];
    }
    state.add(document, &steps);
    largest_move
}

/// The alpha near the minimum of
/// `margin (a - alpha) + curvature / 2 (a - alpha)^2 + a ln a + (C - a) ln (C - a)`.
#[inline(always)]
fn minimize(alpha: f32, margin: f32, curvature: f32, cost: f32) -> f32 {
    let mut new_alpha = alpha;
    for _ in 0..NEWTON_STEPS {
        let gradient =
            margin + curvature * (new_alpha - alpha) + (new_alpha / (cost - new_alpha)).ln();
        let hessian = curvature + cost / (new_alpha * (cost - new_alpha));
        let next = new_alpha - gradient / hessian;
        // A step that leaves the interval goes most of the way to its end instead.
        let inside = if next <= 0.0 {
            0.1 * new_alpha
        } else if next >= cost {
            cost - 0.1 * (cost - new_alpha)
        } else {
            next
        };
        // In every step: an alpha that rounds to a bound would make the next one infinite.
        new_alpha = inside.clamp(
            DISTANCE_FROM_BOUNDS * cost,
            cost * (1.0 - DISTANCE_FROM_BOUNDS),
        );
    }
    new_alpha
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alphas_stay_inside_their_interval_for_any_margin() {
        for cost in [0.01, 1.0, 10.0, 1000.0] {
            for margin in [-1e4, -30.0, -1.0, 0.0, 1.0, 30.0, 1e4] {
                let mut alpha = 0.001 * cost;
                for _ in 0..20 {
                    alpha = minimize(alpha, margin, 2.0, cost);
                    assert!(
                        alpha > 0.0 && alpha < cost,
                        "{alpha} for {margin} and {cost}"
                    );
                }
            }
        }
    }
}
