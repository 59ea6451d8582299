//! The few worst of many.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Keeps the items of the lowest scores, a bounded number of them; the earlier of equal ones.
#[derive(Debug, Clone)]
pub struct Worst<T> {
    limit: usize,
    num_seen: u64,
    /// The best of the kept ones is on top.
    kept: BinaryHeap<Ranked<T>>,
}

#[derive(Debug, Clone)]
struct Ranked<T> {
    score: f64,
    number: u64,
    item: T,
}

impl<T> Worst<T> {
    /// Keeps up to `limit` items.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            num_seen: 0,
            kept: BinaryHeap::new(),
        }
    }

    /// Takes in an item; `make` is called only where it is kept.
    pub fn offer(&mut self, score: f64, make: impl FnOnce() -> T) {
        self.num_seen += 1;
        let is_full = self.kept.len() == self.limit;
        let is_worse = self.kept.peek().is_some_and(|best| score < best.score);
        if is_full && !is_worse {
            return;
        }
        if is_full {
            self.kept.pop();
        }
        self.kept.push(Ranked {
            score,
            number: self.num_seen,
            item: make(),
        });
    }

    /// The kept items, worst first.
    pub fn finish(self) -> Vec<T> {
        let sorted = self.kept.into_sorted_vec();
        sorted.into_iter().map(|ranked| ranked.item).collect()
    }
}

impl<T> Ord for Ranked<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        let scores = self.score.total_cmp(&other.score);
        scores.then(self.number.cmp(&other.number))
    }
}

impl<T> PartialOrd for Ranked<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Ranked<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Ranked<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_are_kept_and_the_earlier_of_equal_ones() {
        let mut worst = Worst::new(3);
        for (number, score) in [3.0, 1.0, 2.0, 1.0, 0.5, 2.0].into_iter().enumerate() {
            worst.offer(score, || number);
        }
        assert_eq!(worst.finish(), [4, 1, 3]);
    }

    #[test]
    fn nothing_is_kept_where_nothing_may_be() {
        let mut worst = Worst::new(0);
        worst.offer(1.0, || 1);
        assert!(worst.finish().is_empty());
    }
}
