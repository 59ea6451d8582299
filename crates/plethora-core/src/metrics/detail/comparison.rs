//! Two models on the same documents.

use serde::Serialize;

use super::bootstrap::{BootstrapConfig, Draws, Estimate};

/// By how much one model is better than another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    /// The difference with its interval.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// Two-sided p-value of the paired bootstrap: twice the share of draws on the other side of no
    /// difference, the observed one counted as a draw, and at most 1.
    pub p_value: f64,
}

/// All differences of two models.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// By metric, in the order in which to show them: the first model's value less the second's.
    pub differences: Vec<(String, Difference)>,
}

impl Comparison {
    /// Compares the draws of two models on the same documents, metric by metric; `values` gives their
    /// values on all documents. Metrics that only one of them has are left out.
    pub fn new(
        first: &Draws,
        second: &Draws,
        config: &BootstrapConfig,
        values: impl Fn(&str) -> Option<(f64, f64)>,
    ) -> Self {
        let difference = |key: &str| {
            let (one, other) = (first.get(key)?, second.get(key)?);
            let (value, other_value) = values(key)?;
            let draws: Vec<f64> = one
                .iter()
                .zip(other)
                .map(|(one, other)| one - other)
                .collect();
            let estimate = config.estimate(value - other_value, &draws);
            let p_value = p_value(&draws);
            Some((key.to_owned(), Difference { estimate, p_value }))
        };
        Self {
            differences: first.keys().filter_map(difference).collect(),
        }
    }
}

fn p_value(draws: &[f64]) -> f64 {
    let share = |is_beyond: fn(f64) -> bool| {
        let beyond = draws.iter().filter(|&&draw| is_beyond(draw)).count();
        (beyond + 1) as f64 / (draws.len() + 1) as f64
    };
    (2.0 * share(|draw| draw <= 0.0).min(share(|draw| draw >= 0.0))).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::bootstrap::resample;
    use super::super::observation_table::{ObservationTable, Quantity};
    use super::*;
    use crate::SeedStream;
    use rand::RngExt as _;

    fn draws(values: &[f64], config: &BootstrapConfig) -> Draws {
        let mut table = ObservationTable::new(1);
        for &value in values {
            table.push([value]);
        }
        let rows: Vec<u32> = (0..values.len() as u32).collect();
        resample(&table, &[Quantity::mean("x", 0)], &rows, config)
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn a_model_does_not_differ_from_itself() {
        let config = BootstrapConfig::default();
        let draws = draws(&[0.2, 0.9, 0.4], &config);
        let comparison = Comparison::new(&draws, &draws, &config, |_| Some((0.5, 0.5)));
        let (key, difference) = &comparison.differences[0];
        assert_eq!(key, "x");
        assert_eq!(
            (difference.estimate.low, difference.estimate.high),
            (0.0, 0.0)
        );
        assert_eq!(difference.p_value, 1.0);
    }

    #[test]
    fn pairs_show_small_differences_between_noisy_documents() {
        let mut rng = SeedStream::new(8).rng();
        let one: Vec<f64> = (0..400).map(|_| rng.random_range(0.0..1.0)).collect();
        let other: Vec<f64> = one
            .iter()
            .map(|value| value - rng.random_range(0.0..0.02))
            .collect();
        let config = BootstrapConfig::default();
        let values = (mean(&one), mean(&other));
        let comparison = Comparison::new(
            &draws(&one, &config),
            &draws(&other, &config),
            &config,
            |_| Some(values),
        );
        let (_, Difference { estimate, p_value }) = comparison.differences[0];
        assert!(
            0.008 < estimate.low && estimate.high < 0.012,
            "{estimate:?}"
        );
        assert_eq!(p_value, 2.0 / 1001.0);
    }

    #[test]
    fn equal_models_are_told_apart_as_rarely_as_the_p_value_says() {
        let config = BootstrapConfig {
            resamples: 200,
            ..BootstrapConfig::default()
        };
        let num_worlds = 300;
        let mut num_rejected = 0;
        for world in 0..num_worlds {
            let mut rng = SeedStream::new(12).child(world).rng();
            let mut draw = || {
                (0..100)
                    .map(|_| rng.random_range(0.0..1.0))
                    .collect::<Vec<f64>>()
            };
            let (one, other) = (draw(), draw());
            let comparison = Comparison::new(
                &draws(&one, &config),
                &draws(&other, &config),
                &config,
                |_| Some((mean(&one), mean(&other))),
            );
            num_rejected += u32::from(comparison.differences[0].1.p_value < 0.05);
        }
        let share = f64::from(num_rejected) / num_worlds as f64;
        assert!((0.01..=0.09).contains(&share), "{share}");
    }
}
