//! The thread that ranks.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use plethora_core::corpus::Document;
use plethora_system::{Depth, Predictor, ScoreKind};

use super::large_work::LargeWork;
use super::{Queue, RankWork, Rankings, WorkError};
use crate::metrics::ModelMetrics;

/// Does what comes out of a queue, batch by batch.
#[derive(Debug)]
pub(crate) struct Worker {
    predictor: Arc<Predictor>,
    queue: Arc<Queue>,
    metrics: ModelMetrics,
}

/// Work of one group is ranked in one call. Depth is part of it: with several trees or members, ranking
/// deeper can change scores, and answers are to equal those of `predict`.
type Group = (usize, usize, u32, bool);

impl Worker {
    /// Starts the thread, which ends once the queue is closed and empty.
    pub(crate) fn start(
        name: &str,
        predictor: Arc<Predictor>,
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

    /// Small requests are done together and at once; of large ones a part, and then again what is small and has come
    /// meanwhile. Nobody waits for longer than such a part takes.
    fn run(&self) {
        let mut large: VecDeque<LargeWork> = VecDeque::new();
        loop {
            let jobs = if large.is_empty() {
                let Some(jobs) = self.queue.next_batch() else {
                    break;
                };
                jobs
            } else {
                self.queue.small_batch()
            };
            let start = Instant::now();
            let mut groups: BTreeMap<Group, Vec<RankWork>> = BTreeMap::new();
            for job in jobs {
                if LargeWork::is_large(&job) {
                    large.push_back(LargeWork::new(job));
                    continue;
                }
                let group = group_of(&job.work);
                groups.entry(group).or_default().push(job.work);
            }
            for works in groups.into_values() {
                self.rank_together(works);
            }
            if let Some(work) = large.pop_front() {
                large.extend(work.ranked(|part, depth, scores| self.rank(part, depth, scores)));
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
        depth: Depth,
        scores: ScoreKind,
    ) -> Result<Rankings, WorkError> {
        guarded(|| self.predictor.rank_down(documents, depth, None, scores))
    }
}

fn group_of(work: &RankWork) -> Group {
    let Depth { first, most, least } = work.depth;
    let is_raw = work.scores == ScoreKind::Raw;
    (first, most, least.to_bits(), is_raw)
}

/// A bug must cost one answer, not the thread that all others wait for.
pub(super) fn guarded<T>(work: impl FnOnce() -> plethora_core::Result<T>) -> Result<T, WorkError> {
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => Ok(result?),
        Err(_) => Err(WorkError::Panicked),
    }
}
