//! What waits for a model.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::large_work::LargeWork;
use super::{Job, WorkError};
use crate::Limits;
use crate::metrics::ModelMetrics;

/// Bounds of a queue and of what is taken from it at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueueLimits {
    pub(crate) max_queue_documents: usize,
    pub(crate) max_batch_documents: usize,
    pub(crate) max_batch_tokens: usize,
    pub(crate) batch_wait: Duration,
}

impl From<&Limits> for QueueLimits {
    fn from(limits: &Limits) -> Self {
        Self {
            max_queue_documents: limits.max_queue_documents,
            max_batch_documents: limits.max_batch_documents,
            max_batch_tokens: limits.max_batch_tokens,
            batch_wait: limits.batch_wait,
        }
    }
}

/// Jobs in the order of their arrival.
#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    limits: QueueLimits,
    metrics: ModelMetrics,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Job>,
    num_documents: usize,
    /// Requests that are being read, and may soon be jobs.
    num_arriving: usize,
    is_closed: bool,
}

/// A request that is being read.
#[derive(Debug)]
pub(crate) struct Arrival<'a>(&'a Queue);

impl Queue {
    /// An empty queue.
    pub(crate) fn new(limits: QueueLimits, metrics: ModelMetrics) -> Self {
        Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            limits,
            metrics,
        }
    }

    /// Tells that a request is coming, for which a batch may wait.
    pub(crate) fn arrival(&self) -> Arrival<'_> {
        self.lock().num_arriving += 1;
        Arrival(self)
    }

    /// Adds a job, unless too much waits already. A job of any size fits an empty queue.
    fn push(&self, job: Job) -> Result<(), WorkError> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(WorkError::Closed);
        }
        let num_documents = state.num_documents + job.num_documents;
        if !state.jobs.is_empty() && num_documents > self.limits.max_queue_documents {
            self.metrics.count_rejected();
            return Err(WorkError::Full);
        }
        state.num_documents = num_documents;
        state.jobs.push_back(job);
        self.metrics.set_queued(state.num_documents);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Takes no more jobs; those that wait are still done.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// The next jobs to do together, at least one; `None` once the queue is closed and empty.
    pub(super) fn next_batch(&self) -> Option<Vec<Job>> {
        let mut batch = Batch::default();
        let mut state = self.lock();
        loop {
            batch.fill(&mut state, &self.limits);
            if !batch.jobs.is_empty() {
                break;
            }
            // Those nobody waits for are gone, and the next job may be long in coming.
            self.metrics.set_queued(state.num_documents);
            if state.is_closed {
                return None;
            }
            state = (self.changed.wait(state)).unwrap_or_else(PoisonError::into_inner);
        }
        let deadline = Instant::now() + self.limits.batch_wait;
        // Waiting costs time, and is worth it only while somebody may come.
        while !batch.is_full && state.num_arriving > 0 && !state.is_closed {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                break;
            };
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            batch.fill(&mut state, &self.limits);
        }
        self.metrics.set_queued(state.num_documents);
        drop(state);
        self.metrics.observe_batch(batch.num_documents);
        Some(batch.jobs)
    }

    /// The small requests that wait now, for one who is busy with a large one; none where nothing waits. The other large
    /// ones stay, and count as waiting.
    pub(super) fn small_batch(&self) -> Vec<Job> {
        let mut batch = Batch::default();
        let mut state = self.lock();
        let (large, small) = state.jobs.drain(..).partition(LargeWork::is_large);
        state.jobs = small;
        batch.fill(&mut state, &self.limits);
        let later = std::mem::replace(&mut state.jobs, large);
        state.jobs.extend(later);
        self.metrics.set_queued(state.num_documents);
        drop(state);
        if !batch.jobs.is_empty() {
            self.metrics.observe_batch(batch.num_documents);
        }
        batch.jobs
    }

    /// A panic in between leaves counts and jobs as they were: nothing is half done under the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Arrival<'_> {
    /// Adds what has arrived, see [`Queue::push`].
    pub(crate) fn submit(self, job: Job) -> Result<(), WorkError> {
        self.0.push(job)
    }
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.num_arriving -= 1;
        let is_last = state.num_arriving == 0;
        drop(state);
        if is_last {
            self.0.changed.notify_one();
        }
    }
}

#[derive(Debug, Default)]
struct Batch {
    jobs: Vec<Job>,
    num_documents: usize,
    num_tokens: usize,
    is_full: bool,
}

impl Batch {
    /// Takes jobs while they fit; the first always does. Those nobody waits for are dropped.
    fn fill(&mut self, state: &mut State, limits: &QueueLimits) {
        while let Some(next) = state.jobs.front() {
            let is_abandoned = next.is_abandoned();
            let num_documents = self.num_documents + next.num_documents;
            let num_tokens = self.num_tokens + next.num_tokens;
            let fits = num_documents <= limits.max_batch_documents
                && num_tokens <= limits.max_batch_tokens;
            if !is_abandoned && !fits && !self.jobs.is_empty() {
                self.is_full = true;
                return;
            }
            let Some(job) = state.jobs.pop_front() else {
                return;
            };
            state.num_documents -= job.num_documents;
            if !is_abandoned {
                self.num_documents = num_documents;
                self.num_tokens = num_tokens;
                self.jobs.push(job);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use plethora_system::{Depth, ScoreKind};
    use tokio::sync::oneshot;

    use super::super::{RankWork, Rankings, documents_of};
    use super::*;
    use crate::metrics::Metrics;

    type Answer = oneshot::Receiver<Result<Rankings, WorkError>>;

    fn queue(max_queue_documents: usize, max_batch_documents: usize) -> Queue {
        let limits = QueueLimits {
            max_queue_documents,
            max_batch_documents,
            max_batch_tokens: 10,
            batch_wait: Duration::from_millis(1),
        };
        Queue::new(limits, Metrics::new().model("m"))
    }

    fn job(texts: &[&str]) -> (Job, Answer) {
        let (reply, answer) = oneshot::channel();
        let work = RankWork {
            documents: documents_of(texts.iter().map(ToString::to_string)),
            depth: Depth::fixed(1),
            scores: ScoreKind::Prob,
            reply,
        };
        (Job::rank(work), answer)
    }

    #[test]
    fn beyond_the_bound_jobs_are_refused() {
        let queue = queue(2, 8);
        let jobs: Vec<_> = [&["a", "b", "c"][..], &["d"], &["e"]].map(job).into();
        let mut answers = Vec::new();
        let mut pushed = Vec::new();
        for (job, answer) in jobs {
            answers.push(answer);
            pushed.push(queue.push(job));
        }
        assert_eq!(pushed, [Ok(()), Err(WorkError::Full), Err(WorkError::Full)]);
        queue.close();
        assert_eq!(queue.push(job(&["f"]).0), Err(WorkError::Closed));
        assert_eq!(queue.next_batch().map(|jobs| jobs.len()), Some(1));
        assert!(queue.next_batch().is_none());
    }

    #[test]
    fn batches_are_capped_by_documents_and_by_tokens() {
        let queue = queue(100, 3);
        let texts: [&[&str]; 5] = [
            &["a", "b"],
            &["c", "d"],
            &["e e e e e e e e e"],
            &["f f"],
            &["g g g g g g g g g g g g g"],
        ];
        let mut answers = Vec::new();
        for texts in texts {
            let (job, answer) = job(texts);
            answers.push(answer);
            queue.push(job).unwrap();
        }
        // Nobody waits for the second any more.
        answers.remove(1);
        queue.close();
        let sizes = std::iter::from_fn(|| queue.next_batch());
        let sizes: Vec<usize> = sizes.map(|jobs| jobs.len()).collect();
        assert_eq!(sizes, [1, 1, 1, 1]);
        assert_eq!(queue.lock().num_documents, 0);
    }

    #[test]
    fn jobs_nobody_waits_for_are_not_counted_as_waiting() {
        let metrics = Metrics::new();
        let queue = Queue::new(queue(2, 8).limits, metrics.model("m"));
        let is_counted = |num_documents: usize| {
            let count = format!("plethora_queue_documents{{model=\"m\"}} {num_documents}\n");
            metrics.render().contains(&count)
        };
        let (job, answer) = job(&["a"]);
        queue.push(job).unwrap();
        assert!(is_counted(1));
        drop(answer);
        queue.close();
        assert!(queue.next_batch().is_none());
        assert!(is_counted(0));
    }

    #[test]
    fn a_batch_waits_for_requests_that_are_being_read_and_for_no_others() {
        let slow = QueueLimits {
            batch_wait: Duration::from_secs(60),
            ..queue(100, 100).limits
        };
        let queue = Queue::new(slow, Metrics::new().model("m"));
        let (first, _first_answer) = job(&["a"]);
        queue.push(first).unwrap();
        assert_eq!(queue.next_batch().map(|jobs| jobs.len()), Some(1));
        std::thread::scope(|scope| {
            let arrival = queue.arrival();
            let (second, _second_answer) = job(&["b"]);
            queue.push(second).unwrap();
            let batch = scope.spawn(|| queue.next_batch());
            std::thread::sleep(Duration::from_millis(20));
            let (third, _third_answer) = job(&["c"]);
            queue.push(third).unwrap();
            drop(arrival);
            assert_eq!(batch.join().unwrap().map(|jobs| jobs.len()), Some(2));
        });
    }
}
