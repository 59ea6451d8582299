//! What Label Studio expects of a model that it asks for suggestions, below an address of its own
//! because `/predict` and `/metrics` belong to others.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::feedback::{FeedbackRequest, keep};
use crate::app::SharedApp;
use crate::body::read_json;
use crate::label_config::LabelConfig;
use crate::model::ServedModel;
use crate::problem::{Problem, ProblemBody};
use crate::ranking::{Choice, rank};

/// What an interface without tags of its own would have.
const USUAL: &str = "<Text name=\"text\" value=\"$text\"/>\
                     <Choices name=\"labels\" toName=\"text\" choice=\"multiple\"/>";

/// How the model is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StudioHealth {
    /// Always `UP`.
    status: &'static str,
    /// Id of the first model.
    model_class: String,
}

/// A project that is connected.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct SetupRequest {
    /// The labelling interface.
    schema: Option<String>,
    /// Settings of the connection: `{"model": "ID"}` chooses a model.
    #[schema(value_type = Option<Object>)]
    extra_params: Option<Value>,
}

/// Which version answers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SetupResponse {
    /// Id and checksum of the model.
    model_version: String,
}

/// Tasks to suggest labels for.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct StudioRequest {
    /// The tasks.
    tasks: Vec<Task>,
    /// The labelling interface.
    label_config: Option<String>,
    /// `top_k`, `threshold` and `model`.
    #[schema(value_type = Option<Object>)]
    params: Option<StudioParams>,
}

/// A task.
#[derive(Debug, Deserialize, ToSchema)]
struct Task {
    /// Its fields.
    #[schema(value_type = Object)]
    data: Map<String, Value>,
}

/// What to suggest.
#[derive(Debug, Default, Deserialize)]
struct StudioParams {
    top_k: Option<usize>,
    threshold: Option<f32>,
    model: Option<String>,
}

/// Suggestions.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StudioResponse {
    /// One per task.
    results: Vec<Suggestion>,
    /// Id and checksum of the model.
    model_version: String,
}

/// The suggestion for a task.
#[derive(Debug, Serialize, ToSchema)]
struct Suggestion {
    /// Regions, of which there is one with all labels.
    #[schema(value_type = Vec<Object>)]
    result: Vec<Value>,
    /// The score of the best label.
    score: f32,
    /// Id and checksum of the model.
    model_version: String,
}

/// True while the server answers.
#[utoipa::path(get, path = "/label-studio/health", tag = "label-studio",
    responses((status = OK, body = StudioHealth)))]
pub(super) async fn health(State(app): State<SharedApp>) -> Json<StudioHealth> {
    Json(StudioHealth {
        status: "UP",
        model_class: app.models.first().id.clone(),
    })
}

/// Connects a project: its labelling interface must have choices for a text.
#[utoipa::path(post, path = "/label-studio/setup", tag = "label-studio", request_body = SetupRequest,
    responses(
        (status = OK, body = SetupResponse),
        (status = "4XX", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub(super) async fn setup(
    State(app): State<SharedApp>,
    request: Request,
) -> Result<Json<SetupResponse>, Problem> {
    let request: SetupRequest = read_json(request, &app.limits).await?;
    if let Some(schema) = request
        .schema
        .as_deref()
        .filter(|schema| !schema.trim().is_empty())
    {
        LabelConfig::parse(schema).map_err(Problem::invalid)?;
    }
    // Label Studio sends text of JSON, or an object.
    let params = match request.extra_params {
        Some(Value::String(text)) => serde_json::from_str(&text).unwrap_or_default(),
        other => other.unwrap_or_default(),
    };
    let id = id_of(&app, params["model"].as_str());
    let model = app.model(&id)?;
    Ok(Json(SetupResponse {
        model_version: version(&id, &model),
    }))
}

/// Suggests labels for tasks.
#[utoipa::path(post, path = "/label-studio/predict", tag = "label-studio", request_body = StudioRequest,
    responses(
        (status = OK, body = StudioResponse),
        (status = "4XX", body = ProblemBody, content_type = "application/problem+json"),
        (status = "5XX", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub(super) async fn predict(
    State(app): State<SharedApp>,
    request: Request,
) -> Result<Json<StudioResponse>, Problem> {
    let request: StudioRequest = read_json(request, &app.limits).await?;
    let config = request.label_config.as_deref().unwrap_or_default();
    let config = if config.trim().is_empty() {
        USUAL
    } else {
        config
    };
    let config = LabelConfig::parse(config).map_err(Problem::invalid)?;
    let params = request.params.unwrap_or_default();
    let id = id_of(&app, params.model.as_deref());
    let model = app.model(&id)?;
    let mut texts = Vec::new();
    for (number, task) in request.tasks.iter().enumerate() {
        texts.push(text_of(&task.data, &config, &model).ok_or_else(|| {
            let field = &config.field;
            Problem::invalid(format!("tasks[{number}]: expected a text in `{field}`"))
        })?);
    }
    let choice = Choice {
        top_k: if config.is_single {
            Some(1)
        } else {
            params.top_k
        },
        threshold: params.threshold,
        ..Choice::default()
    };
    let arrival = model.queue.arrival();
    let rankings = rank(&model, arrival, &app.limits, texts, &choice).await?;
    let model_version = version(&id, &model);
    let results = rankings.iter().map(|ranking| {
        let name = |label| model.labels.label(label).name.as_str();
        let names = ranking.iter().map(|scored| name(scored.label));
        let value = match config.kind {
            // A path from the top for each label; ours are flat.
            "taxonomy" => json!({"taxonomy": names.map(|name| [name]).collect::<Vec<_>>()}),
            _ => json!({"choices": names.collect::<Vec<_>>()}),
        };
        let score = ranking.first().map_or(0.0, |scored| scored.score);
        Suggestion {
            result: vec![json!({
                "from_name": config.from_name, "to_name": config.to_name, "type": config.kind,
                "value": value, "score": score,
            })],
            score,
            model_version: model_version.clone(),
        }
    });
    Ok(Json(StudioResponse {
        results: results.collect(),
        model_version: version(&id, &model),
    }))
}

/// Keeps what people have chosen as feedback for the next training, where the server has a file for it.
#[utoipa::path(post, path = "/label-studio/webhook", tag = "label-studio", request_body = Object,
    responses(
        (status = CREATED, body = Object),
        (status = "4XX", body = ProblemBody, content_type = "application/problem+json"),
        (status = "5XX", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub(super) async fn webhook(
    State(app): State<SharedApp>,
    request: Request,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let event: Value = read_json(request, &app.limits).await?;
    let is_annotation = matches!(
        event["action"].as_str(),
        Some("ANNOTATION_CREATED" | "ANNOTATION_UPDATED")
    );
    if !is_annotation || app.feedback.is_none() {
        return Ok((StatusCode::CREATED, Json(json!({"status": "ignored"}))));
    }
    let config = event["project"]["label_config"].as_str().unwrap_or(USUAL);
    let config = LabelConfig::parse(config).map_err(Problem::invalid)?;
    let id = id_of(&app, None);
    let model = app.model(&id)?;
    let data = event["task"]["data"].as_object();
    let text = data.and_then(|data| text_of(data, &config, &model));
    let text = text
        .ok_or_else(|| Problem::invalid(format!("task: expected a text in `{}`", config.field)))?;
    let chosen = chosen(&event["annotation"]["result"], &config, &model);
    if chosen.is_empty() {
        return Ok((StatusCode::CREATED, Json(json!({"status": "ignored"}))));
    }
    let task = event["task"]["id"]
        .as_i64()
        .map(|number| number.to_string());
    let (status, Json(stored)) =
        keep(&app, &id, FeedbackRequest::chosen(task, text, chosen)).await?;
    Ok((status, Json(json!(stored))))
}

/// Keys of the labels that somebody has chosen; names that the model does not know stay as they are.
fn chosen(result: &Value, config: &LabelConfig, model: &ServedModel) -> Vec<String> {
    let regions = result.as_array().map(Vec::as_slice).unwrap_or_default();
    let own = regions
        .iter()
        .filter(|region| region["from_name"] == config.from_name.as_str());
    let values = own
        .filter_map(|region| region["value"][config.kind].as_array())
        .flatten();
    let name = |value: &Value| -> Option<String> {
        // The label of a taxonomy is the end of its path.
        let last = value.as_array().map_or(Some(value), |path| path.last());
        last?.as_str().map(str::to_owned)
    };
    let labels = model.labels.labels();
    let key = |name: String| {
        let known = labels
            .iter()
            .find(|label| label.name == name || label.key == name);
        known.map_or(name, |label| label.key.clone())
    };
    values.filter_map(name).map(key).collect()
}

/// The text of a task: the field of the interface, or those that the model was trained on.
fn text_of(data: &Map<String, Value>, config: &LabelConfig, model: &ServedModel) -> Option<String> {
    if let Some(text) = data.get(&config.field) {
        return text.as_str().map(str::to_owned);
    }
    let fields = model.details.text_fields.iter();
    let texts: Vec<&str> = fields
        .filter_map(|field| data.get(field)?.as_str())
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn id_of(app: &SharedApp, asked: Option<&str>) -> String {
    asked.map_or_else(|| app.models.first().id.clone(), str::to_owned)
}

fn version(id: &str, model: &ServedModel) -> String {
    let short = model.sha256.get(..12).unwrap_or(&model.sha256);
    format!("{id}-{short}")
}
