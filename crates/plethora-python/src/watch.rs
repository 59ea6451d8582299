//! Work on threads of its own, watched by the thread that asked for it.
//!
//! The caller's thread gives up the interpreter's lock, so that other Python threads run. Now and
//! then it takes the lock to report progress and to let Python handle signals: that is how Ctrl-C
//! stops a training run at its next safe point.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::Duration;

use plethora_core::{Error, Message, Progress, Result};
use plethora_jobs::Session;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use crate::errors::{config_error, exception};
use crate::{errors, thread_pool};

/// How long Ctrl-C and progress may wait.
const POLL: Duration = Duration::from_millis(50);

/// How long to wait for a model that another thread is using before looking again.
const LOCK_POLL: Duration = Duration::from_millis(2);

/// What the work tells the thread that watches it.
enum Event {
    Start(String, Option<u64>),
    Show(String),
    Finish(String),
    Done,
}

/// Progress that is passed on to the watching thread.
struct WatchedProgress {
    events: Sender<Event>,
    shared: Arc<Shared>,
}

/// What both threads look at.
#[derive(Default)]
struct Shared {
    is_cancelled: AtomicBool,
    /// Steps of the current stage; too many to send each of them.
    num_steps: AtomicU64,
}

impl WatchedProgress {
    fn send(&self, event: Event) {
        // Nobody listens any more once the watching thread has failed.
        let _ = self.events.send(event);
    }
}

impl Progress for WatchedProgress {
    fn start(&self, stage: &str, total: Option<u64>) {
        self.shared.num_steps.store(0, Ordering::Relaxed);
        self.send(Event::Start(stage.to_owned(), total));
    }

    fn advance(&self, steps: u64) {
        self.shared.num_steps.fetch_add(steps, Ordering::Relaxed);
    }

    fn show(&self, figures: &str) {
        self.send(Event::Show(figures.to_owned()));
    }

    fn finish(&self, summary: &str) {
        self.send(Event::Finish(summary.to_owned()));
    }

    fn warn(&self, warning: &Message) {
        errors::warn(warning);
    }

    fn is_cancelled(&self) -> bool {
        self.shared.is_cancelled.load(Ordering::Relaxed)
    }
}

/// Runs `work` on `num_threads` threads, 0 for one per processor. `listener` is called with stage,
/// steps done, total, message and whether the stage is over.
pub(crate) fn watch<T: Send>(
    py: Python<'_>,
    num_threads: usize,
    listener: Option<Py<PyAny>>,
    work: impl FnOnce(&Session) -> Result<T> + Send,
) -> PyResult<T> {
    let pool = thread_pool::pool(num_threads).map_err(|error| exception(&error))?;
    let (events, receiver) = channel();
    let shared = Arc::new(Shared::default());
    let done = events.clone();
    let session = Session::new(Arc::new(WatchedProgress {
        events,
        shared: Arc::clone(&shared),
    }));
    let mut watcher = Watcher::new(listener, shared);
    let mut outcome = None;
    let (watching, session, result) = (&mut watcher, &session, &mut outcome);
    py.detach(move || {
        pool.in_place_scope(|scope| {
            scope.spawn(move |_| {
                // The end is told even by work that panics, which the scope passes on.
                let _done = Farewell(done);
                thread_pool::limit_libtorch(num_threads);
                *result = Some(work(session));
            });
            watching.listen(&receiver);
        });
    });
    match (watcher.failure, outcome) {
        (Some(failure), _) => Err(failure),
        (None, Some(result)) => result.map_err(|error| exception(&error)),
        (None, None) => Err(exception(&Error::Compute("the work was lost".into()))),
    }
}

/// As [`watch`], with what came out as JSON.
pub(crate) fn watch_json<T: Serialize + Send>(
    py: Python<'_>,
    num_threads: usize,
    listener: Option<Py<PyAny>>,
    work: impl FnOnce(&Session) -> Result<T> + Send,
) -> PyResult<String> {
    to_json(&watch(py, num_threads, listener, work)?)
}

/// A value as JSON.
pub(crate) fn to_json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| config_error(&error.to_string()))
}

/// What Python asks for, from JSON.
pub(crate) fn parse<'a, T: Deserialize<'a>>(request: &'a str) -> PyResult<T> {
    serde_json::from_str(request).map_err(|error| config_error(&error.to_string()))
}

/// The lock of a model that one thread at a time may use; waiting for it, other Python threads run.
pub(crate) fn lock<'a, T>(py: Python<'_>, mutex: &'a Mutex<T>) -> PyResult<MutexGuard<'a, T>> {
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Ok(guard),
            // Ranking changes nothing in a model that a panic could leave half done.
            Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                py.detach(|| thread::sleep(LOCK_POLL));
                py.check_signals()?;
            }
        }
    }
}

/// Says that work is over when it goes out of scope.
struct Farewell(Sender<Event>);

impl Drop for Farewell {
    fn drop(&mut self) {
        let _ = self.0.send(Event::Done);
    }
}

/// The watching side.
struct Watcher {
    listener: Option<Py<PyAny>>,
    shared: Arc<Shared>,
    stage: Option<Stage>,
    /// Why the work was asked to stop.
    failure: Option<PyErr>,
}

struct Stage {
    name: String,
    total: Option<u64>,
    message: String,
    num_told: u64,
}

impl Watcher {
    fn new(listener: Option<Py<PyAny>>, shared: Arc<Shared>) -> Self {
        Self {
            listener,
            shared,
            stage: None,
            failure: None,
        }
    }

    /// Passes on events until the work is over.
    fn listen(&mut self, receiver: &Receiver<Event>) {
        loop {
            match receiver.recv_timeout(POLL) {
                Ok(Event::Done) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Event::Start(name, total)) => {
                    self.stage = Some(Stage {
                        name,
                        total,
                        message: String::new(),
                        num_told: 0,
                    });
                    self.tell(false);
                }
                Ok(Event::Show(figures)) => {
                    if let Some(stage) = &mut self.stage {
                        stage.message = figures;
                    }
                    self.tell(false);
                }
                Ok(Event::Finish(summary)) => {
                    if let Some(stage) = &mut self.stage {
                        stage.message = summary;
                    }
                    self.tell(true);
                    self.stage = None;
                }
                Err(RecvTimeoutError::Timeout) => self.tick(),
            }
        }
    }

    fn tick(&mut self) {
        if self.failure.is_some() {
            return;
        }
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method alone is for one lifetime only"
        )]
        let signal = Python::attach(|py| py.check_signals());
        if let Err(signal) = signal {
            self.stop(signal);
            return;
        }
        let num_steps = self.shared.num_steps.load(Ordering::Relaxed);
        let is_news = |stage: &Stage| stage.num_told != num_steps;
        if self.stage.as_ref().is_some_and(is_news) {
            self.tell(false);
        }
    }

    fn tell(&mut self, is_over: bool) {
        let (Some(listener), Some(stage), None) = (&self.listener, &mut self.stage, &self.failure)
        else {
            return;
        };
        stage.num_told = self.shared.num_steps.load(Ordering::Relaxed);
        let told = Python::attach(|py| {
            let event = (
                stage.name.as_str(),
                stage.num_told,
                stage.total,
                stage.message.as_str(),
                is_over,
            );
            listener.call1(py, event).map(drop)
        });
        if let Err(failure) = told {
            self.stop(failure);
        }
    }

    fn stop(&mut self, failure: PyErr) {
        self.failure = Some(failure);
        self.shared.is_cancelled.store(true, Ordering::Relaxed);
    }
}
