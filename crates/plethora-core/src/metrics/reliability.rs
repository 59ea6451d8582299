//! How far scores can be read as probabilities.

use serde::{Deserialize, Serialize};

use super::sum::Sum;

/// Bins of a reliability diagram: as many as papers use.
pub(crate) const NUM_BINS: usize = 15;

/// One bar of a reliability diagram.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// Mean of the scores in it.
    pub mean_score: f64,
    /// Share of its pairs whose label is true.
    pub share_true: f64,
    /// Number of its pairs of a document and a ranked label.
    #[serde(rename = "n_pairs")]
    pub num_pairs: u64,
}

/// The bars of a reliability diagram, rising; empty ones are left out.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Reliability {
    /// The bars.
    pub bins: Vec<ReliabilityBin>,
}

impl Reliability {
    /// Expected calibration error: the mean distance of score and share, weighted by pairs.
    pub fn expected_calibration_error(&self) -> f64 {
        let distance =
            |bin: &ReliabilityBin| (bin.mean_score - bin.share_true).abs() * bin.num_pairs as f64;
        self.bins.iter().map(distance).sum::<f64>() / self.num_pairs().max(1) as f64
    }

    /// Number of pairs in all bars.
    pub fn num_pairs(&self) -> u64 {
        self.bins.iter().map(|bin| bin.num_pairs).sum()
    }
}

/// The bin of equal width that a score belongs to: one on a border to the upper one, 1 to the last.
/// Scores beyond 0 and 1 count as these.
pub(crate) fn equal_width_bin(score: f32, num_bins: usize) -> usize {
    let bin = (f64::from(score) * num_bins as f64) as usize;
    bin.min(num_bins - 1)
}

/// Makes a diagram with bins of equal width from scores that come one at a time.
#[derive(Debug, Clone, Default)]
pub(super) struct ReliabilityCounter {
    bins: [Bin; NUM_BINS],
}

#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    num_pairs: u64,
    num_true: u64,
    scores: Sum,
}

impl ReliabilityCounter {
    /// Takes in a ranked label. Scores beyond 0 and 1 count as these.
    pub(super) fn add(&mut self, score: f32, is_true: bool) {
        let bin = &mut self.bins[equal_width_bin(score, NUM_BINS)];
        bin.num_pairs += 1;
        bin.num_true += u64::from(is_true);
        bin.scores += f64::from(score.clamp(0.0, 1.0));
    }

    /// The diagram of all that came.
    pub(super) fn diagram(&self) -> Reliability {
        let filled = self.bins.iter().filter(|bin| bin.num_pairs > 0);
        let bins = filled.map(|bin| ReliabilityBin {
            mean_score: bin.scores.value() / bin.num_pairs as f64,
            share_true: bin.num_true as f64 / bin.num_pairs as f64,
            num_pairs: bin.num_pairs,
        });
        Reliability {
            bins: bins.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn honest_scores_have_no_error_and_bold_ones_have_theirs() {
        let mut honest = ReliabilityCounter::default();
        let mut bold = ReliabilityCounter::default();
        for number in 0..100 {
            honest.add(0.25, number % 4 == 0);
            bold.add(0.95, number % 4 == 0);
        }
        assert!(honest.diagram().expected_calibration_error() < 1e-9);
        let bold = bold.diagram();
        assert!((bold.expected_calibration_error() - 0.7).abs() < 1e-6);
        assert_eq!(bold.num_pairs(), 100);
        assert_eq!((bold.bins.len(), bold.bins[0].share_true), (1, 0.25));
    }

    #[test]
    fn scores_at_the_ends_have_a_bin() {
        let mut ends = ReliabilityCounter::default();
        for score in [-1.0, 0.0, 1.0, 2.0] {
            ends.add(score, true);
        }
        let bins = ends.diagram().bins;
        assert_eq!((bins[0].num_pairs, bins[1].num_pairs), (2, 2));
        assert_eq!((bins[0].mean_score, bins[1].mean_score), (0.0, 1.0));
        let nothing = ReliabilityCounter::default().diagram();
        assert_eq!(nothing.expected_calibration_error(), 0.0);
    }
}
