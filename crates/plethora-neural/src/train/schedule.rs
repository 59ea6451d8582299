//! The step size over the course of training.

use std::f64::consts::PI;

use super::config::Schedule;

/// How the step size goes up and down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateSchedule {
    /// What follows the warm-up.
    pub schedule: Schedule,
    /// Share of the steps in which the step size grows from zero.
    pub warm_up: f64,
}

impl RateSchedule {
    /// Share of the highest step size that step `step` of `total` takes, counted from 0. It is above
    /// zero for every step: none is wasted.
    ///
    /// ```
    /// use plethora_neural::train::{RateSchedule, Schedule};
    ///
    /// let schedule = RateSchedule { schedule: Schedule::Linear, warm_up: 0.2 };
    /// let factors: Vec<f64> = (0..10).map(|step| schedule.factor(step, 10)).collect();
    /// assert_eq!(factors[2], 1.0);
    /// assert_eq!(factors[9], 1.0 / 8.0);
    /// ```
    pub fn factor(&self, step: u64, total: u64) -> f64 {
        let warm_up = (self.warm_up * total as f64).round() as u64;
        if step < warm_up {
            return (step + 1) as f64 / (warm_up + 1) as f64;
        }
        let rest = total.saturating_sub(warm_up).max(1) as f64;
        let progress = ((step - warm_up) as f64 / rest).min(1.0);
        match self.schedule {
            Schedule::Constant => 1.0,
            Schedule::Linear => 1.0 - progress,
            Schedule::Cosine => 0.5 * (1.0 + (PI * progress).cos()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(schedule: Schedule, warm_up: f64, total: u64) -> Vec<f64> {
        let schedule = RateSchedule { schedule, warm_up };
        (0..total)
            .map(|step| schedule.factor(step, total))
            .collect()
    }

    #[test]
    fn factors_equal_hand_values() {
        assert_eq!(factors(Schedule::Constant, 0.0, 3), [1.0, 1.0, 1.0]);
        assert_eq!(factors(Schedule::Linear, 0.0, 4), [1.0, 0.75, 0.5, 0.25]);
        assert_eq!(
            factors(Schedule::Linear, 0.4, 5),
            [1.0 / 3.0, 2.0 / 3.0, 1.0, 1.0 - 1.0 / 3.0, 1.0 - 2.0 / 3.0]
        );
        let half = 0.5_f64.sqrt();
        for (factor, expected) in factors(Schedule::Cosine, 0.2, 5).into_iter().zip([
            0.5,
            1.0,
            0.5 * (1.0 + half),
            0.5,
            0.5 * (1.0 - half),
        ]) {
            assert!((factor - expected).abs() < 1e-12, "{factor} {expected}");
        }
    }

    #[test]
    fn every_step_moves_whatever_the_settings() {
        for schedule in [Schedule::Constant, Schedule::Linear, Schedule::Cosine] {
            for warm_up in [0.0, 0.01, 0.5, 1.0] {
                for total in [1, 2, 7, 1000] {
                    let factors = factors(schedule, warm_up, total);
                    assert!(factors.iter().all(|&factor| factor > 0.0 && factor <= 1.0));
                }
            }
        }
    }
}
