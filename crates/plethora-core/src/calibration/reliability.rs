//! Reliability diagrams of counted scores.

use super::ScoreCount;
use crate::metrics::{Reliability, ReliabilityBin, equal_width_bin};

impl Reliability {
    /// Bins of equal width from 0 to 1; a score on a border belongs to the upper one, and 1 to the
    /// last. `rising` has each score once.
    pub fn equal_width(rising: &[ScoreCount], num_bins: usize) -> Self {
        Self::of(rising, |count, _| equal_width_bin(count.score, num_bins))
    }

    /// Bins of as equal numbers of pairs as can be: a pair belongs to the bin that the share of pairs
    /// with lower scores falls into, so that equal scores are never parted.
    pub fn equal_mass(rising: &[ScoreCount], num_bins: usize) -> Self {
        let total: u64 = rising.iter().map(|count| count.num_pairs).sum();
        Self::of(rising, |_, num_lower| {
            (u128::from(num_lower) * num_bins as u128 / u128::from(total.max(1))) as usize
        })
    }

    fn of(rising: &[ScoreCount], bin_of: impl Fn(&ScoreCount, u64) -> usize) -> Self {
        let mut num_lower = 0;
        let placed: Vec<(usize, &ScoreCount)> = (rising.iter())
            .map(|count| {
                let bin = bin_of(count, num_lower);
                num_lower += count.num_pairs;
                (bin, count)
            })
            .collect();
        let bins = placed.chunk_by(|left, right| left.0 == right.0).map(|bin| {
            let counts = bin.iter().map(|(_, count)| count);
            let num_pairs: u64 = counts.clone().map(|count| count.num_pairs).sum();
            let num_true: u64 = counts.clone().map(|count| count.num_true).sum();
            let scores: f64 = counts
                .map(|count| f64::from(count.score) * count.num_pairs as f64)
                .sum();
            ReliabilityBin {
                mean_score: scores / num_pairs as f64,
                share_true: num_true as f64 / num_pairs as f64,
                num_pairs,
            }
        });
        Self {
            bins: bins.collect(),
        }
    }
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
    fn error_is_the_weighted_distance_of_score_and_share() {
        let counts = [count(0.25, 6, 3), count(0.5, 1, 0), count(1.0, 3, 3)];
        let width = Reliability::equal_width(&counts, 2);
        assert_eq!(width.bins.len(), 2);
        assert_eq!(width.bins[1].num_pairs, 4);
        assert_eq!(width.bins[1].mean_score, 0.875);
        assert_eq!(width.bins[1].share_true, 0.75);
        let expected = (0.25 * 6.0 + 0.125 * 4.0) / 10.0;
        assert!((width.expected_calibration_error() - expected).abs() < 1e-12);
        // The first score has more than half of the mass.
        let mass = Reliability::equal_mass(&counts, 2);
        assert_eq!(
            mass.bins
                .iter()
                .map(|bin| bin.num_pairs)
                .collect::<Vec<_>>(),
            [6, 4]
        );
        assert_eq!(
            Reliability::equal_mass(&[], 5).expected_calibration_error(),
            0.0
        );
    }
}
