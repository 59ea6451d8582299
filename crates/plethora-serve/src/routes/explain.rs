//! Why labels have their scores, in the form of `plethora explain --format json`.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use plethora_system::{ShownExplanation, find_label};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use utoipa::ToSchema;

use crate::app::SharedApp;
use crate::body::{PathOf, read_json};
use crate::problem::{Problem, ProblemBody};
use crate::queue::{AsideWork, ExplainWork};
use crate::ranking::answered;

/// Labels that are explained where a request does not say.
const DEFAULT_TOP_K: usize = 3;

/// Labels that a request may have explained: each costs as much as a ranking.
const MAX_LABELS: usize = 50;

/// A text whose labels are to be explained.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainRequest {
    /// The text.
    #[schema(min_length = 1)]
    text: String,
    /// Keys of the labels, or names that only one label has; the best labels if not given.
    #[serde(default)]
    #[schema(max_items = 50)]
    labels: Vec<String>,
    /// Number of best labels; 3 if not given.
    #[schema(minimum = 1, maximum = 50)]
    top_k: Option<usize>,
}

/// Why labels have their scores.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExplainResponse {
    /// Id of the model.
    model: String,
    /// Its system.
    system: String,
    /// One per label.
    explanations: Vec<ShownExplanation>,
}

/// Tells which words of a text speak for a label, and which against it.
#[utoipa::path(
    post,
    path = "/v1/models/{id}/explain",
    tag = "models",
    params(("id" = String, Path, description = "Id of the model")),
    request_body = ExplainRequest,
    responses(
        (status = OK, body = ExplainResponse),
        (status = "4XX", body = ProblemBody, content_type = "application/problem+json"),
        (status = "5XX", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn explain(
    State(app): State<SharedApp>,
    PathOf(id): PathOf<String>,
    request: Request,
) -> Result<Response, Problem> {
    let model = app.model(&id)?;
    let request: ExplainRequest = read_json(request, &app.limits).await?;
    let top_k = request.top_k.unwrap_or(DEFAULT_TOP_K);
    if !(1..=MAX_LABELS).contains(&top_k) || request.labels.len() > MAX_LABELS {
        let detail = format!("top_k, labels: expected 1 to {MAX_LABELS} labels");
        return Err(Problem::invalid(detail));
    }
    if request.text.trim().is_empty() {
        return Err(Problem::invalid("text: expected a text, found none"));
    }
    let max_bytes = app.limits.max_explain_bytes;
    if request.text.len() > max_bytes {
        let length = request.text.len();
        let detail = format!("text: expected at most {max_bytes} bytes, found {length}");
        return Err(Problem::too_large(detail));
    }
    let mut labels = Vec::new();
    for wanted in &request.labels {
        let label = find_label(&model.labels, wanted)
            .map_err(|unclear| Problem::invalid(format!("labels: {unclear}")))?;
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    let (reply, answer) = oneshot::channel();
    let (shown, system) = (Arc::clone(&model.labels), model.details.system.clone());
    let work = ExplainWork {
        text: request.text,
        labels,
        top_k,
        write: Box::new(move |found, text| {
            let explanations =
                (found.into_iter()).map(|found| ShownExplanation::new(found, text, &shown));
            Json(ExplainResponse {
                model: id,
                system,
                explanations: explanations.collect(),
            })
            .into_response()
        }),
        reply,
    };
    model.aside.submit(AsideWork::Explain(work))?;
    answered(answer, app.limits.request_timeout).await
}
