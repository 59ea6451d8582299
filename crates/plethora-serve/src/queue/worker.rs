//! The thread that owns a predictor.

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use plethora_core::corpus::Document;
use plethora_system::{Predictor, RankOptions, ScoreKind};

use super::{ExplainWork, Explained, Queue, RankWork, Rankings, Work, WorkError, documents_of};
use crate::metrics::ModelMetrics;

/// Does what comes out of a queue, batch by batch.
#[derive(Debug)]
pub(crate) struct Worker {
    predictor: Predictor,
    queue: Arc<Queue>,
    metrics: ModelMetrics,
}

/// Places and terms in all explanations of an answer: some tens of megabytes.
const MAX_ENTRIES: usize = 300_000;

/// Work of one group is ranked in one call. Depth is part of it: with several trees or members, ranking
/// deeper can change scores, and answers are to equal those of `predict`.
type Group = (usize, bool);

impl Worker {
    /// Starts the thread, which ends once the queue is closed and empty.
    pub(crate) fn start(
        name: &str,
        predictor: Predictor,
        queue: Arc<Queue>,
        metrics: ModelMetrics,
    ) -> std::io::Result<()> {
        let worker = Self {
            predictor,
            queue,
            metrics,
        };
        let thread = thread::Builder::new().name(format!("model {name}"));
        thread.spawn(move || worker.run()).map(drop)
    }

    fn run(&self) {
        while let Some(jobs) = self.queue.next_batch() {
            let start = Instant::now();
            let mut groups: BTreeMap<Group, Vec<RankWork>> = BTreeMap::new();
            for job in jobs {
                match job.work {
                    Work::Rank(work) => {
                        let group = (work.depth, work.scores == ScoreKind::Raw);
                        groups.entry(group).or_default().push(work);
                    }
                    Work::Explain(work) => self.explain(work),
                }
            }
            for works in groups.into_values() {
                self.rank_together(works);
            }
            self.metrics.observe_work(start.elapsed());
        }
    }

    /// Ranks in one call; where that fails, one job after the other, so that none fails for the fault
    /// of another.
    fn rank_together(&self, mut works: Vec<RankWork>) {
        let Some(first) = works.first() else { return };
        let (depth, scores) = (first.depth, first.scores);
        let sizes: Vec<usize> = works.iter().map(|work| work.documents.len()).collect();
        let taken = works
            .iter_mut()
            .map(|work| std::mem::take(&mut work.documents));
        let documents: Vec<Document> = taken.flatten().collect();
        match self.rank(&documents, depth, scores) {
            Ok(rankings) => {
                let mut rankings = rankings.into_iter();
                for (work, size) in works.into_iter().zip(sizes) {
                    // A client that went away meanwhile wants no answer.
                    let _ = work.reply.send(Ok(rankings.by_ref().take(size).collect()));
                }
            }
            Err(error) if works.len() == 1 => {
                for work in works {
                    let _ = work.reply.send(Err(error.clone()));
                }
            }
            Err(_) => {
                let mut documents = documents.into_iter();
                for (work, size) in works.into_iter().zip(sizes) {
                    let own: Vec<Document> = documents.by_ref().take(size).collect();
                    let _ = work.reply.send(self.rank(&own, depth, scores));
                }
            }
        }
    }

    fn rank(
        &self,
        documents: &[Document],
        top_k: usize,
        scores: ScoreKind,
    ) -> Result<Rankings, WorkError> {
        let options = RankOptions { top_k, beam: None };
        guarded(|| match scores {
            ScoreKind::Prob => self.predictor.rank(documents, options),
            ScoreKind::Raw => Ok(self.predictor.rank_raw(documents, options)?.labels),
        })
    }

    fn explain(&self, work: ExplainWork) {
        let explained = self.explain_labels(&work);
        let _ = work.reply.send(explained);
    }

    fn explain_labels(&self, work: &ExplainWork) -> Result<Explained, WorkError> {
        let mut labels = work.labels.clone();
        if labels.is_empty() {
            let document = documents_of([work.text.clone()]);
            let best = self.rank(&document, work.top_k, ScoreKind::Prob)?;
            labels = best.iter().flatten().map(|scored| scored.label).collect();
        }
        let mut explained = Vec::new();
        let mut num_entries = 0;
        for label in labels {
            // The request may have timed out since the last label, and then nobody reads on.
            if work.reply.is_closed() {
                return Err(WorkError::Closed);
            }
            let found = guarded(|| self.predictor.explain(&work.text, label))?;
            num_entries += found.spans.len() + found.terms.len();
            if num_entries > MAX_ENTRIES {
                return Err(WorkError::TooLarge(format!(
                    "the answer would have more than {MAX_ENTRIES} places and terms; \
                     ask for fewer labels or a shorter text"
                )));
            }
            explained.push(found);
        }
        Ok(explained)
    }
}

/// A bug must cost one answer, not the thread that all others wait for.
fn guarded<T>(work: impl FnOnce() -> plethora_core::Result<T>) -> Result<T, WorkError> {
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => Ok(result?),
        Err(_) => Err(WorkError::Panicked),
    }
}
