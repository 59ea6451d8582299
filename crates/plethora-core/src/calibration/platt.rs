//! Platt scaling: a logistic curve over the log-odds of the score.

use serde::{Deserialize, Serialize};

use super::ScoreCount;
use crate::{Error, Result};

/// Scores are kept away from 0 and 1, whose log-odds are infinite. The lower bound is closer: small
/// scores of trees are products of many and still differ, while near 1 single precision ends.
const SCORE_BOUNDS: (f64, f64) = (1e-12, 1.0 - 1e-7);
/// Newton's method needs about ten; this stops it where rounding keeps it from converging.
const MAX_STEPS: usize = 100;
/// Gradient per pair at which the fit is done.
const TOLERANCE: f64 = 1e-12;

/// `1 / (1 + exp(-(slope * log-odds of the score + intercept)))`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Platt {
    /// Steepness; 0 or more, so that the order of scores stays.
    pub slope: f32,
    /// Log-odds of a score of one half.
    pub intercept: f32,
}

impl Platt {
    /// Fits to scores of which there is at least one, with Platt's targets: `(n+ + 1) / (n+ + 2)` for
    /// true labels and `1 / (n- + 2)` for others, which keep the curve off the extremes where pairs
    /// are few.
    pub(super) fn fit(counts: &[ScoreCount]) -> Self {
        let problem = Problem::new(counts);
        let (mut slope, mut intercept) = problem.solve();
        if slope < 0.0 {
            // The loss is convex, so that the best of the allowed curves is the flat one.
            let mean: f64 = problem.points.iter().map(|point| point.target).sum();
            (slope, intercept) = (0.0, log_odds(mean / problem.num_pairs));
        }
        Self {
            slope: slope as f32,
            intercept: intercept as f32,
        }
    }

    /// The value at a score.
    pub fn value(&self, score: f64) -> f64 {
        logistic(f64::from(self.slope) * log_odds(score) + f64::from(self.intercept))
    }

    pub(super) fn validate(self) -> Result<()> {
        if self.slope.is_finite() && self.slope >= 0.0 && self.intercept.is_finite() {
            Ok(())
        } else {
            Err(Error::Data("the logistic map does not rise".into()))
        }
    }
}

/// All pairs of one score.
struct Point {
    log_odds: f64,
    weight: f64,
    /// Sum of the targets of its pairs.
    target: f64,
}

struct Problem {
    points: Vec<Point>,
    num_pairs: f64,
}

impl Problem {
    fn new(counts: &[ScoreCount]) -> Self {
        let sum = |of: fn(&ScoreCount) -> u64| counts.iter().map(of).sum::<u64>() as f64;
        let (num_pairs, num_true) = (sum(|count| count.num_pairs), sum(|count| count.num_true));
        let of_true = (num_true + 1.0) / (num_true + 2.0);
        let of_false = 1.0 / (num_pairs - num_true + 2.0);
        let points = counts.iter().map(|count| {
            let (weight, hits) = (count.num_pairs as f64, count.num_true as f64);
            Point {
                log_odds: log_odds(f64::from(count.score)),
                weight,
                target: hits * of_true + (weight - hits) * of_false,
            }
        });
        Self {
            points: points.collect(),
            num_pairs,
        }
    }

    /// Newton's method with steps halved where the loss would grow, as Lin, Lin and Weng have it.
    fn solve(&self) -> (f64, f64) {
        let mean: f64 = self.points.iter().map(|point| point.target).sum();
        let (mut slope, mut intercept) = (0.0, log_odds(mean / self.num_pairs));
        let mut loss = self.loss(slope, intercept);
        for _ in 0..MAX_STEPS {
            let (gradient, step) = self.newton_step(slope, intercept);
            if gradient < TOLERANCE * self.num_pairs {
                break;
            }
            let mut scale = 1.0;
            loop {
                let (a, b) = (slope - scale * step.0, intercept - scale * step.1);
                let found = self.loss(a, b);
                if found < loss {
                    (slope, intercept, loss) = (a, b, found);
                    break;
                }
                scale /= 2.0;
                if scale < 1e-10 {
                    return (slope, intercept);
                }
            }
        }
        (slope, intercept)
    }

    /// Cross-entropy of the curve and the targets.
    fn loss(&self, slope: f64, intercept: f64) -> f64 {
        let of_point = |point: &Point| {
            let margin = slope * point.log_odds + intercept;
            // ln(1 + exp(margin)) without overflow.
            let softplus = margin.max(0.0) + (-margin.abs()).exp().ln_1p();
            point.weight * softplus - point.target * margin
        };
        self.points.iter().map(of_point).sum()
    }

    /// Largest part of the gradient, and the gradient times the inverse of the second derivatives.
    fn newton_step(&self, slope: f64, intercept: f64) -> (f64, (f64, f64)) {
        // Keeps the matrix invertible where all scores are equal.
        const RIDGE: f64 = 1e-12;
        let (mut d_slope, mut d_intercept) = (0.0, 0.0);
        let (mut h_slope, mut h_both, mut h_intercept) = (RIDGE, 0.0, RIDGE);
        for point in &self.points {
            let value = logistic(slope * point.log_odds + intercept);
            let error = point.weight * value - point.target;
            let curvature = point.weight * value * (1.0 - value);
            d_slope += error * point.log_odds;
            d_intercept += error;
            h_slope += curvature * point.log_odds * point.log_odds;
            h_both += curvature * point.log_odds;
            h_intercept += curvature;
        }
        let determinant = h_slope * h_intercept - h_both * h_both;
        let step = (
            (h_intercept * d_slope - h_both * d_intercept) / determinant,
            (h_slope * d_intercept - h_both * d_slope) / determinant,
        );
        (d_slope.abs().max(d_intercept.abs()), step)
    }
}

fn log_odds(score: f64) -> f64 {
    let score = score.clamp(SCORE_BOUNDS.0, SCORE_BOUNDS.1);
    (score / (1.0 - score)).ln()
}

/// `1 / (1 + exp(-margin))`.
pub fn logistic(margin: f64) -> f64 {
    1.0 / (1.0 + (-margin).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(score: f32, num_pairs: u64, num_true: u64) -> ScoreCount {
        ScoreCount {
            score,
            num_pairs,
            num_true,
        }
    }

    #[test]
    fn scores_that_are_right_are_kept() {
        let counts: Vec<_> = (1..10_u64)
            .map(|tenth| count(tenth as f32 / 10.0, 1_000_000, tenth * 100_000))
            .collect();
        let fit = Platt::fit(&counts);
        for tenth in 1..10 {
            let score = f64::from(tenth) / 10.0;
            assert!((fit.value(score) - score).abs() < 1e-4, "{score}: {fit:?}");
        }
    }

    #[test]
    fn scores_that_mislead_give_a_flat_curve() {
        let fit = Platt::fit(&[count(0.1, 50, 40), count(0.9, 50, 10)]);
        assert_eq!(fit.slope, 0.0);
        assert!((fit.value(0.3) - 0.5).abs() < 1e-6);
        let one_score = Platt::fit(&[count(0.5, 8, 6)]);
        assert!((one_score.value(0.5) - (6.0 * 7.0 / 8.0 + 2.0 / 4.0) / 8.0).abs() < 1e-6);
    }

    #[test]
    fn the_ends_have_values() {
        let fit = Platt::fit(&[count(0.0, 900, 3), count(1.0, 100, 99)]);
        for score in [0.0, 1e-30, 0.5, 1.0] {
            assert!((0.0..=1.0).contains(&fit.value(score)), "{score}");
        }
        assert!(fit.value(0.0) < 0.02 && fit.value(1.0) > 0.9);
    }
}
