//! The thread that explains.
//!
//! An explanation of a long text takes hundreds of times as long as a ranking. It is therefore made beside the rankings and
//! not among them, one at a time for each model, by a thread that gives way to all others.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Instant;

use axum::response::Response;
use plethora_core::LabelId;
use plethora_system::{Explanation, Predictor, RankOptions};
use rustix::process::nice;
use tokio::sync::oneshot;

use super::worker::guarded;
use super::{WorkError, documents_of};
use crate::metrics::ModelMetrics;

/// Places and terms in all explanations of an answer: some tens of megabytes.
const MAX_ENTRIES: usize = 300_000;

/// Requests that wait for their turn, each with a text of up to a megabyte.
const MAX_WAITING: usize = 64;

/// How much the thread gives way: about a tenth of a processor that others want too.
const NICENESS: i32 = 10;

/// Why labels have their scores.
pub(crate) type Explained = Vec<Explanation>;

/// Makes an answer of explanations and their text.
pub(crate) type WriteAnswer = Box<dyn FnOnce(Explained, &str) -> Response + Send>;

/// A text whose labels are to be explained.
pub(crate) struct ExplainWork {
    pub(crate) text: String,
    /// The labels; the best ones where there are none.
    pub(crate) labels: Vec<LabelId>,
    /// Number of best labels.
    pub(crate) top_k: usize,
    /// Makes the answer, which has megabytes, in the same thread; gets the text back.
    pub(crate) write: WriteAnswer,
    pub(crate) reply: oneshot::Sender<Result<Response, WorkError>>,
}

/// The way to the thread, which ends with it.
#[derive(Debug)]
pub(crate) struct Explainer {
    queue: SyncSender<ExplainWork>,
    metrics: ModelMetrics,
}

impl Explainer {
    /// Starts the thread.
    pub(crate) fn start(
        name: &str,
        predictor: Arc<Predictor>,
        metrics: ModelMetrics,
    ) -> std::io::Result<Self> {
        let (queue, works) = sync_channel(MAX_WAITING);
        let observed = metrics.clone();
        let thread = thread::Builder::new().name(format!("explain {name}"));
        thread.spawn(move || run(&predictor, &works, &observed))?;
        Ok(Self { queue, metrics })
    }

    /// Adds a request, unless too many wait.
    pub(crate) fn submit(&self, work: ExplainWork) -> Result<(), WorkError> {
        self.queue.try_send(work).map_err(|error| match error {
            TrySendError::Full(_) => {
                self.metrics.count_rejected();
                WorkError::Full
            }
            TrySendError::Disconnected(_) => WorkError::Closed,
        })
    }
}

fn run(predictor: &Predictor, works: &Receiver<ExplainWork>, metrics: &ModelMetrics) {
    // Of this thread alone, as Linux has it. Without, rankings wait longer, and that is all.
    if let Err(error) = nice(NICENESS) {
        tracing::debug!(%error, "explanations do not give way to rankings");
    }
    for work in works {
        if work.reply.is_closed() {
            continue;
        }
        let start = Instant::now();
        let answer = explain(predictor, &work);
        let answer = answer.map(|explained| (work.write)(explained, &work.text));
        // A client that went away meanwhile wants no answer.
        let _ = work.reply.send(answer);
        metrics.observe_work(start.elapsed());
    }
}

fn explain(predictor: &Predictor, work: &ExplainWork) -> Result<Explained, WorkError> {
    let mut labels = work.labels.clone();
    if labels.is_empty() {
        let document = documents_of([work.text.clone()]);
        let options = RankOptions {
            top_k: work.top_k,
            beam: None,
        };
        let best = guarded(|| predictor.rank(&document, options))?;
        labels = best.iter().flatten().map(|scored| scored.label).collect();
    }
    let mut explained = Vec::new();
    let mut num_entries = 0;
    for label in labels {
        // The request may have timed out since the last label, and then nobody reads on.
        if work.reply.is_closed() {
            return Err(WorkError::Closed);
        }
        let found = guarded(|| predictor.explain(&work.text, label))?;
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
