//! Random choices by integer arithmetic only, so that every machine makes the same catalogue.

use plethora_core::SeedStream;
use rand::Rng;
use rand_pcg::Pcg64Mcg;

/// A source of choices.
#[derive(Debug, Clone)]
pub(crate) struct Draw(Pcg64Mcg);

impl Draw {
    pub(crate) fn new(stream: SeedStream) -> Self {
        Self(stream.rng())
    }

    /// A number below `bound`, which must not be zero.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0);
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A position in a list of `len` items.
    pub(crate) fn position(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// True in so many of a hundred cases.
    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < u64::from(percent)
    }

    /// One of the items.
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.position(items.len())]
    }

    /// A position drawn in proportion to its weight.
    pub(crate) fn weighted(&mut self, weights: &[u32]) -> usize {
        let mut rest = self.below(weights.iter().map(|&weight| u64::from(weight)).sum());
        for (position, &weight) in weights.iter().enumerate() {
            if rest < u64::from(weight) {
                return position;
            }
            rest -= u64::from(weight);
        }
        weights.len() - 1
    }

    /// A rank below `count`, rank `r` with probability proportional to `1 / (r + 1 + shift)`: the
    /// Zipf-Mandelbrot law with exponent 1.
    ///
    /// An octave `[2^k, 2^(k+1))` is drawn uniformly, then a number `z` in it, kept with
    /// probability `2^k / z`; so each `z` comes with probability proportional to
    /// `2^-k * 2^k / z = 1 / z`, without a table or floating point.
    pub(crate) fn zipf(&mut self, count: u32, shift: u32) -> u32 {
        debug_assert!(count > 0);
        let first = u64::from(shift) + 1;
        let last = u64::from(shift) + u64::from(count);
        let (lowest, highest) = (first.ilog2(), last.ilog2());
        loop {
            let octave = 1 << (u64::from(lowest) + self.below(u64::from(highest - lowest) + 1));
            let z = octave + self.below(octave);
            if (first..=last).contains(&z) && self.below(z) < octave {
                return (z - first) as u32;
            }
        }
    }

    /// Puts the items in a random order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.position(end + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zipf_ranks_come_in_proportion_to_their_weight() {
        for (count, shift) in [(1, 0), (10, 0), (100, 7), (5, 100)] {
            let mut draw = Draw::new(SeedStream::new(3));
            let mut counts = vec![0_u32; count as usize];
            for _ in 0..100_000 {
                counts[draw.zipf(count, shift) as usize] += 1;
            }
            let total: f64 = (0..count)
                .map(|rank| 1.0 / f64::from(rank + 1 + shift))
                .sum();
            for (rank, &found) in (0..).zip(&counts) {
                let expected = 100_000.0 / f64::from(rank + 1 + shift) / total;
                assert!((f64::from(found) - expected).abs() < 5.0 * expected.sqrt() + 1.0);
            }
        }
    }

    #[test]
    fn weights_of_zero_are_never_drawn() {
        let mut draw = Draw::new(SeedStream::new(3));
        assert!((0..1_000).all(|_| draw.weighted(&[0, 2, 0, 1]) % 2 == 1));
    }
}
