//! What clients are told when something is wrong: one body that satisfies clients of problem+json,
//! Annif, TEI and `KServe` alike.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::queue::WorkError;

/// A failed request.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    error_type: &'static str,
    detail: String,
    retry_after: Option<Duration>,
    closes: bool,
}

/// The body of a failed request.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ProblemBody {
    /// Always `about:blank`: the status says what kind of problem it is.
    #[serde(rename = "type")]
    kind: String,
    /// The name of the status.
    title: String,
    /// The HTTP status.
    status: u16,
    /// What was wrong, and what was expected.
    detail: String,
    /// The same as `detail`.
    error: String,
    /// One word for the kind of problem.
    error_type: String,
}

impl Problem {
    fn new(status: StatusCode, error_type: &'static str, detail: impl Into<String>) -> Self {
        Self {
            status,
            error_type,
            detail: detail.into(),
            retry_after: None,
            closes: false,
        }
    }

    /// 400: what was sent cannot be read.
    pub(crate) fn unreadable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", detail)
    }

    /// 401.
    pub(crate) fn unauthorized() -> Self {
        let detail = "expected the key of this server as `Authorization: Bearer KEY`";
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
    }

    /// 404.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", detail)
    }

    /// 405.
    pub(crate) fn wrong_method() -> Self {
        let detail = "this address does not take requests of this method";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail)
    }

    /// 408: the client sends too slowly.
    pub(crate) fn too_slow() -> Self {
        let detail = "the request did not arrive in time";
        Self::new(StatusCode::REQUEST_TIMEOUT, "timeout", detail).closing()
    }

    /// 413.
    pub(crate) fn too_large(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
    }

    /// 415.
    pub(crate) fn wrong_media_type(expected: &str) -> Self {
        let detail = format!("expected a body of the type {expected}");
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            detail,
        )
    }

    /// 421: the request is for another server.
    pub(crate) fn misdirected(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::MISDIRECTED_REQUEST, "misdirected", detail)
    }

    /// 422: what was sent can be read, but makes no sense.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "validation", detail)
    }

    /// 429: too many documents wait already.
    pub(crate) fn overloaded() -> Self {
        let detail = "too many documents wait for this model; try again in a moment";
        Self {
            retry_after: Some(Duration::from_secs(1)),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, "overloaded", detail)
        }
    }

    /// 429: an address has its share of connections.
    pub(crate) fn crowded() -> Self {
        let detail = "too many connections from this address; close some or try again in a moment";
        Self {
            retry_after: Some(Duration::from_secs(1)),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, "overloaded", detail).closing()
        }
    }

    /// 503: no answer in time.
    pub(crate) fn timed_out() -> Self {
        let detail = "the model did not answer in time";
        Self {
            retry_after: Some(Duration::from_secs(1)),
            ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "timeout", detail)
        }
    }

    /// 503: too much waits to be read by others.
    pub(crate) fn too_many_large_answers() -> Self {
        let detail =
            "too many large answers are being read; ask for less, or try again in a moment";
        Self {
            retry_after: Some(Duration::from_secs(10)),
            ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", detail)
        }
    }

    /// 503: the server is about to stop.
    pub(crate) fn stopping() -> Self {
        let detail = "the server is stopping";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail)
    }

    /// 500: a bug of ours.
    pub(crate) fn internal() -> Self {
        let detail = "this is a bug in plethora, please report it";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
    }

    /// 500: the file for feedback cannot be written.
    pub(crate) fn cannot_store() -> Self {
        let detail = "the feedback could not be written; the log of the server says why";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "storage", detail)
    }

    /// 507: the file for feedback has grown to its bound.
    pub(crate) fn feedback_is_full(max_bytes: u64) -> Self {
        let detail = format!(
            "the file for feedback would grow beyond {max_bytes} bytes; \
             the server stores more when it is moved away, or with a larger --feedback-max-bytes"
        );
        Self::new(StatusCode::INSUFFICIENT_STORAGE, "storage", detail)
    }

    /// The same, and the connection ends with it: the rest of the request is not worth reading.
    pub(crate) fn closing(self) -> Self {
        Self {
            closes: true,
            ..self
        }
    }
}

impl From<WorkError> for Problem {
    fn from(error: WorkError) -> Self {
        match error {
            WorkError::Full => Self::overloaded(),
            WorkError::Closed => Self::stopping(),
            WorkError::Data(detail) => Self::invalid(detail),
            WorkError::TooLarge(detail) => Self::too_large(detail),
            WorkError::Compute(detail) => {
                Self::new(StatusCode::FAILED_DEPENDENCY, "backend", detail)
            }
            WorkError::Panicked => Self::internal(),
        }
    }
}

/// The type of the body.
const MEDIA_TYPE: &str = "application/problem+json";

impl Problem {
    fn body(&self) -> ProblemBody {
        ProblemBody {
            kind: "about:blank".into(),
            title: self.title().into(),
            status: self.status.as_u16(),
            error: self.detail.clone(),
            detail: self.detail.clone(),
            error_type: self.error_type.into(),
        }
    }

    /// What was wrong, and one word for it.
    pub(crate) fn told(&self) -> (String, &'static str) {
        (self.detail.clone(), self.error_type)
    }

    fn title(&self) -> &'static str {
        self.status.canonical_reason().unwrap_or("Error")
    }

    /// The whole answer with its head, for connections that no request came through.
    pub(crate) fn into_message(self) -> Vec<u8> {
        let body = serde_json::to_string(&self.body()).unwrap_or_default();
        let retry_after = self.retry_after.map_or_else(String::new, |time| {
            format!("retry-after: {}\r\n", time.as_secs())
        });
        format!(
            "HTTP/1.1 {} {}\r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {}\r\n\
             {retry_after}connection: close\r\n\r\n{body}",
            self.status.as_u16(),
            self.title(),
            body.len()
        )
        .into_bytes()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = self.body();
        let mut response = self.respond(&body);
        let media_type = HeaderValue::from_static(MEDIA_TYPE);
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, media_type);
        response
    }
}

impl Problem {
    /// An answer with this body in JSON, for clients that expect another one than ours.
    pub(crate) fn respond(self, body: &impl Serialize) -> Response {
        let mut response = (self.status, axum::Json(body)).into_response();
        let headers = response.headers_mut();
        if let Some(time) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(time.as_secs()));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.closes {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}
