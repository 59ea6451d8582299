//! How slowly a client may take its answers.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Sleep, sleep};

/// What a client takes at least while something waits for it. The slowest lines of people are faster;
/// one who reads a byte now and then only holds the connection.
const MIN_BYTES_PER_SECOND: f64 = 1024.0;

/// Ends writing to a client that does not read. Time passes only while a write waits.
#[derive(Debug)]
pub(super) struct Pace {
    window: Duration,
    waiting: Option<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    end: Pin<Box<Sleep>>,
    taken: usize,
}

impl Pace {
    /// A client has this long to take its part of what waits.
    pub(super) fn new(window: Duration) -> Self {
        Self {
            window,
            waiting: None,
        }
    }

    /// Notes how a write went: the bytes that were taken, or that it waits.
    pub(super) fn after_write(
        &mut self,
        outcome: Poll<io::Result<usize>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        match outcome {
            Poll::Pending => self.wait(context),
            Poll::Ready(Ok(taken)) => {
                let enough = self.window.as_secs_f64() * MIN_BYTES_PER_SECOND;
                if let Some(waiting) = &mut self.waiting {
                    waiting.taken += taken;
                    if waiting.taken as f64 >= enough {
                        self.waiting = None;
                    }
                }
                outcome
            }
            Poll::Ready(Err(_)) => outcome,
        }
    }

    /// Notes how a flush or a close went, after which nothing waits.
    pub(super) fn after_flush(
        &mut self,
        outcome: Poll<io::Result<()>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        if outcome.is_pending() {
            return self.wait(context);
        }
        self.waiting = None;
        outcome
    }

    fn wait<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        let window = self.window;
        let waiting = self.waiting.get_or_insert_with(|| Waiting {
            end: Box::pin(sleep(window)),
            taken: 0,
        });
        waiting.end.as_mut().poll(context).map(|()| {
            let message = "the client does not read its answer";
            Err(io::Error::new(io::ErrorKind::TimedOut, message))
        })
    }
}
