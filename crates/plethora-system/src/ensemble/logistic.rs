//! Logistic regression with a ridge, for few inputs.

use plethora_core::calibration::logistic;

/// Newton's method needs about ten.
const MAX_STEPS: usize = 50;

/// Loss that a step has to gain, as a share of it.
const TOLERANCE: f64 = 1e-12;

/// Rows of inputs with what is to be explained.
#[derive(Debug, Default)]
pub(super) struct LogisticRows {
    pub(super) num_inputs: usize,
    /// Row after row.
    pub(super) inputs: Vec<f64>,
    /// What is added to the sum of weighted inputs of a row and not fitted.
    pub(super) offsets: Vec<f64>,
    pub(super) truth: Vec<bool>,
}

impl LogisticRows {
    /// Without rows.
    pub(super) fn new(num_inputs: usize) -> Self {
        Self {
            num_inputs,
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, inputs: impl Iterator<Item = f64>, offset: f64, is_true: bool) {
        self.inputs.extend(inputs);
        self.offsets.push(offset);
        self.truth.push(is_true);
    }

    /// The weights that make the truth most likely, less `ridge / 2` times their squares.
    pub(super) fn fit(&self, ridge: f64) -> Vec<f64> {
        let mut weights = vec![0.0; self.num_inputs];
        let mut loss = self.loss(&weights, ridge);
        for _ in 0..MAX_STEPS {
            let step = self.newton_step(&weights, ridge);
            let halved = (0..30).map(|times| 0.5_f64.powi(times));
            let tried = halved.map(|share| {
                let next: Vec<f64> = weights
                    .iter()
                    .zip(&step)
                    .map(|(w, s)| w - share * s)
                    .collect();
                (self.loss(&next, ridge), next)
            });
            let Some((lower, next)) = tried.into_iter().find(|(found, _)| *found < loss) else {
                break;
            };
            let gained = loss - lower;
            (weights, loss) = (next, lower);
            if gained < TOLERANCE * loss.abs() {
                break;
            }
        }
        weights
    }

    fn rows(&self) -> impl Iterator<Item = (&[f64], f64, f64)> {
        let known = self.offsets.iter().zip(&self.truth);
        let rows = self.inputs.chunks_exact(self.num_inputs).zip(known);
        rows.map(|(inputs, (&offset, &is_true))| (inputs, offset, f64::from(u8::from(is_true))))
    }

    /// Cross-entropy and ridge.
    fn loss(&self, weights: &[f64], ridge: f64) -> f64 {
        let of_row = |(inputs, offset, truth): (&[f64], f64, f64)| {
            let sum = offset + dot(inputs, weights);
            // ln(1 + exp(sum)) without overflow.
            sum.max(0.0) + (-sum.abs()).exp().ln_1p() - truth * sum
        };
        self.rows().map(of_row).sum::<f64>() + ridge / 2.0 * dot(weights, weights)
    }

    /// Hessian inverse times gradient.
    fn newton_step(&self, weights: &[f64], ridge: f64) -> Vec<f64> {
        let size = self.num_inputs;
        let mut gradient: Vec<f64> = weights.iter().map(|weight| ridge * weight).collect();
        let mut hessian = vec![0.0; size * size];
        for place in 0..size {
            // Inputs that no row has must not make it singular.
            hessian[place * size + place] = ridge + 1e-9;
        }
        for (inputs, offset, truth) in self.rows() {
            let likely = logistic(offset + dot(inputs, weights));
            let variance = likely * (1.0 - likely);
            for (place, &input) in inputs.iter().enumerate() {
                gradient[place] += (likely - truth) * input;
                let row = &mut hessian[place * size..=place * size + place];
                for (entry, &other) in row.iter_mut().zip(inputs) {
                    *entry += variance * input * other;
                }
            }
        }
        solve(&mut hessian, gradient, size)
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter()
        .zip(right)
        .map(|(left, right)| left * right)
        .sum()
}

/// Solves for a positive definite matrix, of which the lower triangle is given, by Cholesky.
fn solve(matrix: &mut [f64], mut right: Vec<f64>, size: usize) -> Vec<f64> {
    for row in 0..size {
        for column in 0..=row {
            let (before, own) = matrix.split_at(row * size);
            let above = if column == row {
                &own[..column]
            } else {
                &before[column * size..column * size + column]
            };
            let sum = own[column] - dot(&own[..column], above);
            matrix[row * size + column] = if column == row {
                sum.max(f64::MIN_POSITIVE).sqrt()
            } else {
                sum / matrix[column * size + column]
            };
        }
    }
    for row in 0..size {
        let known = dot(&matrix[row * size..row * size + row], &right[..row]);
        right[row] = (right[row] - known) / matrix[row * size + row];
    }
    for row in (0..size).rev() {
        let below = (row + 1..size).map(|other| matrix[other * size + row] * right[other]);
        right[row] = (right[row] - below.sum::<f64>()) / matrix[row * size + row];
    }
    right
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Golden {
        rows: Vec<Vec<f64>>,
        offsets: Vec<f64>,
        truth: Vec<bool>,
        fits: Vec<Fit>,
    }

    #[derive(Deserialize)]
    struct Fit {
        ridge: f64,
        weights: Vec<f64>,
    }

    #[test]
    fn weights_equal_those_of_a_general_minimiser() {
        let text = include_str!("../../../../testdata/logistic/golden.json");
        let golden: Golden = serde_json::from_str(text).unwrap();
        let mut rows = LogisticRows::new(golden.rows[0].len());
        for ((inputs, &offset), &is_true) in
            (golden.rows.iter().zip(&golden.offsets)).zip(&golden.truth)
        {
            rows.add(inputs.iter().copied(), offset, is_true);
        }
        for fit in golden.fits {
            for (found, expected) in rows.fit(fit.ridge).iter().zip(&fit.weights) {
                assert!(
                    (found - expected).abs() < 1e-5 * expected.abs().max(1.0),
                    "ridge {}: {found}, not {expected}",
                    fit.ridge
                );
            }
        }
    }

    #[test]
    fn without_rows_a_ridge_holds_weights_at_zero() {
        assert_eq!(LogisticRows::new(3).fit(1.0), [0.0; 3]);
    }
}
