//! F1 of the labels whose score reaches the threshold: `2 tp / (2 tp + fp + fn)`.

use super::judged_document::JudgedDocument;
use super::label_table::{LabelCounts, LabelTable};

/// A document's part of numerator and denominator of the F1 over all decisions.
pub(super) fn micro_f1(document: &JudgedDocument) -> (f64, f64) {
    (
        2.0 * document.num_assigned_hits(),
        document.num_assigned() + document.num_true(),
    )
}

/// F1 of one document; 0 where it has no true label and gets none.
pub(super) fn document_f1(document: &JudgedDocument) -> f64 {
    let (numerator, denominator) = micro_f1(document);
    if denominator > 0.0 {
        numerator / denominator
    } else {
        0.0
    }
}

/// Mean of the labels' F1, over the labels that are true for a document or assigned to one.
pub(super) fn macro_f1(labels: &LabelTable) -> f64 {
    mean_f1(labels.counts())
}

/// Mean F1 of those of `labels` that are true for a document or assigned to one.
pub(super) fn mean_f1<'a>(labels: impl Iterator<Item = &'a LabelCounts>) -> f64 {
    let (mut total, mut num_labels) = (0.0, 0.0);
    for counts in labels.filter(|counts| counts.num_true + counts.num_assigned > 0) {
        total += f1_of(counts);
        num_labels += 1.0;
    }
    if num_labels > 0.0 {
        total / num_labels
    } else {
        0.0
    }
}

/// F1 of a label that is true for a document or assigned to one.
pub(super) fn f1_of(counts: &LabelCounts) -> f64 {
    let denominator = f64::from(counts.num_true) + f64::from(counts.num_assigned);
    2.0 * f64::from(counts.num_assigned_hits) / denominator
}
