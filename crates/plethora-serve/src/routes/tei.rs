//! What clients of text-embeddings-inference expect of a classifier.

use axum::Json;
use axum::extract::{Request, State};
use plethora_core::ScoredLabel;
use plethora_system::ScoreKind;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::app::SharedApp;
use crate::body::read_json;
use crate::model::ServedModel;
use crate::problem::{Problem, ProblemBody};
use crate::ranking::{Choice, rank};

/// Texts to classify.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct TeiRequest {
    /// A text, or several.
    inputs: TeiInputs,
    /// The model's own scores instead of probabilities.
    #[serde(default)]
    raw_scores: bool,
    /// Labels per text; 10 if not given.
    #[schema(minimum = 1)]
    top_k: Option<usize>,
    /// Id of a model; the first if not given.
    model: Option<String>,
    /// Not looked at: long texts are always cut to what the model reads.
    #[serde(default, rename = "truncate")]
    _truncate: Option<bool>,
}

/// A text, or several.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
enum TeiInputs {
    /// One text.
    One(String),
    /// Several texts.
    Many(Vec<TeiInput>),
}

/// A text of several.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
enum TeiInput {
    /// The text.
    Text(String),
    /// The text in a list of its own.
    List(Vec<String>),
}

/// Labels of one text, or of several.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum TeiResponse {
    /// Of one text.
    One(Vec<TeiLabel>),
    /// Of several texts.
    Many(Vec<Vec<TeiLabel>>),
}

/// A label that was predicted.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TeiLabel {
    /// Its name.
    label: String,
    /// From 0 to 1.
    score: f32,
}

/// What answers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TeiInfo {
    /// Id of the first model.
    model_id: String,
    /// Checksum of its version.
    model_sha: String,
    /// The numbers it computes with, as far as clients need to know.
    model_dtype: &'static str,
    /// `classifier`, with empty tables: there may be a million labels, see `/v1/models/{id}/labels`.
    #[schema(value_type = Object)]
    model_type: Map<String, Value>,
    /// Documents that may wait.
    max_concurrent_requests: usize,
    /// Words of a batch.
    max_batch_tokens: usize,
    /// Documents of a batch.
    max_batch_requests: usize,
    /// Documents of a request.
    max_client_batch_size: usize,
    /// Long texts are cut.
    auto_truncate: bool,
    /// Version of the program.
    version: &'static str,
}

impl TeiInputs {
    fn into_texts(self) -> Result<(Vec<String>, bool), Problem> {
        let texts = match self {
            Self::One(text) => return Ok((vec![text], true)),
            Self::Many(texts) => texts,
        };
        let text = |input| match input {
            TeiInput::Text(text) => Ok(text),
            TeiInput::List(mut list) => match (list.pop(), list.is_empty()) {
                (Some(text), true) => Ok(text),
                _ => Err(Problem::invalid(
                    "inputs: expected lists of one text each; pairs of texts have no labels here",
                )),
            },
        };
        let texts: Result<Vec<String>, Problem> = texts.into_iter().map(text).collect();
        Ok((texts?, false))
    }
}

/// Ranks labels for texts. Of a list of texts each is ranked by itself: there are no pairs.
#[utoipa::path(
    post,
    path = "/predict",
    tag = "tei",
    request_body = TeiRequest,
    responses(
        (status = OK, body = TeiResponse),
        (status = "4XX", body = ProblemBody, content_type = "application/problem+json"),
        (status = "5XX", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn predict(
    State(app): State<SharedApp>,
    request: Request,
) -> Result<Json<TeiResponse>, Problem> {
    // Which model it is for is known only once it is read.
    let request: TeiRequest = read_json(request, &app.limits).await?;
    let model = match &request.model {
        Some(id) => app.model(id)?,
        None => app.models.first().current(),
    };
    let (texts, is_single) = request.inputs.into_texts()?;
    let choice = Choice {
        top_k: request.top_k,
        scores: if request.raw_scores {
            ScoreKind::Raw
        } else {
            ScoreKind::Prob
        },
        ..Choice::default()
    };
    let arrival = model.queue.arrival();
    let rankings = rank(&model, arrival, &app.limits, texts, &choice).await?;
    let mut named = rankings.iter().map(|ranking| labels(ranking, &model));
    Ok(Json(if is_single {
        TeiResponse::One(named.next().unwrap_or_default())
    } else {
        TeiResponse::Many(named.collect())
    }))
}

fn labels(ranking: &[ScoredLabel], model: &ServedModel) -> Vec<TeiLabel> {
    let label = |scored: &ScoredLabel| TeiLabel {
        label: model.labels.label(scored.label).name.clone(),
        score: scored.score,
    };
    ranking.iter().map(label).collect()
}

/// Tells what answers.
#[utoipa::path(get, path = "/info", tag = "tei", responses((status = OK, body = TeiInfo)))]
pub(super) async fn info(State(app): State<SharedApp>) -> Json<TeiInfo> {
    let first = app.models.first();
    let tables = serde_json::json!({"id2label": {}, "label2id": {}});
    Json(TeiInfo {
        model_id: first.id.clone(),
        model_sha: first.current().sha256.clone(),
        model_dtype: "float32",
        model_type: Map::from_iter([("classifier".to_owned(), tables)]),
        max_concurrent_requests: app.limits.max_queue_documents,
        max_batch_tokens: app.limits.max_batch_tokens,
        max_batch_requests: app.limits.max_batch_documents,
        max_client_batch_size: app.limits.max_documents,
        auto_truncate: true,
        version: env!("CARGO_PKG_VERSION"),
    })
}
