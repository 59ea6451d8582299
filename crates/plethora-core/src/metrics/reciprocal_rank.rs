//! MRR.

use super::judged_document::JudgedDocument;

/// One by the place of the first hit, counted from 1; 0 without any.
pub(super) fn reciprocal_rank(document: &JudgedDocument) -> f64 {
    let first_hit = document.places.iter().position(|place| place.is_hit);
    first_hit.map_or(0.0, |rank| 1.0 / (rank + 1) as f64)
}
