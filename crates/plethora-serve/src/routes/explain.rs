//! Why labels have their scores, in the form of `plethora explain --format json`.

use axum::Json;
use axum::extract::{Request, State};
use plethora_core::LabelId;
use plethora_core::corpus::LabelSpace;
use plethora_predict::Explanation;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use utoipa::ToSchema;

use crate::app::SharedApp;
use crate::body::{PathOf, read_json};
use crate::problem::{Problem, ProblemBody};
use crate::queue::{ExplainWork, Job};
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
    /// One a label.
    explanations: Vec<LabelExplanation>,
}

/// Why a label has its score.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LabelExplanation {
    /// Its key.
    label: String,
    /// Its number in this version of the model.
    label_id: u32,
    /// Its name.
    name: String,
    /// The score that ranking gives to it.
    score: f32,
    /// The score that a network gives to it before votes are mixed in, where some are.
    #[serde(skip_serializing_if = "Option::is_none")]
    network_score: Option<f32>,
    /// What weights mean: `attention`, `contributions` or `neighbours`.
    method: &'static str,
    /// The model of an ensemble that the weights come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<ExplainingMember>,
    /// Weighted places of the text in their order; those of several words overlap with others.
    spans: Vec<Span>,
    /// The terms, strongest first; empty for systems without terms.
    terms: Vec<Term>,
    /// Training documents that voted, of systems that ask some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    neighbours: Vec<Neighbour>,
}

/// A training document that is like the text.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Neighbour {
    /// What the training corpus calls it.
    id: String,
    /// The beginning of its text.
    title: String,
    /// How alike the two are, above 0 and up to 1.
    similarity: f32,
    /// Its share of the votes.
    share: f32,
    /// Whether it votes for the label.
    has_label: bool,
    /// Names of the labels that it votes for.
    labels: Vec<String>,
}

/// The model of an ensemble that explains.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExplainingMember {
    /// Its folder in that of the ensemble.
    name: String,
    /// Its system.
    system: String,
}

/// A place of the text and what it weighs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Span {
    /// First Unicode character, so that `text[start:end]` of Python is the span.
    start: usize,
    /// The character behind the last.
    end: usize,
    /// First byte of UTF-8.
    start_byte: usize,
    /// The byte behind the last.
    end_byte: usize,
    /// The place itself.
    text: String,
    /// Below 0 where it speaks against the label.
    weight: f32,
}

/// A term and what it adds to the classifier of a label.
#[expect(
    clippy::struct_field_names,
    reason = "the names are those of `explain`"
)]
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Term {
    /// The term, or `(bias)`.
    term: String,
    /// Its value in the text.
    value: f32,
    /// Its weight in the classifier.
    weight: f32,
    /// Value times weight.
    contribution: f32,
}

impl LabelExplanation {
    fn new(found: Explanation, text: &str, starts: &[usize], labels: &LabelSpace) -> Self {
        let label = labels.label(found.label);
        let character = |byte: usize| starts.partition_point(|&start| start < byte);
        let spans = found.spans.iter().map(|span| Span {
            start: character(span.start),
            end: character(span.end),
            start_byte: span.start,
            end_byte: span.end,
            text: text[span.start..span.end].to_owned(),
            weight: span.weight,
        });
        let name_of = |&id: &LabelId| labels.label(id).name.clone();
        let neighbours = found.neighbours.into_iter().map(|neighbour| Neighbour {
            has_label: neighbour.labels.contains(&found.label),
            labels: neighbour.labels.iter().map(name_of).collect(),
            id: neighbour.id,
            title: neighbour.title,
            similarity: neighbour.similarity,
            share: neighbour.share,
        });
        Self {
            neighbours: neighbours.collect(),
            label: label.key.clone(),
            label_id: found.label.0,
            name: label.name.clone(),
            score: found.score,
            network_score: found.network_score,
            method: found.method.as_str(),
            spans: spans.collect(),
            member: found.member.map(|member| ExplainingMember {
                name: member.name,
                system: member.system,
            }),
            terms: (found.terms.into_iter())
                .map(|term| Term {
                    term: term.term,
                    value: term.value,
                    weight: term.weight,
                    contribution: term.contribution,
                })
                .collect(),
        }
    }
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
) -> Result<Json<ExplainResponse>, Problem> {
    let model = app.model(&id)?;
    let arrival = model.queue.arrival();
    let request: ExplainRequest = read_json(request, &app.limits).await?;
    let top_k = request.top_k.unwrap_or(DEFAULT_TOP_K);
    if !(1..=MAX_LABELS).contains(&top_k) || request.labels.len() > MAX_LABELS {
        let detail = format!("top_k, labels: expected 1 to {MAX_LABELS} labels");
        return Err(Problem::invalid(detail));
    }
    if request.text.trim().is_empty() {
        return Err(Problem::invalid("text: expected a text, found none"));
    }
    let mut labels = Vec::new();
    for wanted in &request.labels {
        let label = find_label(&model.labels, wanted)?;
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    let (reply, answer) = oneshot::channel();
    arrival.submit(Job::explain(ExplainWork {
        text: request.text.clone(),
        labels,
        top_k,
        reply,
    }))?;
    let found = answered(answer, app.limits.request_timeout).await?;
    let text = &request.text;
    let starts: Vec<usize> = text.char_indices().map(|(byte, _)| byte).collect();
    Ok(Json(ExplainResponse {
        model: id,
        system: model.details.system.clone(),
        explanations: (found.into_iter())
            .map(|found| LabelExplanation::new(found, text, &starts, &model.labels))
            .collect(),
    }))
}

fn find_label(labels: &LabelSpace, wanted: &str) -> Result<LabelId, Problem> {
    if let Some(id) = labels.id(wanted) {
        return Ok(id);
    }
    let named = (0..).zip(labels.labels());
    let mut named = named.filter(|(_, label)| label.name == wanted);
    match (named.next(), named.next()) {
        (Some((id, _)), None) => Ok(LabelId(id)),
        (None, _) => Err(Problem::invalid(format!(
            "labels: unknown label `{wanted}`"
        ))),
        (Some(_), Some(_)) => Err(Problem::invalid(format!(
            "labels: `{wanted}` is the name of several labels; give the key of one"
        ))),
    }
}
