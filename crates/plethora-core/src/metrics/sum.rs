//! A sum that does not depend on the order of its terms.

use std::ops::AddAssign;

/// 2^64: a sum is a whole number of these parts.
const PARTS: f64 = 18_446_744_073_709_551_616.0;

/// Adds non-negative numbers in fixed point, so that evaluators filled by several threads and
/// merged in any order agree to the last bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Sum(u128);

impl Sum {
    pub(super) fn value(self) -> f64 {
        self.0 as f64 / PARTS
    }
}

impl AddAssign<f64> for Sum {
    fn add_assign(&mut self, term: f64) {
        debug_assert!(term.is_finite() && term >= 0.0);
        self.0 += (term * PARTS) as u128;
    }
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn order_does_not_matter(terms in prop::collection::vec(0.0_f64..1e4, 0..50)) {
            let (mut forward, mut backward) = (Sum::default(), Sum::default());
            for &term in &terms {
                forward += term;
            }
            for &term in terms.iter().rev() {
                backward += term;
            }
            prop_assert_eq!(forward, backward);
            prop_assert!((forward.value() - terms.iter().sum::<f64>()).abs() < 1e-9);
        }
    }
}
