//! The connection of a client: how slowly it may read, where its lines end, and a last word to it where
//! the parser of requests would only hang up.

mod addresses;
mod pace;
mod request_lines;

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::timeout;

pub(crate) use addresses::{Addresses, Visit};
use pace::Pace;
use request_lines::{LoneLineFeed, RequestLines};

use crate::problem::Problem;

/// How long a client is listened to that has got its last word: what is unread when a connection closes
/// keeps the word from arriving.
const LAST_WORD: Duration = Duration::from_secs(1);

/// A stream that two hold: the parser of requests, and who has the last word.
#[derive(Debug)]
pub(crate) struct ClientStream<S>(Arc<Mutex<Client<S>>>);

#[derive(Debug)]
struct Client<S> {
    stream: S,
    pace: Pace,
    lines: RequestLines,
    /// Bytes that came after the last that were sent.
    num_unanswered: usize,
    has_lone_line_feed: bool,
    /// The parser is done, and only the last word is left.
    is_over: bool,
}

impl<S> Clone for ClientStream<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S> ClientStream<S> {
    fn lock(&self) -> MutexGuard<'_, Client<S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> ClientStream<S> {
    /// A stream whose client has `write_timeout` to take what waits for it.
    pub(crate) fn new(stream: S, write_timeout: Duration) -> Self {
        Self(Arc::new(Mutex::new(Client {
            stream,
            pace: Pace::new(write_timeout),
            lines: RequestLines::new(),
            num_unanswered: 0,
            has_lone_line_feed: false,
            is_over: false,
        })))
    }

    /// What to tell a client whose connection failed, where it waits for an answer.
    fn last_word(&self, error: &hyper::Error) -> Option<Problem> {
        let mut client = self.lock();
        client.is_over = true;
        if client.has_lone_line_feed {
            let detail = "expected lines that end with CR and LF, found LF alone";
            return Some(Problem::unreadable(detail));
        }
        (error.is_timeout() && client.num_unanswered > 0).then(Problem::too_slow)
    }

    /// Ends a connection that failed.
    pub(crate) async fn end(mut self, error: &hyper::Error) {
        let Some(problem) = self.last_word(error) else {
            return;
        };
        let word = problem.into_message();
        let mut stream = Pin::new(&mut self);
        let speak = async {
            let mut rest = word.as_slice();
            while !rest.is_empty() {
                let taken = poll_fn(|context| stream.as_mut().poll_write(context, rest)).await?;
                rest = &rest[taken..];
            }
            poll_fn(|context| stream.as_mut().poll_shutdown(context)).await?;
            let mut bytes = [0; 4096];
            loop {
                let mut heard = ReadBuf::new(&mut bytes);
                poll_fn(|context| stream.as_mut().poll_read(context, &mut heard)).await?;
                if heard.filled().is_empty() {
                    return io::Result::Ok(());
                }
            }
        };
        // Who hangs up, or goes on talking, has had it.
        let _ = timeout(LAST_WORD, speak).await;
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ClientStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut client = self.lock();
        if client.has_lone_line_feed && !client.is_over {
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        let start = buffer.filled().len();
        let outcome = Pin::new(&mut client.stream).poll_read(context, buffer);
        let bytes = &buffer.filled()[start..];
        client.num_unanswered += bytes.len();
        if let Err(LoneLineFeed(place)) = client.lines.follow(bytes) {
            client.has_lone_line_feed = true;
            // What comes before makes the parser fail in the middle of a request: between two it would
            // take the failure for a client that hangs up.
            buffer.set_filled(start + place);
        }
        outcome
    }
}

impl<S: AsyncWrite + Unpin> ClientStream<S> {
    fn write_with(
        &self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let mut client = self.lock();
        let outcome = write(Pin::new(&mut client.stream), context);
        if outcome.is_ready() {
            client.num_unanswered = 0;
        }
        client.pace.after_write(outcome, context)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ClientStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write_with(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write_with(context, |stream, context| {
            stream.poll_write_vectored(context, parts)
        })
    }

    fn is_write_vectored(&self) -> bool {
        let client = self.lock();
        client.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut client = self.lock();
        let outcome = Pin::new(&mut client.stream).poll_flush(context);
        client.pace.after_flush(outcome, context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut client = self.lock();
        let outcome = Pin::new(&mut client.stream).poll_shutdown(context);
        client.pace.after_flush(outcome, context)
    }
}
