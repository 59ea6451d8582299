//! The best of scored labels.

use plethora_core::ScoredLabel;

/// Higher scores first; equal ones by label.
pub fn by_rank(left: &ScoredLabel, right: &ScoredLabel) -> std::cmp::Ordering {
    right
        .score
        .total_cmp(&left.score)
        .then(left.label.cmp(&right.label))
}

/// Keeps the best, in any order.
pub fn keep_best(scored: &mut Vec<ScoredLabel>, limit: usize) {
    if limit == 0 {
        scored.clear();
    } else if scored.len() > limit {
        scored.select_nth_unstable_by(limit - 1, by_rank);
        scored.truncate(limit);
    }
}
