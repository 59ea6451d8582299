//! R@k and R-Precision@k.

use super::judged_document::JudgedDocument;

/// Share of the true labels that stand in the first `k` places.
pub(super) fn recall_at(document: &JudgedDocument, k: usize) -> f64 {
    document.num_hits(k) / document.num_true().max(1.0)
}

/// Hits in the first `k` places by the most that could be there: `min(k, |truth|)`. A perfect
/// ranking has 1 whatever the number of true labels.
pub(super) fn r_precision_at(document: &JudgedDocument, k: usize) -> f64 {
    document.num_hits(k) / document.num_true().min(k as f64).max(1.0)
}
