//! From values to places in a picture.

/// A range of values with round ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    step: f64,
}

/// About so many steps between the ends.
const NUM_STEPS: f64 = 4.0;

impl Scale {
    /// A scale that holds all `values`, and 0 where `from_zero` says so.
    pub(super) fn of(values: impl Iterator<Item = f64>, from_zero: bool) -> Self {
        let mut low = f64::INFINITY;
        let mut high = f64::NEG_INFINITY;
        for value in values.filter(|value| value.is_finite()) {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if from_zero {
            low = low.min(0.0);
        }
        if high - low < 1e-9 * high.abs().max(1e-6) {
            // One value alone stands in the middle.
            let margin = if high == 0.0 { 1.0 } else { 0.1 * high.abs() };
            high += margin;
            low = if from_zero { low } else { low - margin };
        }
        let step = round_step((high - low) / NUM_STEPS);
        Self {
            low: (low / step).floor() * step,
            high: (high / step - 1e-9).ceil() * step,
            step,
        }
    }

    /// Where a value lies between `start` and `end`.
    pub(super) fn place(&self, value: f64, start: f64, end: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        start + share.clamp(0.0, 1.0) * (end - start)
    }

    /// Round values from low to high.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let count = ((self.high - self.low) / self.step).round() as i64;
        (0..=count)
            .map(|tick| self.low + tick as f64 * self.step)
            .collect()
    }

    /// A tick as text, with as many decimals as steps need.
    pub(super) fn label(&self, tick: f64) -> String {
        let decimals = (-self.step.log10().floor()).clamp(0.0, 6.0) as usize;
        // Adding 0 takes the sign off a zero.
        format!(
            "{:.decimals$}",
            (tick / self.step).round() * self.step + 0.0
        )
    }
}

/// The next of 1, 2, 5, 10 and their multiples by ten.
fn round_step(step: f64) -> f64 {
    let power = 10.0_f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|factor| factor * power >= step * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64], from_zero: bool) -> Vec<String> {
        let scale = Scale::of(values.iter().copied(), from_zero);
        scale
            .ticks()
            .iter()
            .map(|&tick| scale.label(tick))
            .collect()
    }

    #[test]
    fn ticks_are_round_and_hold_all_values() {
        assert_eq!(labels(&[3.0, 91.0], true), ["0", "50", "100"]);
        assert_eq!(labels(&[0.0, 1.0], true), ["0.0", "0.5", "1.0"]);
        assert_eq!(
            labels(&[91.2, 92.6], false),
            ["91.0", "91.5", "92.0", "92.5", "93.0"]
        );
    }

    #[test]
    fn values_without_spread_or_none_at_all_have_a_scale() {
        assert_eq!(
            labels(&[0.0], true).first().map(String::as_str),
            Some("0.0")
        );
        for values in [&[][..], &[5.0], &[f64::NAN]] {
            let scale = Scale::of(values.iter().copied(), false);
            assert!(scale.high > scale.low && scale.ticks().len() > 1);
        }
        let scale = Scale::of([7.0].into_iter(), false);
        assert!((scale.place(7.0, 0.0, 1.0) - 0.5).abs() < 0.3);
    }
}
