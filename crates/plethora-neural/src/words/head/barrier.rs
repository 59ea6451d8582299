//! Keeps attention from places behind the end of a document.

use tch::{Kind, Tensor};

/// documents x words: zero where a document has a word, minus infinity behind its end.
pub(super) fn barrier(mask: Option<&Tensor>, kind: Kind) -> Option<Tensor> {
    mask.map(|mask| {
        let zeros = mask.zeros_like().to_kind(kind);
        zeros.masked_fill(&mask.logical_not(), f64::NEG_INFINITY)
    })
}

/// In place: a second map would cost as much as the product that made the first.
pub(super) fn bar(mut scores: Tensor, barrier: Option<&Tensor>) -> Tensor {
    match barrier {
        Some(barrier) => scores.g_add_(barrier),
        None => scores,
    }
}
