//! From texts to the labels that a request wants, whichever protocol it came in.

use std::time::Duration;

use plethora_system::{Cutoff, Depth, ScoreKind, Selection, USUAL_TOP_K};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::Limits;
use crate::filter::LabelFilter;
use crate::model::ServedModel;
use crate::problem::Problem;
use crate::queue::{Arrival, Job, RankWork, Rankings, WorkError, documents_of};

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
    let selection = choice.check(model, limits)?;
    check_documents(texts.len(), limits)?;
    let most = limits.max_top_k.min(model.labels.len());
    let depth = if choice.filter.is_empty() {
        selection.depth(most)
    } else {
        let wanted = selection.top_k.unwrap_or(most).max(limits.filter_depth);
        Depth::fixed(wanted.min(model.labels.len()))
    };
    let (reply, answer) = oneshot::channel();
    let work = RankWork {
        documents: documents_of(texts),
        depth,
        scores: choice.scores,
        reply,
    };
    arrival.submit(Job::rank(work))?;
    let mut rankings = answered(answer, limits.request_timeout).await?;
    for ranking in &mut rankings {
        choice.filter.apply(ranking);
        selection.apply(ranking);
        ranking.truncate(limits.max_top_k);
    }
    Ok(rankings)
}

impl Choice {
    /// Refuses what makes no sense, and gives the labels that are wanted.
    pub(crate) fn check(&self, model: &ServedModel, limits: &Limits) -> Result<Selection, Problem> {
        if let Some(top_k) = self.top_k
            && !(1..=limits.max_top_k).contains(&top_k)
        {
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
        let tuned = model.thresholds.clone().filter(|_| self.is_tuned);
        let cutoff = tuned
            .map(Cutoff::PerLabel)
            .or_else(|| self.threshold.map(Cutoff::Score));
        let usual = cutoff.is_none().then(|| USUAL_TOP_K.min(limits.max_top_k));
        Ok(Selection {
            top_k: self.top_k.or(usual),
            cutoff,
        })
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
