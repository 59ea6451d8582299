//! PSP@k and PSnDCG@k: a hit is worth the inverse propensity of its label, and the whole is
//! normalised by the best ranking. Each function gives a document's part of two sums whose
//! quotient is the metric.

use super::judged_document::JudgedDocument;
use super::ndcg::{discount, ideal_dcg};

/// Gains in the first `k` places, and those of the best ranking.
pub(super) fn psp_at(document: &JudgedDocument, k: usize) -> (f64, f64) {
    let gain = document.top(k).iter().map(|place| place.gain).sum();
    (gain, document.best_gains.iter().take(k).sum())
}

/// Discounted gains in the first `k` places, and those of the best ranking. The quotient of their
/// sums over all documents is PSnDCG@k as the program of You et al. 2019 computes it.
pub(super) fn psndcg_at(document: &JudgedDocument, k: usize) -> (f64, f64) {
    let discounted = |(rank, gain): (usize, f64)| gain * discount(rank);
    let gains = document.top(k).iter().map(|place| place.gain);
    let best_gains = document.best_gains.iter().take(k).copied();
    (
        gains.enumerate().map(discounted).sum(),
        best_gains.enumerate().map(discounted).sum(),
    )
}

/// As [`psndcg_at`], with both parts divided by the document's plain ideal DCG, so that documents
/// with few labels weigh as much as others: PSnDCG@k as pyxclib and napkinXC compute it.
pub(super) fn psndcg_by_rows_at(document: &JudgedDocument, k: usize) -> (f64, f64) {
    if document.truth.is_empty() {
        return (0.0, 0.0);
    }
    let ideal = ideal_dcg(document.truth.len(), k);
    let (gain, best_gain) = psndcg_at(document, k);
    (gain / ideal, best_gain / ideal)
}
