//! Coverage@k.

use super::label_table::LabelTable;

/// Of the labels that are true for some document, the share that is a hit in the first `k` places
/// of at least one.
pub(super) fn coverage_at(labels: &LabelTable, k: usize) -> f64 {
    let (mut num_true, mut num_found) = (0.0, 0.0);
    for counts in labels.counts().filter(|counts| counts.num_true > 0) {
        num_true += 1.0;
        if (counts.best_rank as usize) < k {
            num_found += 1.0;
        }
    }
    if num_true > 0.0 {
        num_found / num_true
    } else {
        0.0
    }
}
