//! Predictions in the form of `plethora predict`.

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use plethora_core::ScoredLabel;
use plethora_core::corpus::LabelSpace;
use plethora_system::ScoreKind;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::SharedApp;
use crate::body::{PathOf, read_json};
use crate::filter::LabelFilter;
use crate::large_answers::written_aside;
use crate::problem::{Problem, ProblemBody};
use crate::ranking::{Choice, rank};

/// Documents to rank labels for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PredictRequest {
    /// The documents.
    #[schema(min_items = 1)]
    documents: Vec<DocumentInput>,
    /// Labels per document at most. If not given: 10, and with `threshold` or `tuned` all that reach it,
    /// up to the server's own limit.
    #[schema(minimum = 1)]
    top_k: Option<usize>,
    /// Give all labels with this score or a higher one.
    #[schema(minimum = 0, maximum = 1)]
    threshold: Option<f32>,
    /// Give all labels that reach the thresholds that were tuned with the model.
    #[serde(default)]
    tuned: bool,
    /// Kind of scores.
    #[serde(default)]
    scores: ScoreKind,
    /// Keys of the only labels that are wanted.
    allow: Option<Vec<String>>,
    /// Keys of labels that are not wanted.
    #[serde(default)]
    deny: Vec<String>,
}

/// A document: a text, or an object with one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
enum DocumentInput {
    /// The text alone.
    Text(String),
    /// The text with an id.
    Object(DocumentObject),
}

/// A document with an id.
#[derive(Debug, Deserialize, ToSchema)]
struct DocumentObject {
    /// Comes back with the predictions; the number of the document, from 1, if not given.
    id: Option<DocumentId>,
    /// The text.
    text: String,
    /// Anything; it is not looked at.
    #[serde(default, rename = "metadata")]
    _metadata: Option<serde_json::Map<String, serde_json::Value>>,
}

/// What names a document.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
enum DocumentId {
    /// A text.
    Text(String),
    /// A number, which comes back as text.
    Number(i64),
}

/// Rankings of all documents.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PredictResponse {
    /// Id of the model.
    model: String,
    /// In the order of the documents.
    results: Vec<DocumentResult>,
    /// Keys in `allow` and `deny` that the model does not know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown_labels: Vec<String>,
}

/// The ranking of a document.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DocumentResult {
    /// Id of the document.
    id: String,
    /// The best labels, best first.
    predictions: Vec<Prediction>,
}

/// A label that was predicted.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Prediction {
    /// Its name.
    label: String,
    /// Its key.
    key: String,
    /// From 0 to 1.
    score: f32,
    /// Its number in this version of the model.
    label_id: u32,
}

impl Prediction {
    fn new(scored: ScoredLabel, labels: &LabelSpace) -> Self {
        let label = labels.label(scored.label);
        Self {
            label: label.name.clone(),
            key: label.key.clone(),
            score: scored.score,
            label_id: scored.label.0,
        }
    }
}

impl DocumentInput {
    /// Id and text.
    fn into_parts(self, number: usize) -> (String, String) {
        match self {
            Self::Text(text) => (number.to_string(), text),
            Self::Object(DocumentObject { id, text, .. }) => match id {
                Some(DocumentId::Text(id)) => (id, text),
                Some(DocumentId::Number(id)) => (id.to_string(), text),
                None => (number.to_string(), text),
            },
        }
    }
}

/// Ranks labels for documents, with the scores that `plethora predict` gives. With `allow` or `deny`, the
/// best 1000 labels (`--filter-depth`) are ranked and filtered, then the best `top_k` are taken.
#[utoipa::path(
    post,
    path = "/v1/models/{id}/predict",
    tag = "models",
    params(("id" = String, Path, description = "Id of the model")),
    request_body = PredictRequest,
    responses(
        (status = OK, body = PredictResponse),
        (status = "4XX", body = ProblemBody, content_type = "application/problem+json"),
        (status = "5XX", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn predict(
    State(app): State<SharedApp>,
    PathOf(id): PathOf<String>,
    request: Request,
) -> Result<Response, Problem> {
    let model = app.model(&id)?;
    let arrival = model.queue.arrival();
    let request: PredictRequest = read_json(request, &app.limits).await?;
    let choice = Choice {
        top_k: request.top_k,
        threshold: request.threshold,
        is_tuned: request.tuned,
        scores: request.scores,
        filter: LabelFilter::new(&model.labels, request.allow.as_deref(), &request.deny),
    };
    let documents = (1..).zip(request.documents);
    let (ids, texts): (Vec<String>, Vec<String>) = documents
        .map(|(number, document)| document.into_parts(number))
        .unzip();
    let rankings = rank(&model, arrival, &app.limits, texts, &choice).await?;
    let result = |(id, ranking): (String, Vec<ScoredLabel>)| DocumentResult {
        id,
        predictions: (ranking.iter())
            .map(|&scored| Prediction::new(scored, &model.labels))
            .collect(),
    };
    let num_labels = rankings.iter().map(Vec::len).sum();
    let write = || {
        Json(PredictResponse {
            model: id,
            results: ids.into_iter().zip(rankings).map(result).collect(),
            unknown_labels: choice.filter.unknown,
        })
        .into_response()
    };
    Ok(written_aside(num_labels, write))
}
