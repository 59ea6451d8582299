//! Metrics of rankings that any program made.

use numpy::PyReadonlyArray1;
use plethora_core::metrics::{EvaluationConfig, Evaluator};
use plethora_core::{LabelId, ScoredLabel};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::errors::{data_error, exception};
use crate::watch::{parse, to_json};

/// What to measure, as Python writes it.
#[derive(Debug, Deserialize)]
struct Request {
    config: EvaluationConfig,
    num_train_documents: u64,
    /// Whether rankings have their best label first already, or go by their scores.
    is_ranked: bool,
}

/// All metrics, as JSON. `train_counts` has the number of training documents of each label.
#[pyfunction]
pub(crate) fn measure(
    truth: (PyReadonlyArray1<'_, i64>, PyReadonlyArray1<'_, u32>),
    rankings: (
        PyReadonlyArray1<'_, i64>,
        PyReadonlyArray1<'_, u32>,
        PyReadonlyArray1<'_, f32>,
    ),
    train_counts: PyReadonlyArray1<'_, u32>,
    request: &str,
) -> PyResult<String> {
    let request: Request = parse(request)?;
    let mut evaluator = Evaluator::new(
        request.config,
        train_counts.as_slice()?,
        request.num_train_documents,
    )
    .map_err(|error| exception(&error))?;
    let (true_starts, true_labels) = (truth.0.as_slice()?, truth.1.as_slice()?);
    let (starts, labels) = (rankings.0.as_slice()?, rankings.1.as_slice()?);
    let scores = rankings.2.as_slice()?;
    if true_starts.len() != starts.len() {
        return Err(data_error(format!(
            "there are true labels of {} documents, but rankings of {}",
            true_starts.len().saturating_sub(1),
            starts.len().saturating_sub(1)
        )));
    }
    let lost = || data_error("a row is not in its matrix".into());
    for (true_ends, ends) in true_starts.windows(2).zip(starts.windows(2)) {
        let truth = row(true_labels, true_ends).ok_or_else(lost)?;
        let truth: Vec<LabelId> = truth.iter().copied().map(LabelId).collect();
        let row_labels = row(labels, ends).ok_or_else(lost)?;
        let row_scores = row(scores, ends).ok_or_else(lost)?;
        let mut ranking: Vec<ScoredLabel> = (row_labels.iter().zip(row_scores))
            .map(|(&label, &score)| ScoredLabel {
                label: LabelId(label),
                score,
            })
            .collect();
        if !request.is_ranked {
            ranking.sort_by(|left, right| {
                let by_score = right.score.total_cmp(&left.score);
                by_score.then_with(|| left.label.cmp(&right.label))
            });
        }
        evaluator.add(&truth, &ranking);
    }
    to_json(&evaluator.finish())
}

fn row<'a, T>(entries: &'a [T], ends: &[i64]) -> Option<&'a [T]> {
    entries.get(usize::try_from(ends[0]).ok()?..usize::try_from(ends[1]).ok()?)
}
