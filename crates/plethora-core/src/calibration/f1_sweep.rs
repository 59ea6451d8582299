//! The threshold with the best F1, found by trying every score.

use super::ScoreCount;

/// A threshold, and what it gives on the data that it was chosen on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestThreshold {
    /// Labels from this score on are assigned.
    pub threshold: f32,
    /// F1 of all decisions: `2 tp / (assigned + true)`.
    pub f1: f64,
}

/// The score from which on assigned labels have the best F1 over all decisions; of equally good ones
/// the highest. `total_true` counts all true labels, ranked or not. None without a hit.
pub fn best_threshold(rising: &[ScoreCount], total_true: u64) -> Option<BestThreshold> {
    let (mut num_assigned, mut num_hits) = (0_u64, 0_u64);
    let mut best: Option<BestThreshold> = None;
    for count in rising.iter().rev() {
        num_assigned += count.num_pairs;
        num_hits += count.num_true;
        let f1 = f1_of(num_hits, num_assigned, total_true);
        if f1 > best.map_or(0.0, |best| best.f1) {
            best = Some(BestThreshold {
                threshold: count.score,
                f1,
            });
        }
    }
    best
}

/// F1 from counts; 0 where there is nothing.
pub(super) fn f1_of(num_hits: u64, num_assigned: u64, num_true: u64) -> f64 {
    let denominator = num_assigned + num_true;
    if denominator == 0 {
        return 0.0;
    }
    2.0 * num_hits as f64 / denominator as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeedStream;
    use crate::calibration::ScoreTable;
    use rand::RngExt;

    #[test]
    fn the_sweep_finds_what_trying_all_scores_finds() {
        let mut draw = SeedStream::new(5).rng();
        for num_pairs in [1, 2, 7, 60] {
            for missed in [0, 3] {
                let pairs: Vec<(f32, bool)> = (0..num_pairs)
                    .map(|_| {
                        let score = draw.random_range(0..16) as f32 / 16.0;
                        (score, draw.random::<f32>() < score)
                    })
                    .collect();
                let total = pairs.iter().filter(|pair| pair.1).count() as u64 + missed;
                let f1_at = |threshold: f32| {
                    let assigned = pairs.iter().filter(|pair| pair.0 >= threshold);
                    let hits = assigned.clone().filter(|pair| pair.1).count();
                    f1_of(hits as u64, assigned.count() as u64, total)
                };
                let mut table = ScoreTable::new();
                for &(score, is_true) in &pairs {
                    table.add(score, is_true);
                }
                let found = best_threshold(&table.finish(), total);
                let mut tried: Vec<f32> = pairs.iter().map(|pair| pair.0).collect();
                tried.sort_by(|left, right| right.total_cmp(left));
                let mut expected = None;
                for threshold in tried {
                    if f1_at(threshold) > expected.map_or(0.0, f1_at) {
                        expected = Some(threshold);
                    }
                }
                assert_eq!(found.map(|best| best.threshold), expected);
                assert_eq!(found.map(|best| best.f1), expected.map(f1_at));
            }
        }
    }
}
