//! The bootstrap: quantities computed again for resampled rows, and what their spread says.

use rand::Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::observation_table::{ObservationTable, Quantity};
use crate::checks::within;
use crate::{Error, Result, SeedStream};

/// Draws computed together, so that the table is read once for all of them.
const DRAWS_PER_PASS: usize = 16;
/// Rows summed in single precision before the sum goes into one of double precision.
const ROWS_PER_BLOCK: usize = 256;
/// With fewer draws, the ends of an interval are the extreme draws themselves.
const MIN_RESAMPLES: usize = 100;
/// Far beyond what the ends of an interval gain from.
const MAX_RESAMPLES: usize = 1_000_000;

/// How intervals are made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BootstrapConfig {
    /// How often documents are resampled.
    pub resamples: usize,
    /// Share of draws that an interval holds.
    pub confidence: f64,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for BootstrapConfig {
    fn default() -> Self {
        Self {
            resamples: 1000,
            confidence: 0.95,
            seed: 1,
        }
    }
}

impl BootstrapConfig {
    /// Refuses values that cannot work.
    ///
    /// # Errors
    /// [`Error::Config`] that names the setting.
    pub fn validate(&self) -> Result<()> {
        within("resamples", self.resamples, MIN_RESAMPLES..=MAX_RESAMPLES)?;
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return Err(Error::config(
                "confidence",
                format!("must be between 0 and 1, found {}", self.confidence),
            ));
        }
        Ok(())
    }

    /// The interval that holds the middle of the draws.
    fn interval(&self, draws: &[f64]) -> (f64, f64) {
        let mut sorted = draws.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let tail = (1.0 - self.confidence) / 2.0;
        (quantile(&sorted, tail), quantile(&sorted, 1.0 - tail))
    }

    /// A value with the interval of its draws.
    pub(super) fn estimate(&self, value: f64, draws: &[f64]) -> Estimate {
        let (low, high) = self.interval(draws);
        Estimate { value, low, high }
    }

    fn stream(&self) -> SeedStream {
        SeedStream::new(self.seed).named("bootstrap")
    }
}

/// A number with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// On all documents.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// The values of quantities for each draw: those of two models on the same documents are pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct Draws {
    keys: Vec<String>,
    /// By quantity, then by draw.
    values: Vec<Vec<f64>>,
}

impl Draws {
    /// The keys of the quantities.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(String::as_str)
    }

    /// The draws of one quantity.
    pub fn get(&self, key: &str) -> Option<&[f64]> {
        let place = self.keys.iter().position(|known| known == key)?;
        Some(&self.values[place])
    }
}

/// Quantities with rows drawn from `rows` as many times as there are.
pub(super) fn resample(
    table: &ObservationTable,
    quantities: &[Quantity],
    rows: &[u32],
    config: &BootstrapConfig,
) -> Draws {
    let (table, quantities) = table.select(rows, quantities);
    let num_rows = rows.len();
    let passes: Vec<Vec<Vec<f64>>> = (0..config.resamples)
        .collect::<Vec<_>>()
        .par_chunks(DRAWS_PER_PASS)
        .map(|numbers| {
            let counts = count_draws(config.stream(), numbers, num_rows);
            let sums = weighted_sums(&table, &counts, numbers.len());
            let of_draw = |sums: &Vec<f64>| {
                let values = quantities.iter();
                values
                    .map(|one| one.of_sums(sums, num_rows as f64))
                    .collect()
            };
            sums.iter().map(of_draw).collect()
        })
        .collect();
    let mut values = vec![Vec::with_capacity(config.resamples); quantities.len()];
    for draw in passes.iter().flatten() {
        for (values, &value) in values.iter_mut().zip(draw) {
            values.push(value);
        }
    }
    Draws {
        keys: quantities.iter().map(|one| one.key.clone()).collect(),
        values,
    }
}

/// How often each row is drawn, row by row, the draws of a row side by side.
fn count_draws(stream: SeedStream, numbers: &[usize], num_rows: usize) -> Vec<u8> {
    let mut counts = vec![0_u8; num_rows * numbers.len()];
    let mut rng;
    for (place, &number) in numbers.iter().enumerate() {
        rng = stream.child(number as u64).rng();
        for _ in 0..num_rows {
            let row = draw_below(&mut rng, num_rows);
            let count = &mut counts[row * numbers.len() + place];
            // A row is drawn once on average; more than 255 times is never seen.
            *count = count.saturating_add(1);
        }
    }
    counts
}

/// A whole number below `end`, by the upper bits of a product: quick, and uneven by no more than
/// `end` in 2^64.
fn draw_below(rng: &mut impl Rng, end: usize) -> usize {
    ((u128::from(rng.next_u64()) * end as u128) >> 64) as usize
}

/// The sums of all columns for each draw.
fn weighted_sums(table: &ObservationTable, counts: &[u8], num_draws: usize) -> Vec<Vec<f64>> {
    let num_columns = table.num_columns();
    let mut sums = vec![vec![0.0_f64; num_columns]; num_draws];
    let mut block = vec![0.0_f32; num_draws * num_columns];
    let blocks = table.blocks(ROWS_PER_BLOCK);
    for (rows, counts) in blocks.zip(counts.chunks(ROWS_PER_BLOCK * num_draws)) {
        block.fill(0.0);
        let rows = rows.chunks_exact(num_columns);
        for (row, counts) in rows.zip(counts.chunks_exact(num_draws)) {
            for (sums, &count) in block.chunks_exact_mut(num_columns).zip(counts) {
                if count > 0 {
                    let weight = f32::from(count);
                    for (sum, &value) in sums.iter_mut().zip(row) {
                        *sum += weight * value;
                    }
                }
            }
        }
        for (sums, block) in sums.iter_mut().zip(block.chunks_exact(num_columns)) {
            for (sum, &more) in sums.iter_mut().zip(block) {
                *sum += f64::from(more);
            }
        }
    }
    sums
}

/// A quantile of sorted numbers, by linear interpolation between the two nearest: numpy's default.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 0.0;
    };
    let place = share * last as f64;
    let below = (place.floor() as usize).min(last);
    let above = (below + 1).min(last);
    let weight = place - below as f64;
    sorted[below] + weight * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(values: &[f64]) -> ObservationTable {
        let mut table = ObservationTable::new(1);
        for &value in values {
            table.push([value]);
        }
        table
    }

    fn interval_of_mean(values: &[f64], config: &BootstrapConfig) -> (f64, f64) {
        let rows: Vec<u32> = (0..values.len() as u32).collect();
        let draws = resample(&table(values), &[Quantity::mean("x", 0)], &rows, config);
        config.interval(draws.get("x").unwrap())
    }

    #[test]
    fn quantiles_interpolate() {
        let sorted = [1.0, 2.0, 4.0];
        assert_eq!(quantile(&sorted, 0.0), 1.0);
        assert_eq!(quantile(&sorted, 0.75), 3.0);
        assert_eq!(quantile(&sorted, 1.0), 4.0);
        assert_eq!(quantile(&[], 0.5), 0.0);
    }

    #[test]
    fn equal_rows_have_an_interval_of_one_point() {
        let config = BootstrapConfig::default();
        assert_eq!(interval_of_mean(&[0.5; 40], &config), (0.5, 0.5));
    }

    #[test]
    fn every_row_is_drawn_once_on_average() {
        let counts = count_draws(SeedStream::new(3), &[0, 1, 2], 1000);
        for place in 0..3 {
            let drawn = counts.iter().skip(place).step_by(3);
            assert_eq!(drawn.map(|&count| u32::from(count)).sum::<u32>(), 1000);
        }
        let is_missing = |&&count: &&u8| count == 0;
        let missing = counts.iter().filter(is_missing).count() as f64 / 3000.0;
        assert!((missing - (-1.0_f64).exp()).abs() < 0.03, "{missing}");
    }

    #[test]
    fn sums_are_those_of_the_drawn_rows() {
        let mut table = ObservationTable::new(2);
        for row in 0..700 {
            table.push([f64::from(row), 1.0]);
        }
        let rows: Vec<u32> = (0..700).filter(|row| row % 3 == 0).collect();
        let (table, _) = table.select(&rows, &[Quantity::mean("x", 0)]);
        let counts = count_draws(SeedStream::new(5), &[4, 7], rows.len());
        let sums = weighted_sums(&table, &counts, 2);
        for (place, sums) in sums.iter().enumerate() {
            let counts = counts.iter().skip(place).step_by(2);
            let expected: u64 = rows
                .iter()
                .zip(counts)
                .map(|(&row, &count)| u64::from(row) * u64::from(count))
                .sum();
            assert!((sums[0] - expected as f64).abs() < 1e-6 * expected as f64);
        }
    }

    #[test]
    fn draws_depend_on_the_seed_and_not_on_the_threads() {
        let values: Vec<f64> = (0..300).map(|value| f64::from(value % 7)).collect();
        let config = BootstrapConfig::default();
        let one_thread = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        let expected = one_thread.install(|| interval_of_mean(&values, &config));
        assert_eq!(interval_of_mean(&values, &config), expected);
        let other = BootstrapConfig { seed: 2, ..config };
        assert_ne!(interval_of_mean(&values, &other), expected);
    }

    #[test]
    fn intervals_cover_the_true_value_about_as_often_as_they_say() {
        use rand::RngExt as _;
        let config = BootstrapConfig {
            resamples: 400,
            ..BootstrapConfig::default()
        };
        let num_worlds = 400;
        // A ratio of sums, as PSP and micro-F1 are: the true value is 0.3 / 2.
        let mut num_covered = 0;
        for world in 0..num_worlds {
            let mut rng = SeedStream::new(99).child(world).rng();
            let mut table = ObservationTable::new(2);
            for _ in 0..200 {
                let weight = f64::from(rng.random_range(1..=3_u8));
                let hit = f64::from(u8::from(rng.random_bool(0.3)));
                table.push([hit, weight]);
            }
            let quantity = Quantity {
                key: "ratio".into(),
                numerator: 0,
                denominator: Some(1),
                scale: 1.0,
            };
            let rows: Vec<u32> = (0..200).collect();
            let draws = resample(&table, &[quantity], &rows, &config);
            let (low, high) = config.interval(draws.get("ratio").unwrap());
            num_covered += u32::from((low..=high).contains(&0.15));
        }
        let covered = f64::from(num_covered) / num_worlds as f64;
        assert!((0.915..=0.975).contains(&covered), "{covered}");
    }

    #[test]
    fn impossible_settings_are_refused_by_name() {
        let default = BootstrapConfig::default;
        assert!(default().validate().is_ok());
        for (config, key) in [
            (
                BootstrapConfig {
                    resamples: 99,
                    ..default()
                },
                "resamples",
            ),
            (
                BootstrapConfig {
                    confidence: 1.0,
                    ..default()
                },
                "confidence",
            ),
            (
                BootstrapConfig {
                    confidence: f64::NAN,
                    ..default()
                },
                "confidence",
            ),
        ] {
            assert!(config.validate().unwrap_err().to_string().starts_with(key));
        }
    }
}
