//! What is served.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::SharedApp;
use crate::body::PathOf;
use crate::problem::{Problem, ProblemBody};
use crate::served_models::Slot;

/// All models.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ModelList {
    /// `list`, for clients of `OpenAI`, which read `data`.
    object: &'static str,
    /// The models as these clients know them.
    data: Vec<OpenAiModel>,
    /// In the order in which the server was told of them; the first answers where none is named.
    models: Vec<ModelInfo>,
}

/// A model as clients of `OpenAI` know it.
#[derive(Debug, Serialize, ToSchema)]
struct OpenAiModel {
    id: String,
    /// `model`.
    object: &'static str,
    /// When this version was opened, in seconds since 1970.
    created: u64,
    /// The system that was trained.
    owned_by: String,
}

/// A model.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ModelInfo {
    /// What stands in addresses.
    id: String,
    /// `model`, for clients of `OpenAI`.
    object: &'static str,
    /// As `loaded_at`, for these clients.
    created: u64,
    /// As `system`, for these clients.
    owned_by: String,
    /// The system that was trained.
    system: String,
    /// `ready`; `stale` where a newer version is in the folder that cannot be opened.
    status: &'static str,
    /// Why the newer version cannot be opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Number of labels.
    n_labels: u64,
    /// Number of documents it was trained on.
    n_documents: u64,
    /// Fields that the training texts came from; their values make one text, a line each.
    text_fields: Vec<String>,
    /// True if scores are probabilities.
    is_calibrated: bool,
    /// True if there are thresholds for `tuned`.
    has_thresholds: bool,
    /// Checksum of the version that answers.
    sha256: String,
    /// When this version was opened, in seconds since 1970.
    loaded_at: u64,
    /// True if the server keeps feedback.
    takes_feedback: bool,
}

impl ModelInfo {
    fn of(slot: &Slot, app: &SharedApp) -> Self {
        let model = slot.current();
        let failure = slot.failure();
        Self {
            id: slot.id.clone(),
            object: "model",
            created: model.loaded_at,
            owned_by: model.details.system.clone(),
            system: model.details.system.clone(),
            status: if failure.is_some() { "stale" } else { "ready" },
            error: failure.map(|failure| failure.message),
            n_labels: model.details.num_labels,
            n_documents: model.details.num_documents,
            text_fields: model.details.text_fields.clone(),
            is_calibrated: model.is_calibrated,
            has_thresholds: model.thresholds.is_some(),
            sha256: model.sha256.clone(),
            loaded_at: model.loaded_at,
            takes_feedback: app.feedback.is_some(),
        }
    }
}

/// Lists the models.
#[utoipa::path(get, path = "/v1/models", tag = "models", responses(
    (status = OK, body = ModelList),
    (status = UNAUTHORIZED, body = ProblemBody, content_type = "application/problem+json"),
))]
pub(super) async fn list(State(app): State<SharedApp>) -> Json<ModelList> {
    let slots = app.models.slots().iter();
    let models: Vec<ModelInfo> = slots.map(|slot| ModelInfo::of(slot, &app)).collect();
    let known = |model: &ModelInfo| OpenAiModel {
        id: model.id.clone(),
        object: model.object,
        created: model.created,
        owned_by: model.owned_by.clone(),
    };
    Json(ModelList {
        object: "list",
        data: models.iter().map(known).collect(),
        models,
    })
}

/// Tells of a model.
#[utoipa::path(
    get,
    path = "/v1/models/{id}",
    tag = "models",
    params(("id" = String, Path, description = "Id of the model")),
    responses(
        (status = OK, body = ModelInfo),
        (status = "4XX", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn one(
    State(app): State<SharedApp>,
    PathOf(id): PathOf<String>,
) -> Result<Json<ModelInfo>, Problem> {
    Ok(Json(ModelInfo::of(app.slot(&id)?, &app)))
}
