//! From texts to the labels that a request wants, whichever protocol it came in.

use std::time::Duration;

use plethora_system::ScoreKind;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::Limits;
use crate::filter::LabelFilter;
use crate::model::ServedModel;
use crate::problem::Problem;
use crate::queue::{Arrival, Job, RankWork, Rankings, WorkError, documents_of};

/// Labels per document where a request does not say.
pub(crate) const DEFAULT_TOP_K: usize = 10;

/// Which labels of a ranking are wanted, and with which scores.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    pub(crate) top_k: Option<usize>,
    pub(crate) threshold: Option<f32>,
    pub(crate) is_tuned: bool,
    pub(crate) scores: ScoreKind,
    pub(crate) filter: LabelFilter,
}

/// Ranks labels for the texts of a request that has arrived.
pub(crate) async fn rank(
    model: &ServedModel,
    arrival: Arrival<'_>,
    limits: &Limits,
    texts: Vec<String>,
    choice: &Choice,
) -> Result<Rankings, Problem> {
    let top_k = choice.check(model, limits)?;
    check_documents(texts.len(), limits)?;
    let depth = if choice.filter.is_empty() {
        top_k
    } else {
        top_k.max(limits.filter_depth)
    };
    let (reply, answer) = oneshot::channel();
    let work = RankWork {
        documents: documents_of(texts),
        depth: depth.min(model.labels.len()),
        scores: choice.scores,
        reply,
    };
    arrival.submit(Job::rank(work))?;
    let mut rankings = answered(answer, limits.request_timeout).await?;
    for ranking in &mut rankings {
        choice.filter.apply(ranking);
        ranking.truncate(top_k);
        if let (true, Some(thresholds)) = (choice.is_tuned, &model.thresholds) {
            ranking.retain(|scored| scored.score >= thresholds[scored.label.index()]);
        }
        if let Some(threshold) = choice.threshold {
            ranking.retain(|scored| scored.score >= threshold);
        }
    }
    Ok(rankings)
}

impl Choice {
    /// Refuses what makes no sense, and gives the number of labels.
    pub(crate) fn check(&self, model: &ServedModel, limits: &Limits) -> Result<usize, Problem> {
        let top_k = self.top_k.unwrap_or(DEFAULT_TOP_K.min(limits.max_top_k));
        if !(1..=limits.max_top_k).contains(&top_k) {
            let detail = format!("top_k: expected 1 to {}, found {top_k}", limits.max_top_k);
            return Err(Problem::invalid(detail));
        }
        if let Some(threshold) = self.threshold
            && !(0.0..=1.0).contains(&threshold)
        {
            let detail = format!("threshold: expected a number from 0 to 1, found {threshold}");
            return Err(Problem::invalid(detail));
        }
        if self.is_tuned && self.scores == ScoreKind::Raw {
            let detail = "tuned: thresholds are tuned for calibrated scores, not for raw ones";
            return Err(Problem::invalid(detail));
        }
        if self.is_tuned && model.thresholds.is_none() {
            let detail = "tuned: this model has no tuned thresholds";
            return Err(Problem::invalid(detail));
        }
        if self.is_tuned && self.threshold.is_some() {
            let detail = "tuned, threshold: expected one of them";
            return Err(Problem::invalid(detail));
        }
        Ok(top_k)
    }
}

/// Refuses no documents and too many of them.
pub(crate) fn check_documents(num_documents: usize, limits: &Limits) -> Result<(), Problem> {
    if num_documents == 0 {
        return Err(Problem::invalid(
            "expected at least one document, found none",
        ));
    }
    if num_documents > limits.max_documents {
        let detail = format!(
            "expected at most {} documents, found {num_documents}",
            limits.max_documents
        );
        return Err(Problem::too_large(detail));
    }
    Ok(())
}

/// Waits for the answer of a model.
pub(crate) async fn answered<T>(
    answer: oneshot::Receiver<Result<T, WorkError>>,
    limit: Duration,
) -> Result<T, Problem> {
    match timeout(limit, answer).await {
        Ok(Ok(outcome)) => Ok(outcome?),
        Ok(Err(_)) => Err(Problem::internal()),
        Err(_) => Err(Problem::timed_out()),
    }
}
