//! Bounds on what waits for slow readers.
//!
//! An answer may have a hundred megabytes, and the client that asked for it may read it as slowly as connections are
//! allowed to be read. Large answers together take no more than a fixed sum of memory, and each has a time to be read in.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::app::SharedApp;
use crate::problem::Problem;

/// Answers up to this size are not counted: all connections together could wait for no more than a few of the large ones.
const SMALL_BYTES: usize = 256 << 10;

/// Large answers together.
const BUDGET_KIB: usize = 512 << 10;

/// Given to the connection at once. What it has taken is no longer counted, so this is little.
const PIECE_BYTES: usize = 64 << 10;

/// How fast a large answer is read at least.
const MIN_BYTES_PER_SECOND: usize = 64 << 10;

/// The memory that large answers may take.
#[derive(Debug, Clone)]
pub(crate) struct AnswerBudget(Arc<Semaphore>);

impl Default for AnswerBudget {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(BUDGET_KIB)))
    }
}

/// Labels in an answer from which on writing it down takes milliseconds.
const MANY_LABELS: usize = 2_000;

/// Writes an answer down; a large one while other requests get another thread.
pub(crate) fn written_aside(num_labels: usize, write: impl FnOnce() -> Response) -> Response {
    if num_labels < MANY_LABELS {
        return write();
    }
    tokio::task::block_in_place(write)
}

/// Lets small answers through and counts large ones until they are read.
pub(crate) async fn bound_answers(
    State(app): State<SharedApp>,
    request: Request,
    next: Next,
) -> Response {
    let response = next.run(request).await;
    let size = response.body().size_hint().exact().unwrap_or(0) as usize;
    if size <= SMALL_BYTES {
        return response;
    }
    let wanted = (size >> 10).min(BUDGET_KIB) as u32;
    let Ok(permit) = Arc::clone(&app.answers.0).try_acquire_many_owned(wanted) else {
        return Problem::too_many_large_answers().into_response();
    };
    let (mut head, body) = response.into_parts();
    let Ok(rest) = to_bytes(body, usize::MAX).await else {
        return Problem::internal().into_response();
    };
    head.headers.insert(header::CONTENT_LENGTH, size.into());
    let time = Duration::from_secs_f64(size as f64 / MIN_BYTES_PER_SECOND as f64);
    let answer = LargeAnswer {
        rest,
        deadline: Instant::now() + app.limits.write_timeout + time,
        _permit: permit,
    };
    Response::from_parts(head, Body::new(answer))
}

/// An answer in pieces, which counts for as long as some are left.
#[derive(Debug)]
struct LargeAnswer {
    rest: Bytes,
    deadline: Instant,
    _permit: OwnedSemaphorePermit,
}

impl HttpBody for LargeAnswer {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        if Instant::now() > self.deadline {
            let message = "the client reads its answer too slowly";
            let error = std::io::Error::new(std::io::ErrorKind::TimedOut, message);
            return Poll::Ready(Some(Err(error)));
        }
        let size = self.rest.len().min(PIECE_BYTES);
        let piece = self.rest.split_to(size);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(size: usize, deadline: Instant, budget: &AnswerBudget) -> LargeAnswer {
        LargeAnswer {
            rest: Bytes::from(vec![b'x'; size]),
            deadline,
            _permit: Arc::clone(&budget.0).try_acquire_owned().unwrap(),
        }
    }

    #[tokio::test]
    async fn a_large_answer_arrives_whole_and_gives_its_memory_back() {
        let budget = AnswerBudget::default();
        let whole = answer(
            PIECE_BYTES * 3 + 5,
            Instant::now() + Duration::from_mins(1),
            &budget,
        );
        assert_eq!(budget.0.available_permits(), BUDGET_KIB - 1);
        let bytes = to_bytes(Body::new(whole), usize::MAX).await.unwrap();
        assert_eq!(bytes.len(), PIECE_BYTES * 3 + 5);
        assert_eq!(budget.0.available_permits(), BUDGET_KIB);
    }

    #[tokio::test]
    async fn an_answer_that_is_read_too_slowly_ends() {
        let budget = AnswerBudget::default();
        let late = answer(PIECE_BYTES * 2, Instant::now(), &budget);
        std::thread::sleep(Duration::from_millis(2));
        assert!(to_bytes(Body::new(late), usize::MAX).await.is_err());
        assert_eq!(budget.0.available_permits(), BUDGET_KIB);
    }
}
