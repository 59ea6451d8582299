//! One seed for a whole run, and independent generators derived from it by name.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Derives generators from one seed, so that parallel work draws the same numbers in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeedStream(u64);

impl SeedStream {
    /// The stream of a run's seed.
    pub const fn new(seed: u64) -> Self {
        Self(mix(seed ^ 0x9e37_79b9_7f4a_7c15))
    }

    /// The sub-stream number `index`, for the parts of a loop or tree.
    pub const fn child(self, index: u64) -> Self {
        Self(mix(self.0 ^ mix(index.wrapping_add(0x632b_e59b_d9b4_e019))))
    }

    /// The sub-stream of a named purpose.
    pub fn named(self, purpose: &str) -> Self {
        purpose
            .bytes()
            .fold(self, |stream, byte| stream.child(u64::from(byte)))
    }

    /// A generator at the start of this stream.
    pub fn rng(self) -> Pcg64Mcg {
        Pcg64Mcg::seed_from_u64(self.0)
    }

    /// The one number of this stream that is needed where a single draw decides: from 0 on, below 1.
    pub fn fraction(self) -> f64 {
        // The upper 53 bits are a number below 1 that is exact.
        (self.rng().next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The finaliser of `SplitMix64`: every input bit changes about half of the output bits.
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_paths_draw_equal_numbers_and_others_differ() {
        let draw = |stream: SeedStream| stream.rng().next_u64();
        let root = SeedStream::new(7);
        assert_eq!(
            draw(root.named("tree").child(3)),
            draw(root.named("tree").child(3))
        );
        assert_ne!(draw(root.child(3)), draw(root.child(4)));
        assert_ne!(draw(root.named("tree")), draw(root.named("text")));
    }
}
