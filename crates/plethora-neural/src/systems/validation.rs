//! How well a network ranks labels for documents it was not trained on.

use plethora_core::metrics::{EvaluationConfig, Evaluator};
use plethora_core::{IndexRows, LabelId, ScoredLabel};

use crate::Result;
use crate::train::Validation;

/// Items that are ranked per document: what the deepest metric looks at.
pub(crate) const DEPTH: usize = 5;

/// The metric that chooses weights.
const SELECTED_BY: &str = "nDCG@5";

/// Metrics that are shown and logged.
const SHOWN: [&str; 4] = ["P@1", "P@3", "P@5", SELECTED_BY];

/// The metrics of documents with their true labels and their best ones.
pub(crate) fn validation(
    num_labels: usize,
    documents: impl Iterator<Item = (Vec<LabelId>, Vec<ScoredLabel>)>,
) -> Result<Validation> {
    let counts = vec![1; num_labels];
    let mut evaluator = Evaluator::new(EvaluationConfig::default(), &counts, 1)?;
    for (truth, ranking) in documents {
        evaluator.add(&truth, &ranking);
    }
    let evaluation = evaluator.finish();
    let value = |name: &str| evaluation.get(name).unwrap_or(0.0);
    Ok(Validation {
        score: value(SELECTED_BY),
        values: SHOWN
            .iter()
            .map(|&name| (name.to_owned(), value(name)))
            .collect(),
    })
}

/// The true labels of each document.
pub(crate) fn truths(labels: &IndexRows) -> impl Iterator<Item = Vec<LabelId>> {
    labels.rows().map(|labels| {
        let labels = labels.iter().map(|&label| LabelId(label));
        labels.collect()
    })
}
