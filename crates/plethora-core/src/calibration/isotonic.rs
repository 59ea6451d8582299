//! Isotonic regression by pooling adjacent violators.

use serde::{Deserialize, Serialize};

use super::ScoreCount;
use crate::{Error, Result};

/// A run of scores that the best rising fit gives one value: the share that is true.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IsotonicBlock {
    /// Lowest score of the run.
    pub from: f32,
    /// Its highest score.
    pub to: f32,
    /// Pairs of a document and a label with scores in the run.
    #[serde(rename = "n_pairs")]
    pub num_pairs: u64,
    /// Those of them whose label is true.
    #[serde(rename = "n_true")]
    pub num_true: u64,
}

/// The rising function that is nearest to the truth in squares: constant within blocks, a straight
/// line from one block to the next, and constant beyond the first and the last.
///
/// It is kept as counts, from which its values follow exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Isotonic {
    blocks: Vec<IsotonicBlock>,
}

impl IsotonicBlock {
    /// Share of true labels.
    pub fn value(&self) -> f64 {
        self.num_true as f64 / self.num_pairs as f64
    }

    /// True if the share of `self` is at least that of `next`, in whole numbers.
    fn reaches(&self, next: &Self) -> bool {
        u128::from(self.num_true) * u128::from(next.num_pairs)
            >= u128::from(next.num_true) * u128::from(self.num_pairs)
    }
}

impl Isotonic {
    /// Fits to scores that rise, of which there is at least one.
    pub(super) fn fit(counts: &[ScoreCount]) -> Self {
        let mut blocks: Vec<IsotonicBlock> = Vec::new();
        for count in counts {
            let mut next = IsotonicBlock {
                from: count.score,
                to: count.score,
                num_pairs: count.num_pairs,
                num_true: count.num_true,
            };
            while let Some(last) = blocks.pop_if(|last| last.reaches(&next)) {
                next.from = last.from;
                next.num_pairs += last.num_pairs;
                next.num_true += last.num_true;
            }
            blocks.push(next);
        }
        Self { blocks }
    }

    /// The runs of equal values, rising.
    pub fn blocks(&self) -> &[IsotonicBlock] {
        &self.blocks
    }

    /// The value at a score.
    pub fn value(&self, score: f64) -> f64 {
        let next = self
            .blocks
            .partition_point(|block| f64::from(block.from) <= score);
        let Some(last) = next.checked_sub(1) else {
            return self.blocks.first().map_or(0.0, IsotonicBlock::value);
        };
        let left = &self.blocks[last];
        match self.blocks.get(next) {
            Some(right) if score > f64::from(left.to) => {
                let (start, end) = (f64::from(left.to), f64::from(right.from));
                let slope = (right.value() - left.value()) / (end - start);
                left.value() + slope * (score - start)
            }
            _ => left.value(),
        }
    }

    pub(super) fn validate(&self) -> Result<()> {
        let is_block = |block: &IsotonicBlock| {
            let bounds = 0.0..=1.0;
            bounds.contains(&block.from)
                && bounds.contains(&block.to)
                && block.from <= block.to
                && block.num_pairs > 0
                && block.num_true <= block.num_pairs
        };
        let rises =
            |pair: &[IsotonicBlock]| pair[0].to < pair[1].from && !pair[0].reaches(&pair[1]);
        if self.blocks.is_empty()
            || !self.blocks.iter().all(is_block)
            || !self.blocks.windows(2).all(rises)
        {
            return Err(Error::Data("the isotonic map does not rise".into()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(score: f32, num_pairs: u64, num_true: u64) -> ScoreCount {
        ScoreCount {
            score,
            num_pairs,
            num_true,
        }
    }

    #[test]
    fn violators_are_pooled_and_gaps_are_bridged_by_lines() {
        // Shares 0, 1/2, 1/4, 1: the middle two become 2/6.
        let fit = Isotonic::fit(&[
            count(0.0, 4, 0),
            count(0.25, 2, 1),
            count(0.5, 4, 1),
            count(1.0, 2, 2),
        ]);
        assert_eq!(fit.blocks().len(), 3);
        let third = 1.0 / 3.0;
        for (score, value) in [
            (0.0, 0.0),
            (0.125, third / 2.0),
            (0.25, third),
            (0.4, third),
            (0.5, third),
            (0.75, f64::midpoint(third, 1.0)),
            (1.0, 1.0),
        ] {
            assert!((fit.value(score) - value).abs() < 1e-12, "{score}");
        }
        assert!(fit.validate().is_ok());
    }

    #[test]
    fn what_lies_beyond_the_fit_gets_its_ends() {
        let fit = Isotonic::fit(&[count(0.25, 10, 1), count(0.5, 10, 8)]);
        assert_eq!(fit.value(0.0), 0.1);
        assert_eq!(fit.value(1.0), 0.8);
        let falling = Isotonic::fit(&[count(0.25, 10, 8), count(0.5, 10, 1)]);
        assert_eq!(falling.blocks().len(), 1);
        assert_eq!(falling.value(0.3), 0.45);
    }

    #[test]
    fn maps_that_fall_are_refused() {
        for text in [
            "[]",
            r#"[{"from":0.2,"to":0.1,"n_pairs":1,"n_true":0}]"#,
            r#"[{"from":0.2,"to":1.1,"n_pairs":1,"n_true":0}]"#,
            r#"[{"from":0.2,"to":0.3,"n_pairs":0,"n_true":0}]"#,
            r#"[{"from":0.2,"to":0.3,"n_pairs":2,"n_true":1},{"from":0.4,"to":0.4,"n_pairs":4,"n_true":2}]"#,
        ] {
            let map: Isotonic = serde_json::from_str(text).unwrap();
            assert!(map.validate().is_err(), "{text}");
        }
    }
}
