//! The thread that explains and gives vectors of texts.
//!
//! An explanation of a long text takes hundreds of times as long as a ranking. It is therefore made beside the rankings and
//! not among them, one at a time for each model, by a thread that gives way to all others. So are the vectors of a thousand texts.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Instant;

use axum::response::Response;
use plethora_core::LabelId;
use plethora_system::{Embeddings, Explanation, Predictor, RankOptions};
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

/// Texts that are read by an encoder before it is asked again whether the client still waits.
const TEXTS_PER_PART: usize = 16;

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

/// Texts whose vectors are wanted.
pub(crate) struct EmbedWork {
    pub(crate) texts: Vec<String>,
    pub(crate) reply: oneshot::Sender<Result<Embeddings, WorkError>>,
}

/// What the thread does.
pub(crate) enum AsideWork {
    Explain(ExplainWork),
    Embed(EmbedWork),
}

/// The way to the thread, which ends with it.
#[derive(Debug)]
pub(crate) struct Aside {
    queue: SyncSender<AsideWork>,
    metrics: ModelMetrics,
}

impl Aside {
    /// Starts the thread.
    pub(crate) fn start(
        name: &str,
        predictor: Arc<Predictor>,
        metrics: ModelMetrics,
    ) -> std::io::Result<Self> {
        let (queue, works) = sync_channel(MAX_WAITING);
        let observed = metrics.clone();
        let thread = thread::Builder::new().name(format!("aside {name}"));
        thread.spawn(move || run(&predictor, &works, &observed))?;
        Ok(Self { queue, metrics })
    }

    /// Adds a request, unless too many wait.
    pub(crate) fn submit(&self, work: AsideWork) -> Result<(), WorkError> {
        self.queue.try_send(work).map_err(|error| match error {
            TrySendError::Full(_) => {
                self.metrics.count_rejected();
                WorkError::Full
            }
            TrySendError::Disconnected(_) => WorkError::Closed,
        })
    }
}

fn run(predictor: &Predictor, works: &Receiver<AsideWork>, metrics: &ModelMetrics) {
    // Of this thread alone, as Linux has it. Without, rankings wait longer, and that is all.
    if let Err(error) = nice(NICENESS) {
        tracing::debug!(%error, "explanations do not give way to rankings");
    }
    for work in works {
        let start = Instant::now();
        // A client that went away meanwhile wants no answer.
        match work {
            AsideWork::Explain(work) if !work.reply.is_closed() => {
                let answer = explain(predictor, &work);
                let answer = answer.map(|explained| (work.write)(explained, &work.text));
                let _ = work.reply.send(answer);
            }
            AsideWork::Embed(work) if !work.reply.is_closed() => {
                let answer = embed(predictor, &work);
                let _ = work.reply.send(answer);
            }
            AsideWork::Explain(_) | AsideWork::Embed(_) => continue,
        }
        metrics.observe_work(start.elapsed());
    }
}

fn embed(predictor: &Predictor, work: &EmbedWork) -> Result<Embeddings, WorkError> {
    let mut all = Embeddings {
        width: 0,
        values: Vec::new(),
    };
    for part in work.texts.chunks(TEXTS_PER_PART) {
        if work.reply.is_closed() {
            return Err(WorkError::Closed);
        }
        let texts: Vec<&str> = part.iter().map(String::as_str).collect();
        let found = guarded(|| predictor.embed(&texts))?;
        all.width = found.width;
        all.values.extend(found.values);
    }
    Ok(all)
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
