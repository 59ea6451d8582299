//! The second protocol of `KServe`: texts as BYTES in, labels as BYTES and scores as FP32 out.

use axum::Json;
use axum::extract::{Request, State};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::app::SharedApp;
use crate::body::{PathOf, read_json};
use crate::model::ServedModel;
use crate::problem::{Problem, ProblemBody};
use crate::queue::Rankings;
use crate::ranking::{Choice, rank};

/// What answers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ServerMetadata {
    /// Name of the program.
    name: &'static str,
    /// Its version.
    version: &'static str,
    /// None.
    extensions: Vec<String>,
}

/// True.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Live {
    /// The server answers.
    live: bool,
}

/// True.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Ready {
    /// The models answer.
    ready: bool,
}

/// What a model takes and gives.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ModelMetadata {
    /// Id of the model.
    name: String,
    /// The versions that answer: one.
    versions: Vec<String>,
    /// Always `plethora`.
    platform: &'static str,
    /// Texts.
    inputs: Vec<TensorMetadata>,
    /// Labels and scores.
    outputs: Vec<TensorMetadata>,
}

/// A tensor; -1 stands for any length.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TensorMetadata {
    /// Its name.
    name: &'static str,
    /// What it holds.
    datatype: &'static str,
    /// Its lengths.
    shape: Vec<i64>,
}

/// Texts to rank labels for.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct InferRequest {
    /// Comes back with the answer.
    id: Option<String>,
    /// One tensor of texts.
    #[schema(min_items = 1, max_items = 1)]
    inputs: Vec<InputTensor>,
    /// `top_k` and `threshold`.
    #[serde(default)]
    parameters: InferParameters,
}

/// What is wanted.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(crate) struct InferParameters {
    /// Labels per text at most. If not given: 10, and with `threshold` all that reach it, up to the
    /// server's own limit.
    #[schema(minimum = 1)]
    top_k: Option<usize>,
    /// Lowest score.
    #[schema(minimum = 0, maximum = 1)]
    threshold: Option<f32>,
}

/// A tensor of texts.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct InputTensor {
    /// Any name.
    #[serde(rename = "name")]
    _name: String,
    /// Its lengths, of which the product is the number of texts.
    shape: Vec<u64>,
    /// `BYTES`.
    datatype: String,
    /// The texts, in lists or not.
    #[schema(value_type = Vec<String>)]
    data: Option<Value>,
}

/// Labels and scores.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InferResponse {
    /// Id of the model.
    model_name: String,
    /// Checksum of its version.
    model_version: String,
    /// Id of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// `labels`, `keys` and `scores`, a row per text; short rows are padded with empty labels and
    /// 0.
    outputs: Vec<OutputTensor>,
}

/// A tensor of labels or scores.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OutputTensor {
    /// Its name.
    name: &'static str,
    /// Texts, and labels per text.
    shape: [usize; 2],
    /// What it holds.
    datatype: &'static str,
    /// Row behind row.
    data: TensorData,
}

/// What a tensor holds.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
enum TensorData {
    /// BYTES.
    Texts(Vec<String>),
    /// FP32.
    Numbers(Vec<f32>),
}

impl InferRequest {
    fn into_texts(self) -> Result<Vec<String>, Problem> {
        let [input] = <[InputTensor; 1]>::try_from(self.inputs)
            .map_err(|_| Problem::invalid("inputs: expected one tensor of texts"))?;
        if input.datatype != "BYTES" {
            let detail = format!("inputs: expected BYTES, found `{}`", input.datatype);
            return Err(Problem::invalid(detail));
        }
        let Some(data) = input.data else {
            let detail = "inputs: expected `data` in JSON; binary data is not taken";
            return Err(Problem::invalid(detail));
        };
        let mut texts = Vec::new();
        flatten(data, &mut texts)?;
        let product = input
            .shape
            .iter()
            .try_fold(1_u64, |all, &one| all.checked_mul(one));
        if product != Some(texts.len() as u64) {
            let detail = format!(
                "inputs: shape {:?} does not fit {} texts",
                input.shape,
                texts.len()
            );
            return Err(Problem::invalid(detail));
        }
        Ok(texts)
    }
}

/// Takes texts out of lists; the parser has bounded how deep they go.
fn flatten(data: Value, texts: &mut Vec<String>) -> Result<(), Problem> {
    match data {
        Value::String(text) => texts.push(text),
        Value::Array(values) => {
            for value in values {
                flatten(value, texts)?;
            }
        }
        _ => return Err(Problem::invalid("inputs: expected texts in `data`")),
    }
    Ok(())
}

fn outputs(rankings: &Rankings, model: &ServedModel) -> Vec<OutputTensor> {
    let width = rankings.iter().map(Vec::len).max().unwrap_or(0);
    let shape = [rankings.len(), width];
    let cells = |ranking| {
        let ranking: &Vec<plethora_core::ScoredLabel> = ranking;
        (0..width).map(|column| ranking.get(column).copied())
    };
    let all: Vec<_> = rankings.iter().flat_map(cells).collect();
    let label = |name: fn(&plethora_core::corpus::Label) -> &str| -> Vec<String> {
        let text = |scored: &Option<plethora_core::ScoredLabel>| {
            scored.map_or("", |scored| name(model.labels.label(scored.label)))
        };
        all.iter().map(|scored| text(scored).to_owned()).collect()
    };
    let scores = all
        .iter()
        .map(|scored| scored.map_or(0.0, |scored| scored.score));
    let tensor = |name, datatype, data| OutputTensor {
        name,
        shape,
        datatype,
        data,
    };
    vec![
        tensor(
            "labels",
            "BYTES",
            TensorData::Texts(label(|label| &label.name)),
        ),
        tensor(
            "keys",
            "BYTES",
            TensorData::Texts(label(|label| &label.key)),
        ),
        tensor("scores", "FP32", TensorData::Numbers(scores.collect())),
    ]
}

/// Tells what answers.
#[utoipa::path(get, path = "/v2", tag = "kserve", responses((status = OK, body = ServerMetadata)))]
pub(super) async fn server() -> Json<ServerMetadata> {
    Json(ServerMetadata {
        name: "plethora",
        version: env!("CARGO_PKG_VERSION"),
        extensions: Vec::new(),
    })
}

/// The process answers.
#[utoipa::path(get, path = "/v2/health/live", tag = "kserve", responses((status = OK, body = Live)))]
pub(super) async fn live() -> Json<Live> {
    Json(Live { live: true })
}

/// All models answer.
#[utoipa::path(get, path = "/v2/health/ready", tag = "kserve", responses((status = OK, body = Ready)))]
pub(super) async fn ready() -> Json<Ready> {
    Json(Ready { ready: true })
}

/// Tells what a model takes and gives.
#[utoipa::path(
    get,
    path = "/v2/models/{model_name}",
    tag = "kserve",
    params(("model_name" = String, Path, description = "Id of the model")),
    responses(
        (status = OK, body = ModelMetadata),
        (status = "4XX", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn model(
    State(app): State<SharedApp>,
    PathOf(id): PathOf<String>,
) -> Result<Json<ModelMetadata>, Problem> {
    let model = app.model(&id)?;
    let tensor = |name, datatype, shape: &[i64]| TensorMetadata {
        name,
        datatype,
        shape: shape.to_vec(),
    };
    Ok(Json(ModelMetadata {
        name: id,
        versions: vec![model.sha256.clone()],
        platform: "plethora",
        inputs: vec![tensor("text", "BYTES", &[-1])],
        outputs: vec![
            tensor("labels", "BYTES", &[-1, -1]),
            tensor("keys", "BYTES", &[-1, -1]),
            tensor("scores", "FP32", &[-1, -1]),
        ],
    }))
}

/// The model answers.
#[utoipa::path(
    get,
    path = "/v2/models/{model_name}/ready",
    tag = "kserve",
    params(("model_name" = String, Path, description = "Id of the model")),
    responses(
        (status = OK, body = Ready),
        (status = "4XX", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn model_ready(
    State(app): State<SharedApp>,
    PathOf(id): PathOf<String>,
) -> Result<Json<Ready>, Problem> {
    app.slot(&id)?;
    Ok(Json(Ready { ready: true }))
}

/// Ranks labels for texts.
#[utoipa::path(
    post,
    path = "/v2/models/{model_name}/infer",
    tag = "kserve",
    params(("model_name" = String, Path, description = "Id of the model")),
    request_body = InferRequest,
    responses(
        (status = OK, body = InferResponse),
        (status = "4XX", body = ProblemBody, content_type = "application/problem+json"),
        (status = "5XX", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn infer(
    State(app): State<SharedApp>,
    PathOf(id): PathOf<String>,
    request: Request,
) -> Result<Json<InferResponse>, Problem> {
    let model = app.model(&id)?;
    let arrival = model.queue.arrival();
    let request: InferRequest = read_json(request, &app.limits).await?;
    let choice = Choice {
        top_k: request.parameters.top_k,
        threshold: request.parameters.threshold,
        ..Choice::default()
    };
    let request_id = request.id.clone();
    let texts = request.into_texts()?;
    let rankings = rank(&model, arrival, &app.limits, texts, &choice).await?;
    Ok(Json(InferResponse {
        model_name: id,
        model_version: model.sha256.clone(),
        id: request_id,
        outputs: outputs(&rankings, &model),
    }))
}
