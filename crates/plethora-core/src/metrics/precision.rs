//! P@k.

use super::judged_document::JudgedDocument;

/// Share of the first `k` places that hold true labels.
pub(super) fn precision_at(document: &JudgedDocument, k: usize) -> f64 {
    document.num_hits(k) / k as f64
}
