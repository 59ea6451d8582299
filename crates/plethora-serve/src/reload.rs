//! Looks for new versions of models and takes them up while the old ones answer.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use plethora_core::Error;

use crate::served_models::{Failure, ServedModels, Slot};

/// Longest time between two attempts to open the same folder.
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// A thread that ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Watcher {
    _stop: mpsc::Sender<()>,
}

impl Watcher {
    /// Looks at every folder once an interval.
    pub(crate) fn start(models: Arc<ServedModels>, interval: Duration) -> std::io::Result<Self> {
        let (stop, stopped) = mpsc::channel::<()>();
        let thread = thread::Builder::new().name("reload".into());
        thread.spawn(move || {
            while stopped.recv_timeout(interval) == Err(mpsc::RecvTimeoutError::Timeout) {
                for slot in models.slots() {
                    look_at(slot, &models, interval);
                }
            }
        })?;
        Ok(Self { _stop: stop })
    }
}

fn look_at(slot: &Slot, models: &ServedModels, interval: Duration) {
    let failure = slot.failure();
    let found = slot.newest_sha256();
    if let Ok(newest) = &found
        && *newest == slot.current().sha256
    {
        if failure.is_some() {
            slot.set_failure(None);
            tracing::info!(model = slot.id, "the version that answers is back");
        }
        return;
    }
    if let Some(failure) = &failure
        && failure.last_attempt.elapsed() < pause(failure.num_attempts, interval)
    {
        return;
    }
    let outcome = found.and_then(|_| reload(slot, models));
    models.metrics().count_reload(&slot.id, outcome.is_ok());
    match outcome {
        Ok(()) => {
            let sha256 = &slot.current().sha256;
            tracing::info!(model = slot.id, sha256, "a new version answers");
        }
        Err(error) => {
            let num_attempts = failure.map_or(0, |failure| failure.num_attempts) + 1;
            tracing::error!(
                model = slot.id,
                num_attempts,
                %error,
                "the new version cannot be opened, the old one stays in use"
            );
            slot.set_failure(Some(Failure {
                message: error.to_string(),
                num_attempts,
                last_attempt: Instant::now(),
            }));
        }
    }
}

/// Whatever is in the folder, and whatever bug it meets, the thread goes on and the old version answers.
fn reload(slot: &Slot, models: &ServedModels) -> plethora_core::Result<()> {
    let reload = || slot.reload(models.metrics());
    panic::catch_unwind(AssertUnwindSafe(reload)).unwrap_or_else(|_| {
        let message = "opening the new version met a bug in plethora, please report it";
        Err(Error::Compute(message.into()))
    })
}

/// Twice as long after every attempt.
fn pause(num_attempts: u32, interval: Duration) -> Duration {
    let doubled = 1_u32.checked_shl(num_attempts.saturating_sub(1).min(16));
    interval.saturating_mul(doubled.unwrap_or(1)).min(MAX_PAUSE)
}
