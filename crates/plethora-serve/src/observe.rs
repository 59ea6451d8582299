//! Around every request: who may ask, what is counted, what is logged. Texts are never logged.

use std::any::Any;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use prometheus_client::metrics::gauge::Gauge;

use crate::app::SharedApp;
use crate::problem::Problem;
use crate::traces::SpanStart;

/// Stands for addresses that lead nowhere, so that they cannot fill the memory with counts.
const NOWHERE: &str = "none";

/// Where everybody may look: probes, the page and the description, which hold no data.
const OPEN: [&str; 6] = [
    "/",
    "/page",
    "/health",
    "/docs",
    "/openapi.json",
    "/v2/health",
];

/// Counts and logs a request.
pub(crate) async fn observe(
    State(app): State<SharedApp>,
    request: Request,
    next: Next,
) -> Response {
    let start = Instant::now();
    let in_flight = InFlight::new(app.metrics.in_flight());
    let method = method_name(request.method());
    let matched = request.extensions().get::<MatchedPath>();
    let route = matched.map_or(NOWHERE, MatchedPath::as_str).to_owned();
    let path = request.uri().path().to_owned();
    let span = (app.traces.as_ref()).and_then(|_| SpanStart::of(request.headers()));
    let response = next.run(request).await;
    drop(in_flight);
    let status = response.status().as_u16();
    let time = start.elapsed();
    app.metrics.observe_request(&route, method, status, time);
    let milliseconds = time.as_secs_f64() * 1000.0;
    tracing::info!(method, path, status, milliseconds, "request");
    if let Some((traces, span)) = app.traces.as_ref().zip(span) {
        traces.tell(span.end(method, route, path, status));
    }
    response
}

/// The method, one word for all that we do not know: clients make them up, and each would be counted for
/// itself until the memory is full.
fn method_name(method: &Method) -> &'static str {
    const NAMES: [&str; 9] = [
        "GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT",
    ];
    let name = NAMES.iter().find(|name| **name == method.as_str());
    name.copied().unwrap_or("other")
}

/// Asks for the key.
pub(crate) async fn authorize(
    State(app): State<SharedApp>,
    request: Request,
    next: Next,
) -> Response {
    let is_open = OPEN.iter().any(|open| covers(open, request.uri().path()));
    match &app.api_key {
        Some(key) if !is_open && !key.is_in(request.headers()) => {
            Problem::unauthorized().closing().into_response()
        }
        _ => next.run(request).await,
    }
}

fn covers(open: &str, path: &str) -> bool {
    let rest = path.strip_prefix(open);
    rest.is_some_and(|rest| rest.is_empty() || (open != "/" && rest.starts_with('/')))
}

/// What a page may load where it has no policy of its own: nothing from elsewhere.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'",
);

/// Keeps browsers from guessing types, from asking others, and from showing our pages inside theirs.
pub(crate) async fn protect(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let policy = headers.entry(header::CONTENT_SECURITY_POLICY);
    policy.or_insert(POLICY);
    response
}

/// The answer to a request that met a bug.
pub(crate) fn after_panic(_: Box<dyn Any + Send>) -> Response {
    Problem::internal().into_response()
}

/// A request that is being answered, also if its client goes away.
struct InFlight(Gauge);

impl InFlight {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_holds_no_data_is_open() {
        let is_open = |path: &str| OPEN.iter().any(|open| covers(open, path));
        for path in [
            "/",
            "/health",
            "/health/live",
            "/docs/",
            "/docs/index.html",
            "/v2/health/ready",
        ] {
            assert!(is_open(path), "{path}");
        }
        for path in [
            "/v1/models",
            "/metrics",
            "/predict",
            "/healthy",
            "//v1/models",
            "/v2/models/a",
        ] {
            assert!(!is_open(path), "{path}");
        }
    }
}
