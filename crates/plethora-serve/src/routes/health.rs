//! Probes and counts.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::SharedApp;

/// How a server is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`: a server that cannot answer does not answer.
    status: &'static str,
}

const OK: Json<Health> = Json(Health { status: "ok" });

/// True while the server answers; its models are open before it listens.
#[utoipa::path(get, path = "/health", tag = "operations", responses((status = OK, body = Health)))]
pub(super) async fn health() -> Json<Health> {
    OK
}

/// The process answers.
#[utoipa::path(get, path = "/health/live", tag = "operations", responses((status = OK, body = Health)))]
pub(super) async fn live() -> Json<Health> {
    OK
}

/// All models answer.
#[utoipa::path(get, path = "/health/ready", tag = "operations", responses((status = OK, body = Health)))]
pub(super) async fn ready() -> Json<Health> {
    OK
}

/// Counts for Prometheus.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "operations",
    responses((status = OK, body = String, content_type = "application/openmetrics-text"))
)]
pub(super) async fn metrics(State(app): State<SharedApp>) -> Response {
    let media_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, media_type)], app.metrics.render()).into_response()
}
