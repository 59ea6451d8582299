//! Right, wrong, missing: what people say of predictions.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::SharedApp;
use crate::body::{PathOf, read_json};
use crate::feedback::Stored;
use crate::model::now_s;
use crate::problem::{Problem, ProblemBody};

/// Labels that feedback on one document may name in each list.
const MAX_LABELS: usize = 1000;

/// Feedback on a document.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FeedbackRequest {
    /// Id of the document, if it has one.
    id: Option<String>,
    /// The text that was ranked.
    #[schema(min_length = 1)]
    text: String,
    /// What was predicted.
    #[serde(default)]
    predictions: Vec<ShownPrediction>,
    /// Keys of predicted labels that are right.
    #[serde(default)]
    right: Vec<String>,
    /// Keys of predicted labels that are wrong.
    #[serde(default)]
    wrong: Vec<String>,
    /// Keys of labels that should have been predicted; also of labels that the model does not know.
    #[serde(default)]
    missing: Vec<String>,
}

/// A label that was predicted.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ShownPrediction {
    /// Its key.
    key: String,
    /// Its score.
    score: f32,
}

/// A line of the file. `text` and `labels` are what training reads.
#[derive(Serialize)]
struct FeedbackLine {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    text: String,
    labels: Vec<String>,
    right: Vec<String>,
    wrong: Vec<String>,
    missing: Vec<String>,
    predictions: Vec<ShownPrediction>,
    model: String,
    model_sha256: String,
    /// Seconds since 1970.
    received_at: u64,
}

/// What became of feedback.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FeedbackResponse {
    /// Always `stored`.
    status: &'static str,
    /// The labels that training will read: the right and the missing ones.
    labels: Vec<String>,
}

impl FeedbackRequest {
    /// The labels that somebody chose for a text.
    pub(super) fn chosen(id: Option<String>, text: String, labels: Vec<String>) -> Self {
        Self {
            id,
            text,
            predictions: Vec::new(),
            right: labels,
            wrong: Vec::new(),
            missing: Vec::new(),
        }
    }

    fn check(&self) -> Result<(), Problem> {
        if self.text.trim().is_empty() {
            return Err(Problem::invalid("text: expected a text, found none"));
        }
        for (name, keys) in [
            ("right", &self.right),
            ("wrong", &self.wrong),
            ("missing", &self.missing),
        ] {
            if keys.len() > MAX_LABELS {
                let detail = format!("{name}: expected at most {MAX_LABELS} labels");
                return Err(Problem::invalid(detail));
            }
            if keys.iter().any(|key| key.trim().is_empty()) {
                let detail = format!("{name}: expected keys of labels, found an empty one");
                return Err(Problem::invalid(detail));
            }
        }
        let is_wrong = |key: &&String| self.wrong.contains(key);
        match self.right.iter().chain(&self.missing).find(is_wrong) {
            Some(key) => Err(Problem::invalid(format!(
                "wrong: `{key}` is said to be right or missing too"
            ))),
            None if self.right.len() + self.wrong.len() + self.missing.len() == 0 => Err(
                Problem::invalid("right, wrong, missing: expected at least one label"),
            ),
            None => Ok(()),
        }
    }

    /// The true labels, each once.
    fn labels(&self) -> Vec<String> {
        let mut labels: Vec<String> = Vec::new();
        for key in self.right.iter().chain(&self.missing) {
            if !labels.contains(key) {
                labels.push(key.clone());
            }
        }
        labels
    }
}

/// Keeps feedback for the next training.
#[utoipa::path(
    post,
    path = "/v1/models/{id}/feedback",
    tag = "models",
    params(("id" = String, Path, description = "Id of the model")),
    request_body = FeedbackRequest,
    responses(
        (status = CREATED, body = FeedbackResponse),
        (status = "4XX", body = ProblemBody, content_type = "application/problem+json"),
        (status = "5XX", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn store(
    State(app): State<SharedApp>,
    PathOf(id): PathOf<String>,
    request: Request,
) -> Result<(StatusCode, Json<FeedbackResponse>), Problem> {
    app.model(&id)?;
    if app.feedback.is_none() {
        return Err(keeps_none());
    }
    let request: FeedbackRequest = read_json(request, &app.limits).await?;
    keep(&app, &id, request).await
}

fn keeps_none() -> Problem {
    let detail = "this server keeps no feedback; it was started without --feedback";
    Problem::not_found(detail).closing()
}

/// Writes feedback on a document to the file, whichever protocol it came in.
pub(super) async fn keep(
    app: &SharedApp,
    id: &str,
    request: FeedbackRequest,
) -> Result<(StatusCode, Json<FeedbackResponse>), Problem> {
    let model = app.model(id)?;
    let file = app.feedback.clone().ok_or_else(keeps_none)?;
    request.check()?;
    let labels = request.labels();
    let line = FeedbackLine {
        id: request.id,
        text: request.text,
        labels: labels.clone(),
        right: request.right,
        wrong: request.wrong,
        missing: request.missing,
        predictions: request.predictions,
        model: id.to_owned(),
        model_sha256: model.sha256.clone(),
        received_at: now_s(),
    };
    let max_bytes = file.max_bytes();
    let append = move || file.append(&line);
    match tokio::task::spawn_blocking(append).await {
        Ok(Ok(Stored::Whole)) => {}
        Ok(Ok(Stored::Full)) => {
            tracing::error!(max_bytes, "the file for feedback is full");
            return Err(Problem::feedback_is_full(max_bytes));
        }
        Ok(Err(error)) => {
            tracing::error!(%error, "feedback is lost");
            return Err(Problem::cannot_store());
        }
        Err(_) => return Err(Problem::internal()),
    }
    app.metrics.count_feedback(id);
    let stored = FeedbackResponse {
        status: "stored",
        labels,
    };
    Ok((StatusCode::CREATED, Json(stored)))
}
