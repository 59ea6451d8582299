//! Rows of features, cut into bins for the trees.

use rayon::prelude::*;

/// Bins of a feature.
pub(super) const NUM_BINS: usize = 256;

/// Rows whose values choose the bins, at most.
const SAMPLED_ROWS: usize = 200_000;

/// The bins of each feature's values, by features.
#[derive(Debug)]
pub struct FeatureRows {
    bins: Vec<Vec<u8>>,
    /// The largest value of each bin but the last.
    thresholds: Vec<Vec<f32>>,
}

impl FeatureRows {
    /// Cuts rows of `num_features` values, one behind the other. Where a feature has few values, each
    /// has a bin; else bins have equally many rows.
    pub fn new(values: &[f32], num_features: usize) -> Self {
        let column = |feature| values.iter().skip(feature).step_by(num_features).copied();
        let features: Vec<usize> = (0..num_features).collect();
        let thresholds: Vec<Vec<f32>> = (features.par_iter())
            .map(|&feature| thresholds(column(feature)))
            .collect();
        let bins = (features.par_iter())
            .map(|&feature| {
                let thresholds = &thresholds[feature];
                let bin = |value| thresholds.partition_point(|&threshold| threshold < value);
                column(feature).map(|value| bin(value) as u8).collect()
            })
            .collect();
        Self { bins, thresholds }
    }

    pub(super) fn num_features(&self) -> usize {
        self.bins.len()
    }

    /// The bin of each row.
    pub(super) fn bins(&self, feature: usize) -> &[u8] {
        &self.bins[feature]
    }

    pub(super) fn num_bins(&self, feature: usize) -> usize {
        self.thresholds[feature].len() + 1
    }

    /// What values of a bin do not exceed.
    pub(super) fn threshold(&self, feature: usize, bin: u8) -> f32 {
        self.thresholds[feature][usize::from(bin)]
    }
}

/// Middles between neighbouring values, or between those at equal shares of the rows.
fn thresholds(column: impl Iterator<Item = f32> + Clone) -> Vec<f32> {
    let step = column.clone().count().div_ceil(SAMPLED_ROWS).max(1);
    let mut sample: Vec<f32> = column.step_by(step).collect();
    sample.sort_unstable_by(f32::total_cmp);
    let mut values = sample.clone();
    values.dedup();
    let middle = |pair: &[f32]| pair[0] + (pair[1] - pair[0]) / 2.0;
    if values.len() <= NUM_BINS {
        return values.windows(2).map(middle).collect();
    }
    let mut thresholds: Vec<f32> = (1..NUM_BINS)
        .map(|share| sample[share * (sample.len() - 1) / NUM_BINS])
        .collect();
    thresholds.dedup();
    thresholds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_have_a_bin_each() {
        let rows = FeatureRows::new(&[1.0, 5.0, 3.0, 5.0, 1.0, 5.0], 2);
        assert_eq!(rows.bins(0), [0, 1, 0]);
        assert_eq!(rows.bins(1), [0, 0, 0]);
        assert_eq!((rows.num_bins(0), rows.num_bins(1)), (2, 1));
        assert_eq!(rows.threshold(0, 0), 2.0);
    }

    #[test]
    fn many_values_share_bins_evenly() {
        let values: Vec<f32> = (0..10_000).rev().map(|value| value as f32).collect();
        let rows = FeatureRows::new(&values, 1);
        let mut sizes = [0; NUM_BINS];
        for &bin in rows.bins(0) {
            sizes[usize::from(bin)] += 1;
        }
        assert!(
            sizes.iter().all(|size| (35..=45).contains(size)),
            "{sizes:?}"
        );
    }
}
