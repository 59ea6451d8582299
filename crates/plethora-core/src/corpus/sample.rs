//! A share of a corpus, drawn by chance.

use std::ops::Range;

use crate::SeedStream;

/// A share of the documents of a corpus. Seed and id alone decide on a document, so that it is drawn
/// while the corpus streams by: ranges that do not overlap have no document in common, and a range
/// within another has no others than that.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    stream: SeedStream,
    range: Range<f64>,
}

impl Sample {
    /// The documents that lie in `range` when chance puts all of them between 0 and 1.
    pub fn new(seed: u64, range: Range<f64>) -> Self {
        Self {
            stream: SeedStream::new(seed).named("sample"),
            range,
        }
    }

    /// True for a document of the sample.
    pub fn contains(&self, id: &str) -> bool {
        self.range.contains(&self.stream.named(id).fraction())
    }

    /// About how much of the corpus this is.
    pub fn share(&self) -> f64 {
        self.range.end - self.range.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(range: Range<f64>) -> Vec<usize> {
        let sample = Sample::new(3, range);
        let is_drawn = |number: &usize| sample.contains(&format!("d{number}"));
        (0..2000).filter(is_drawn).collect()
    }

    #[test]
    fn samples_have_about_their_share_and_overlap_as_their_ranges_do() {
        let (held_back, small, large) = (ids(0.0..0.1), ids(0.1..0.4), ids(0.1..1.0));
        for (drawn, expected) in [(&held_back, 200), (&small, 600), (&large, 1800)] {
            assert!(drawn.len().abs_diff(expected) < 60, "{}", drawn.len());
        }
        assert!(!held_back.iter().any(|number| large.contains(number)));
        assert!(small.iter().all(|number| large.contains(number)));
        assert_eq!(held_back.len() + large.len(), 2000);
    }
}
