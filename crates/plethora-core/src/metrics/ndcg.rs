//! nDCG@k.

use super::judged_document::JudgedDocument;

/// Weight of the place `rank`, counted from 0.
pub(super) fn discount(rank: usize) -> f64 {
    1.0 / ((rank + 2) as f64).log2()
}

/// DCG@k of a ranking with a true label in each place, for a document with `num_true` labels.
pub(super) fn ideal_dcg(num_true: usize, k: usize) -> f64 {
    (0..num_true.min(k)).map(discount).sum()
}

/// Discounted hits in the first `k` places by those of the best ranking.
pub(super) fn ndcg_at(document: &JudgedDocument, k: usize) -> f64 {
    if document.truth.is_empty() {
        return 0.0;
    }
    let places = document.top(k).iter().enumerate();
    let dcg: f64 = places
        .filter(|(_, place)| place.is_hit)
        .map(|(rank, _)| discount(rank))
        .sum();
    dcg / ideal_dcg(document.truth.len(), k)
}
