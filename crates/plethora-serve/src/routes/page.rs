//! The page, which is inside the program and asks nobody but this server.

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;

use crate::app::SharedApp;

const INDEX: &str = include_str!("../../page/index.html");

/// Only what the page brings along may run, and it may talk to this server alone.
const POLICY: &str = "default-src 'none'; connect-src 'self'; img-src 'self' data:; \
     style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The addresses of the page.
pub(super) fn router() -> Router<SharedApp> {
    Router::new().route("/", get(index))
}

async fn index() -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, INDEX)
}
