//! The best of many candidates.

use std::cmp::Ordering;

/// Candidates beyond the limit that are kept until they are worth a selection.
const SLACK: usize = 256;

/// A document of an index and how near it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// Its number in the index.
    pub document: u32,
    /// Cosine of the angle between the two, above 0 and up to 1.
    pub similarity: f32,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that sorting asks for"
)]
impl Neighbour {
    /// Nearer ones first; of equally near ones the earlier document.
    pub(super) fn by_nearness(&self, other: &Self) -> Ordering {
        (other.similarity)
            .total_cmp(&self.similarity)
            .then(self.document.cmp(&other.document))
    }
}

/// Keeps the nearest of the candidates that it is shown, in whatever order.
#[derive(Debug)]
pub(super) struct Nearest {
    limit: usize,
    kept: Vec<Neighbour>,
    /// Candidates below it cannot be among the nearest.
    floor: f32,
}

impl Nearest {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            kept: Vec::new(),
            floor: 0.0,
        }
    }

    /// Takes a candidate into account; those that have nothing in common with the query are none.
    pub(super) fn show(&mut self, candidate: Neighbour) {
        if candidate.similarity > 0.0 && candidate.similarity >= self.floor {
            self.kept.push(candidate);
            if self.kept.len() >= self.limit + SLACK {
                self.select();
            }
        }
    }

    fn select(&mut self) {
        if self.limit == 0 {
            self.kept.clear();
        } else if self.kept.len() > self.limit {
            let last = self.limit - 1;
            self.kept
                .select_nth_unstable_by(last, Neighbour::by_nearness);
            self.floor = self.kept[last].similarity;
            self.kept.truncate(self.limit);
        }
    }

    /// The nearest, the nearest first.
    pub(super) fn finish(mut self) -> Vec<Neighbour> {
        self.select();
        self.kept.sort_unstable_by(Neighbour::by_nearness);
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_nearest_are_those_of_a_full_sort(
            similarities in prop::collection::vec(-2_i8..6, 0..900),
            limit in 0_usize..20,
        ) {
            let candidates: Vec<Neighbour> = (0..)
                .zip(&similarities)
                .map(|(document, &tenths)| Neighbour { document, similarity: f32::from(tenths) / 10.0 })
                .collect();
            let mut nearest = Nearest::new(limit);
            candidates.iter().rev().for_each(|&candidate| nearest.show(candidate));
            let mut expected: Vec<Neighbour> =
                candidates.into_iter().filter(|one| one.similarity > 0.0).collect();
            expected.sort_by(Neighbour::by_nearness);
            expected.truncate(limit);
            prop_assert_eq!(nearest.finish(), expected);
        }
    }
}
