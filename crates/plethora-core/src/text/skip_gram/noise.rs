//! Draws words at random, frequent ones more often.

use rand::Rng;

/// The power of Mikolov et al. (2013) between drawing words as often as they occur (1) and all
/// alike (0).
const POWER: f64 = 0.75;

/// Draws rows in proportion to their count to the power of 3/4, in constant time (Walker's alias
/// method): a first draw takes a row, a second one keeps it or goes on to its alias.
#[derive(Debug)]
pub(super) struct Noise(Vec<Entry>);

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The row is kept where the second draw is below this.
    threshold: u32,
    alias: u32,
}

impl Noise {
    /// A distribution over rows; at least one count must be above zero.
    pub(super) fn new(counts: &[u64]) -> Self {
        let weights: Vec<f64> = counts
            .iter()
            .map(|&count| (count as f64).powf(POWER))
            .collect();
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        let mut shares: Vec<f64> = weights.iter().map(|weight| weight / mean).collect();
        let keep_all = |row: u32| Entry {
            threshold: u32::MAX,
            alias: row,
        };
        let mut entries: Vec<Entry> = (0..counts.len() as u32).map(keep_all).collect();
        let (mut small, mut large): (Vec<u32>, Vec<u32>) =
            (0..counts.len() as u32).partition(|&row| shares[row as usize] < 1.0);
        while let (Some(&giver), Some(taker)) = (large.last(), small.pop()) {
            let share = shares[taker as usize];
            entries[taker as usize] = Entry {
                threshold: (share * f64::from(u32::MAX)) as u32,
                alias: giver,
            };
            shares[giver as usize] -= 1.0 - share;
            if shares[giver as usize] < 1.0 {
                large.pop();
                small.push(giver);
            }
        }
        // What rounding leaves over has a share of nearly 1, unless it never occurs.
        for row in small {
            if counts[row as usize] == 0 {
                let most = (0..counts.len()).max_by_key(|&row| counts[row]);
                entries[row as usize] = Entry {
                    threshold: 0,
                    alias: most.unwrap_or(0) as u32,
                };
            }
        }
        Self(entries)
    }

    pub(super) fn draw(&self, rng: &mut impl Rng) -> u32 {
        let bits = rng.next_u64();
        let row = ((bits >> 32) * self.0.len() as u64) >> 32;
        let Entry { threshold, alias } = self.0[row as usize];
        if (bits as u32) < threshold {
            row as u32
        } else {
            alias
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeedStream;

    #[test]
    fn rows_come_in_proportion_to_the_power_of_their_count() {
        let counts = [0, 16, 81, 0, 256, 10_000, 1];
        let noise = Noise::new(&counts);
        let mut rng = SeedStream::new(3).rng();
        let mut drawn = [0_u32; 7];
        for _ in 0..200_000 {
            drawn[noise.draw(&mut rng) as usize] += 1;
        }
        assert_eq!((drawn[0], drawn[3]), (0, 0));
        let total: f64 = counts.iter().map(|&count| (count as f64).powf(POWER)).sum();
        for (drawn, count) in drawn.iter().zip(counts) {
            let share = (count as f64).powf(POWER) / total;
            assert!((f64::from(*drawn) / 200_000.0 - share).abs() < 0.005);
        }
    }

    #[test]
    fn rows_that_never_occur_are_never_drawn() {
        let counts: Vec<u64> = (0..1000).map(|row| u64::from(row % 7 == 3) * row).collect();
        let noise = Noise::new(&counts);
        let mut rng = SeedStream::new(3).rng();
        assert!((0..100_000).all(|_| counts[noise.draw(&mut rng) as usize] > 0));
    }
}
