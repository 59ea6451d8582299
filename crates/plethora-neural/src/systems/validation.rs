//! How well a network ranks labels for documents it was not trained on.

use plethora_core::metrics::{EvaluationConfig, Evaluator};
use plethora_core::{IndexRows, LabelId, ScoredLabel};

use crate::Result;
use crate::parameters::{Parameters, RowTable};
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

/// The best labels of each document among those of all ranks, where labels lie in shards and each rank has
/// looked among its own.
pub(crate) fn among_all(
    parameters: &Parameters,
    rankings: Vec<Vec<ScoredLabel>>,
    keep: usize,
) -> Result<Vec<Vec<ScoredLabel>>> {
    let Some(share) = parameters.tables.iter().find_map(RowTable::share) else {
        return Ok(rankings);
    };
    let own = serde_json::to_vec(&bits(&rankings)).map_err(|error| damaged(&error))?;
    let mut all = vec![Vec::new(); rankings.len()];
    for said in share.ranks().gather(&own)? {
        let said: Vec<Vec<(u32, u32)>> =
            serde_json::from_slice(&said).map_err(|error| damaged(&error))?;
        if said.len() != all.len() {
            return Err(damaged(&"it is about other documents"));
        }
        for (best, found) in all.iter_mut().zip(said) {
            best.extend(found.into_iter().map(|(label, score)| ScoredLabel {
                label: LabelId(label),
                score: f32::from_bits(score),
            }));
        }
    }
    for best in &mut all {
        best.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.label.cmp(&b.label)));
        best.truncate(keep);
    }
    Ok(all)
}

/// Labels and their scores, which come back to the last bit.
fn bits(rankings: &[Vec<ScoredLabel>]) -> Vec<Vec<(u32, u32)>> {
    let rankings = rankings.iter().map(|ranking| {
        let labels = ranking.iter();
        labels
            .map(|one| (one.label.0, one.score.to_bits()))
            .collect()
    });
    rankings.collect()
}

fn damaged(error: &dyn std::fmt::Display) -> crate::Error {
    let message = format!("what another rank has found is damaged: {error}");
    plethora_core::Error::Compute(message).into()
}

/// The true labels of each document.
pub(crate) fn truths(labels: &IndexRows) -> impl Iterator<Item = Vec<LabelId>> {
    labels.rows().map(|labels| {
        let labels = labels.iter().map(|&label| LabelId(label));
        labels.collect()
    })
}
