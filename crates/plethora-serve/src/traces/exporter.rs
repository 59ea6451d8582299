//! The thread that sends spans, some together.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::endpoint::Endpoint;
use super::span::text;
use super::{Ended, Message};

/// Spans that are sent together at most.
const BATCH: usize = 512;

/// How long a span waits for others.
const WAIT: Duration = Duration::from_secs(1);

/// Failures are told this often and no more.
const QUIET: Duration = Duration::from_secs(60);

/// Sends until it is told to end, or nobody can tell anything any more.
pub(super) fn run(endpoint: &Endpoint, messages: &Receiver<Message>) {
    let mut last_warning: Option<Instant> = None;
    let mut is_open = true;
    while is_open {
        let spans;
        (spans, is_open) = batch(messages);
        if spans.is_empty() {
            continue;
        }
        let sent = endpoint.post(body(&spans).to_string().as_bytes());
        if let Err(error) = sent
            && last_warning.is_none_or(|time| time.elapsed() > QUIET)
        {
            last_warning = Some(Instant::now());
            tracing::warn!(%error, spans = spans.len(), "a collector of traces does not take them");
        }
    }
}

/// What comes within a second of the first, and whether more may come.
fn batch(messages: &Receiver<Message>) -> (Vec<Ended>, bool) {
    let mut spans = Vec::new();
    let mut end = None;
    while spans.len() < BATCH {
        let next = match end {
            None => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(end) => {
                messages.recv_timeout(Instant::saturating_duration_since(&end, Instant::now()))
            }
        };
        match next {
            Ok(Message::Span(span)) => spans.push(*span),
            Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => return (spans, false),
            Err(RecvTimeoutError::Timeout) => break,
        }
        end = end.or_else(|| Some(Instant::now() + WAIT));
    }
    (spans, true)
}

/// A request of OTLP.
fn body(spans: &[Ended]) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let spans: Vec<Value> = spans.iter().map(Ended::json).collect();
    json!({"resourceSpans": [{
        "resource": {"attributes": [text("service.name", "plethora"), text("service.version", version)]},
        "scopeSpans": [{"scope": {"name": "plethora-serve", "version": version}, "spans": spans}],
    }]})
}
