//! What Annif's clients and its `http` backend expect.

use axum::extract::{Request, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use plethora_core::ScoredLabel;
use plethora_core::corpus::LabelSpace;
use plethora_system::USUAL_TOP_K;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::SharedApp;
use crate::body::{PathOf, QueryOf, read_form, read_json};
use crate::model::ServedModel;
use crate::problem::{Problem, ProblemBody};
use crate::queue::{Arrival, Rankings};
use crate::ranking::{Choice, check_documents, rank};
use crate::served_models::Slot;
use crate::{Limits, timestamp};

/// What answers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct About {
    /// Name of the program.
    title: &'static str,
    /// Its version.
    version: &'static str,
}

/// All projects.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProjectList {
    /// One per model.
    projects: Vec<Project>,
}

/// A model as a project.
#[expect(clippy::struct_field_names, reason = "the names are Annif's")]
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Project {
    /// Id of the model.
    project_id: String,
    /// The same.
    name: String,
    /// `und`: models do not know their language.
    language: &'static str,
    /// The system.
    backend: Backend,
    /// Always true.
    is_trained: bool,
    /// When the model was saved, in ISO 8601, if the file system knows.
    #[schema(format = DateTime)]
    modification_time: Option<String>,
}

/// The system of a model.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Backend {
    /// Its name.
    backend_id: String,
}

/// A text to suggest subjects for.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct SuggestForm {
    /// The text.
    text: String,
    /// Most subjects; 10 if not given, and never more than the server gives.
    #[schema(minimum = 0)]
    limit: Option<usize>,
    /// Lowest score.
    #[schema(minimum = 0, maximum = 1)]
    threshold: Option<f32>,
    /// Not looked at: labels have one name.
    #[serde(default, rename = "language")]
    _language: Option<String>,
}

/// Which subjects are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SuggestQuery {
    /// Most subjects; 10 if not given, and never more than the server gives.
    #[param(minimum = 0)]
    limit: Option<usize>,
    /// Lowest score.
    #[param(minimum = 0, maximum = 1)]
    threshold: Option<f32>,
    /// Not looked at: labels have one name.
    #[serde(default, rename = "language")]
    #[param(rename = "language")]
    _language: Option<String>,
}

/// Texts to suggest subjects for.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct SuggestBatch {
    /// The texts.
    documents: Vec<BatchDocument>,
}

/// A text to suggest subjects for.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct BatchDocument {
    /// The text.
    text: String,
    /// Comes back with the subjects.
    document_id: Option<String>,
}

/// Subjects of a text.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Suggestions {
    /// The best first.
    results: Vec<Subject>,
}

/// Subjects of a text of a batch.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DocumentSuggestions {
    /// Id of the document, if it had one.
    document_id: Option<String>,
    /// The best first.
    results: Vec<Subject>,
}

/// A label as a subject.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Subject {
    /// Key of the label.
    uri: String,
    /// Its name.
    label: String,
    /// None.
    notation: Option<String>,
    /// From 0 to 1.
    score: f32,
}

impl Project {
    fn of(slot: &Slot) -> Self {
        let model = slot.current();
        Self {
            project_id: slot.id.clone(),
            name: slot.id.clone(),
            language: "und",
            backend: Backend {
                backend_id: model.details.system.clone(),
            },
            is_trained: true,
            modification_time: model.saved_at.and_then(timestamp::iso_8601),
        }
    }
}

fn subjects(ranking: &[ScoredLabel], labels: &LabelSpace) -> Vec<Subject> {
    let subject = |scored: &ScoredLabel| {
        let label = labels.label(scored.label);
        Subject {
            uri: label.key.clone(),
            label: label.name.clone(),
            notation: None,
            score: scored.score,
        }
    };
    ranking.iter().map(subject).collect()
}

/// Ranks as Annif does, where no subjects and no texts are no mistakes, and where a limit beyond the
/// server's own stands for all that it gives.
async fn ranked(
    model: &ServedModel,
    arrival: Arrival<'_>,
    limits: &Limits,
    texts: Vec<String>,
    (limit, threshold): (Option<usize>, Option<f32>),
) -> Result<Rankings, Problem> {
    let choice = Choice {
        // Annif's own limit holds with a threshold, too.
        top_k: Some(limit.unwrap_or(USUAL_TOP_K).clamp(1, limits.max_top_k)),
        threshold,
        ..Choice::default()
    };
    if limit == Some(0) || texts.is_empty() {
        choice.check(model, limits)?;
        check_documents(texts.len().max(1), limits)?;
        return Ok(vec![Vec::new(); texts.len()]);
    }
    rank(model, arrival, limits, texts, &choice).await
}

/// The addresses with a slash more or less, which Annif leads to the described ones.
pub(super) fn slashed_router() -> Router<SharedApp> {
    Router::new()
        .route("/v1", get(about))
        .route("/v1/projects/", get(projects))
        .route("/v1/projects/{project_id}/", get(project))
        .route("/v1/projects/{project_id}/suggest/", post(suggest))
        .route(
            "/v1/projects/{project_id}/suggest-batch/",
            post(suggest_batch),
        )
}

/// Tells what answers.
#[utoipa::path(get, path = "/v1/", tag = "annif", responses((status = OK, body = About)))]
pub(super) async fn about() -> Json<About> {
    Json(About {
        title: "Plethora",
        version: env!("CARGO_PKG_VERSION"),
    })
}

/// Lists the models as projects.
#[utoipa::path(get, path = "/v1/projects", tag = "annif", responses((status = OK, body = ProjectList)))]
pub(super) async fn projects(State(app): State<SharedApp>) -> Json<ProjectList> {
    Json(ProjectList {
        projects: app.models.slots().iter().map(Project::of).collect(),
    })
}

/// Tells of a model as a project.
#[utoipa::path(
    get,
    path = "/v1/projects/{project_id}",
    tag = "annif",
    params(("project_id" = String, Path, description = "Id of the model")),
    responses(
        (status = OK, body = Project),
        (status = "4XX", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn project(
    State(app): State<SharedApp>,
    PathOf(id): PathOf<String>,
) -> Result<Json<Project>, Problem> {
    Ok(Json(Project::of(app.slot(&id)?)))
}

/// Suggests subjects for a text.
#[utoipa::path(
    post,
    path = "/v1/projects/{project_id}/suggest",
    tag = "annif",
    params(("project_id" = String, Path, description = "Id of the model")),
    request_body(content = SuggestForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = OK, body = Suggestions),
        (status = "4XX", body = ProblemBody, content_type = "application/problem+json"),
        (status = "5XX", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn suggest(
    State(app): State<SharedApp>,
    PathOf(id): PathOf<String>,
    request: Request,
) -> Result<Json<Suggestions>, Problem> {
    let model = app.model(&id)?;
    let arrival = model.queue.arrival();
    let form: SuggestForm = read_form(request, &app.limits).await?;
    let wanted = (form.limit, form.threshold);
    let rankings = ranked(&model, arrival, &app.limits, vec![form.text], wanted).await?;
    let best = rankings.first().map_or(&[][..], Vec::as_slice);
    Ok(Json(Suggestions {
        results: subjects(best, &model.labels),
    }))
}

/// Suggests subjects for several texts.
#[utoipa::path(
    post,
    path = "/v1/projects/{project_id}/suggest-batch",
    tag = "annif",
    params(("project_id" = String, Path, description = "Id of the model"), SuggestQuery),
    request_body = SuggestBatch,
    responses(
        (status = OK, body = Vec<DocumentSuggestions>),
        (status = "4XX", body = ProblemBody, content_type = "application/problem+json"),
        (status = "5XX", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn suggest_batch(
    State(app): State<SharedApp>,
    PathOf(id): PathOf<String>,
    QueryOf(query): QueryOf<SuggestQuery>,
    request: Request,
) -> Result<Json<Vec<DocumentSuggestions>>, Problem> {
    let model = app.model(&id)?;
    let arrival = model.queue.arrival();
    let batch: SuggestBatch = read_json(request, &app.limits).await?;
    let documents = batch.documents.into_iter();
    let (ids, texts): (Vec<Option<String>>, Vec<String>) = documents
        .map(|document| (document.document_id, document.text))
        .unzip();
    let wanted = (query.limit, query.threshold);
    let rankings = ranked(&model, arrival, &app.limits, texts, wanted).await?;
    let suggestions = ids.into_iter().zip(&rankings);
    let suggestions = suggestions.map(|(document_id, ranking)| DocumentSuggestions {
        document_id,
        results: subjects(ranking, &model.labels),
    });
    Ok(Json(suggestions.collect()))
}
