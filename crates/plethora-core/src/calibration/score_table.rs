//! How often each score came up, and how often with a true label.

/// Different scores that are kept apart. Up to here all counts are exact.
const MAX_SCORES: usize = 1 << 20;
/// Pairs that wait to be sorted in.
const MAX_WAITING: usize = 1 << 18;
/// Set in the bits of a score, which is never negative, where the label is true.
const TRUE_BIT: u32 = 1 << 31;

/// A score, the number of pairs that have it, and how many of them are true.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreCount {
    /// The score, from 0 to 1.
    pub score: f32,
    /// Pairs of a document and a label with this score.
    pub num_pairs: u64,
    /// Those of them whose label is true.
    pub num_true: u64,
}

/// Counts pairs of score and truth in bounded memory, whatever their number and order.
///
/// Up to 2^20 different scores are exact. Where there are more, scores that differ only in the last
/// bits of their fraction become one, the smallest that they can be, one bit more at a time until
/// they are few enough again: scores stay apart that differ by one part in 4,000 or more. At most
/// 26 MB are held.
#[derive(Debug, Clone, Default)]
pub struct ScoreTable {
    counts: Vec<ScoreCount>,
    waiting: Vec<u32>,
    num_lost_bits: u32,
    max_scores: Option<usize>,
}

impl ScoreTable {
    /// A table without pairs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in a pair. Scores below 0 and what is no number count as 0, those above 1 as 1.
    pub fn add(&mut self, score: f32, is_true: bool) {
        let truth = if is_true { TRUE_BIT } else { 0 };
        self.waiting.push(within_bounds(score).to_bits() | truth);
        if self.waiting.len() == MAX_WAITING {
            self.sort_in();
        }
    }

    /// The scores that came up, rising, each once.
    pub fn finish(mut self) -> Vec<ScoreCount> {
        self.sort_in();
        self.counts
    }

    fn sort_in(&mut self) {
        self.waiting.sort_unstable_by_key(|bits| bits & !TRUE_BIT);
        let waiting = self.waiting.drain(..).map(|bits| ScoreCount {
            score: f32::from_bits(bits & !TRUE_BIT),
            num_pairs: 1,
            num_true: u64::from(bits & TRUE_BIT != 0),
        });
        let lost = self.num_lost_bits;
        let mut joined = std::mem::take(&mut self.counts);
        joined.extend(waiting.map(|count| without_bits(count, lost)));
        self.counts = group(joined);
        let limit = self.max_scores.unwrap_or(MAX_SCORES);
        while self.counts.len() > limit && self.num_lost_bits < f32::MANTISSA_DIGITS {
            self.num_lost_bits += 1;
            let shorter = self.counts.iter();
            let shorter = shorter.map(|&count| without_bits(count, self.num_lost_bits));
            self.counts = group(shorter.collect());
        }
    }
}

/// Several counts of scores as one.
pub(super) fn merged<'a>(tables: impl IntoIterator<Item = &'a [ScoreCount]>) -> Vec<ScoreCount> {
    group(tables.into_iter().flatten().copied().collect())
}

/// Equal scores become one; rising.
pub(super) fn group(mut counts: Vec<ScoreCount>) -> Vec<ScoreCount> {
    // Runs that are sorted already, which all callers have, are only merged.
    counts.sort_by(|left, right| left.score.total_cmp(&right.score));
    counts.dedup_by(|next, kept| {
        let is_equal = next.score == kept.score;
        if is_equal {
            kept.num_pairs += next.num_pairs;
            kept.num_true += next.num_true;
        }
        is_equal
    });
    counts
}

/// The score itself where it is from 0 to 1, and the nearest that is otherwise.
pub(super) fn within_bounds(score: f32) -> f32 {
    if score > 0.0 { score.min(1.0) } else { 0.0 }
}

fn without_bits(count: ScoreCount, num_lost_bits: u32) -> ScoreCount {
    let bits = count.score.to_bits() >> num_lost_bits << num_lost_bits;
    ScoreCount {
        score: f32::from_bits(bits),
        ..count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_are_counted_together_and_odd_ones_are_bounded() {
        let mut table = ScoreTable::new();
        for (score, is_true) in [
            (0.5, true),
            (-0.0, false),
            (0.5, false),
            (f32::NAN, false),
            (7.0, true),
            (-3.0, true),
        ] {
            table.add(score, is_true);
        }
        let counts = table.finish().into_iter();
        let counts: Vec<_> = counts
            .map(|count| (count.score, count.num_pairs, count.num_true))
            .collect();
        assert_eq!(counts, [(0.0, 3, 1), (0.5, 2, 1), (1.0, 1, 1)]);
    }

    #[test]
    fn too_many_scores_are_merged_the_same_in_any_order() {
        let scores: Vec<f32> = (1..=4000_u32).map(|n| (n as f32).sqrt() / 64.0).collect();
        let fill = |scores: &mut dyn Iterator<Item = f32>| {
            let mut table = ScoreTable {
                max_scores: Some(500),
                ..ScoreTable::default()
            };
            for (place, score) in scores.enumerate() {
                table.add(score, score > 0.5);
                if place % 97 == 0 {
                    table.sort_in();
                }
            }
            table.finish()
        };
        let forwards = fill(&mut scores.iter().copied());
        let backwards = fill(&mut scores.iter().rev().copied());
        assert_eq!(forwards, backwards);
        assert!(forwards.len() <= 500 && forwards.len() > 200);
        let total: u64 = forwards.iter().map(|count| count.num_pairs).sum();
        assert_eq!(total, 4000);
    }
}
