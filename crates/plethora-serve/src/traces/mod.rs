//! What requests took, told to a collector of `OpenTelemetry`: a span for each request, as OTLP in JSON over HTTP. A request that brings
//! a `traceparent` becomes a part of its client's trace.

mod endpoint;
mod exporter;
mod span;

use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

pub(crate) use endpoint::Endpoint;
pub(crate) use span::{Ended, SpanStart};

use crate::{Error, Result};

/// Spans that wait to be sent; more are dropped, as no request waits for a collector.
const MAX_WAITING: usize = 4096;

/// The way to the thread that sends.
#[derive(Debug, Clone)]
pub(crate) struct Traces(SyncSender<Message>);

/// The thread itself.
#[derive(Debug)]
pub(crate) struct Sending {
    end: SyncSender<Message>,
    thread: JoinHandle<()>,
}

#[derive(Debug)]
enum Message {
    Span(Box<Ended>),
    End,
}

impl Traces {
    /// Starts the thread.
    pub(crate) fn start(endpoint: &str) -> Result<(Self, Sending)> {
        let endpoint =
            Endpoint::parse(endpoint).map_err(|message| Error::config("otlp_endpoint", message))?;
        let (sender, messages) = sync_channel(MAX_WAITING);
        let thread = thread::Builder::new().name("traces".to_owned());
        let thread = thread
            .spawn(move || exporter::run(&endpoint, &messages))
            .map_err(Error::Threads)?;
        let end = sender.clone();
        Ok((Self(sender), Sending { end, thread }))
    }

    /// Hands over a request that has its answer.
    pub(crate) fn tell(&self, span: Ended) {
        if let Err(TrySendError::Full(_)) = self.0.try_send(Message::Span(Box::new(span))) {
            tracing::debug!("a span is dropped: too many wait");
        }
    }
}

impl Sending {
    /// Sends what waits, within seconds.
    pub(crate) fn finish(self) {
        // Where the thread has ended, nothing waits.
        if self.end.send(Message::End).is_ok() && self.thread.join().is_err() {
            tracing::error!("sending traces failed");
        }
    }
}
