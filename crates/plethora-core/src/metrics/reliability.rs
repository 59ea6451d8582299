//! How far scores can be read as probabilities.

use serde::Serialize;

use super::sum::Sum;

const NUM_BINS: usize = 10;

/// Scores and hits of ranked places, in bins of equal width.
#[derive(Debug, Clone, Default)]
pub struct Reliability {
    bins: [Bin; NUM_BINS],
}

#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    num_places: u64,
    num_hits: u64,
    scores: Sum,
}

/// The places whose scores lie in one bin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ReliabilityBin {
    /// Lower end of the bin.
    pub from: f64,
    /// Upper end of the bin.
    pub to: f64,
    /// Number of places.
    #[serde(rename = "n_places")]
    pub num_places: u64,
    /// Mean of their scores; the middle of the bin where there are none.
    pub mean_score: f64,
    /// Share of them that are hits; 0 where there are none.
    pub hit_share: f64,
}

impl Reliability {
    /// Takes in a place. Scores beyond 0 and 1 count as these.
    pub fn add(&mut self, score: f32, is_hit: bool) {
        let score = f64::from(score).clamp(0.0, 1.0);
        let place = ((score * NUM_BINS as f64) as usize).min(NUM_BINS - 1);
        let bin = &mut self.bins[place];
        bin.num_places += 1;
        bin.num_hits += u64::from(is_hit);
        bin.scores += score;
    }

    /// Number of places.
    pub fn num_places(&self) -> u64 {
        self.bins.iter().map(|bin| bin.num_places).sum()
    }

    /// All bins, from low scores to high ones.
    pub fn bins(&self) -> Vec<ReliabilityBin> {
        let width = 1.0 / NUM_BINS as f64;
        let bin = |(place, bin): (usize, &Bin)| {
            let from = place as f64 * width;
            let count = bin.num_places.max(1) as f64;
            let is_empty = bin.num_places == 0;
            ReliabilityBin {
                from,
                to: from + width,
                num_places: bin.num_places,
                mean_score: if is_empty {
                    from + width / 2.0
                } else {
                    bin.scores.value() / count
                },
                hit_share: bin.num_hits as f64 / count,
            }
        };
        self.bins.iter().enumerate().map(bin).collect()
    }

    /// Expected calibration error: the mean distance of a bin's mean score from its share of hits,
    /// weighted by its places.
    pub fn expected_error(&self) -> f64 {
        let total = self.num_places().max(1) as f64;
        let weighted = self.bins().into_iter().filter(|bin| bin.num_places > 0);
        weighted
            .map(|bin| bin.num_places as f64 / total * (bin.mean_score - bin.hit_share).abs())
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn honest_scores_have_no_error_and_bold_ones_have_theirs() {
        let mut honest = Reliability::default();
        let mut bold = Reliability::default();
        for number in 0..100 {
            honest.add(0.25, number % 4 == 0);
            bold.add(0.95, number % 4 == 0);
        }
        assert!(honest.expected_error() < 1e-9);
        assert!((bold.expected_error() - 0.7).abs() < 1e-6);
        assert_eq!(bold.num_places(), 100);
        assert_eq!(bold.bins()[9].hit_share, 0.25);
    }

    #[test]
    fn scores_at_the_ends_have_a_bin() {
        let mut ends = Reliability::default();
        for score in [-1.0, 0.0, 1.0, 2.0] {
            ends.add(score, true);
        }
        let bins = ends.bins();
        assert_eq!((bins[0].num_places, bins[9].num_places), (2, 2));
        assert_eq!(bins[9].mean_score, 1.0);
        assert_eq!(Reliability::default().expected_error(), 0.0);
    }
}
