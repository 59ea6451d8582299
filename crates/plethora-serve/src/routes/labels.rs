//! Finding labels on the server: a million of them are too many for a page.

use axum::Json;
use axum::extract::State;
use plethora_core::LabelId;
use plethora_core::corpus::LabelSpace;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::{SharedApp, known_label};
use crate::body::{PathOf, QueryOf};
use crate::problem::{Problem, ProblemBody};

/// Labels of a page where a request does not say.
const DEFAULT_LIMIT: usize = 20;

/// Most labels of a page.
const MAX_LIMIT: usize = 1000;

/// Longest text that is searched for, in bytes.
const MAX_QUERY_BYTES: usize = 1000;

/// Broader labels of broader labels are followed so far; a vocabulary may go round in circles.
const MAX_LEVELS: usize = 20;

/// Most labels of a level.
const MAX_LEVEL_LABELS: usize = 100;

/// What to look for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LabelQuery {
    /// Part of a name, another name or a key, in any case; all labels if not given.
    #[serde(default)]
    q: String,
    /// Labels to leave out at the start.
    #[serde(default)]
    offset: usize,
    /// Most labels to give; 20 if not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

/// A part of the labels that were found.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LabelPage {
    /// Number of labels that were found.
    total: usize,
    /// Labels that were left out at the start.
    offset: usize,
    /// Whole names first, then starts of names, starts of words and the rest; in each, those of most
    /// documents first.
    labels: Vec<LabelInfo>,
}

/// A label.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LabelInfo {
    /// Its number in this version of the model.
    label_id: u32,
    /// Its key.
    key: String,
    /// Its name.
    label: String,
    /// Other names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    alternatives: Vec<String>,
    /// Keys of broader labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parents: Vec<String>,
    /// Training documents that have it.
    train_count: u32,
}

/// A label and where it stands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LabelPlace {
    /// The label.
    #[serde(flatten)]
    label: LabelInfo,
    /// Broader labels, level by level.
    broader: Vec<Vec<Neighbour>>,
    /// Labels right below it, at most 100.
    narrower: Vec<Neighbour>,
}

/// A broader or narrower label.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Neighbour {
    /// Its key.
    key: String,
    /// Its name; the key where the model does not know it.
    label: String,
    /// Its number; none where the model does not know it.
    label_id: Option<u32>,
}

impl LabelInfo {
    fn new(id: LabelId, labels: &LabelSpace) -> Self {
        let label = labels.label(id);
        Self {
            label_id: id.0,
            key: label.key.clone(),
            label: label.name.clone(),
            alternatives: label.alternatives.clone(),
            parents: label.parents.clone(),
            train_count: labels.train_counts()[id.index()],
        }
    }
}

impl LabelPlace {
    fn new(id: LabelId, labels: &LabelSpace) -> Self {
        let own = &labels.label(id).key;
        let below = (0..).zip(labels.labels());
        let below = below.filter(|(_, label)| label.parents.contains(own));
        Self {
            label: LabelInfo::new(id, labels),
            broader: levels_above(id, labels),
            narrower: below
                .take(MAX_LEVEL_LABELS)
                .map(|(id, label)| Neighbour {
                    key: label.key.clone(),
                    label: label.name.clone(),
                    label_id: Some(id),
                })
                .collect(),
        }
    }
}

fn levels_above(id: LabelId, labels: &LabelSpace) -> Vec<Vec<Neighbour>> {
    let mut seen = vec![labels.label(id).key.as_str()];
    let mut level = vec![id];
    let mut levels = Vec::new();
    while !level.is_empty() && levels.len() < MAX_LEVELS {
        let mut above = Vec::new();
        let mut next = Vec::new();
        let parents = level.iter().flat_map(|&id| &labels.label(id).parents);
        for key in parents.take(MAX_LEVEL_LABELS) {
            if seen.contains(&key.as_str()) {
                continue;
            }
            seen.push(key);
            let known = labels.id(key);
            next.extend(known);
            above.push(Neighbour {
                key: key.clone(),
                label: known.map_or(key, |id| &labels.label(id).name).clone(),
                label_id: known.map(|id| id.0),
            });
        }
        if !above.is_empty() {
            levels.push(above);
        }
        level = next;
    }
    levels
}

/// Finds labels by a part of their name.
#[utoipa::path(
    get,
    path = "/v1/models/{id}/labels",
    tag = "models",
    params(("id" = String, Path, description = "Id of the model"), LabelQuery),
    responses(
        (status = OK, body = LabelPage),
        (status = "4XX", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn search(
    State(app): State<SharedApp>,
    PathOf(id): PathOf<String>,
    QueryOf(query): QueryOf<LabelQuery>,
) -> Result<Json<LabelPage>, Problem> {
    let model = app.model(&id)?;
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        let detail = format!("limit: expected 1 to {MAX_LIMIT}, found {limit}");
        return Err(Problem::invalid(detail));
    }
    if query.q.len() > MAX_QUERY_BYTES {
        let detail = format!("q: expected at most {MAX_QUERY_BYTES} bytes");
        return Err(Problem::invalid(detail));
    }
    blocking(move || {
        let labels = &model.labels;
        let counts = labels.train_counts();
        let found = (model.index()).search(&query.q, counts, query.offset, limit);
        LabelPage {
            total: found.total,
            offset: query.offset,
            labels: (found.labels.into_iter())
                .map(|id| LabelInfo::new(id, labels))
                .collect(),
        }
    })
    .await
}

/// Tells of a label, and which labels are above it and below.
#[utoipa::path(
    get,
    path = "/v1/models/{id}/labels/{label_id}",
    tag = "models",
    params(
        ("id" = String, Path, description = "Id of the model"),
        ("label_id" = u32, Path, description = "Number of the label in this version of the model"),
    ),
    responses(
        (status = OK, body = LabelPlace),
        (status = "4XX", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(super) async fn one(
    State(app): State<SharedApp>,
    PathOf((id, number)): PathOf<(String, String)>,
) -> Result<Json<LabelPlace>, Problem> {
    let model = app.model(&id)?;
    let number: u32 = number.parse().map_err(|_| {
        Problem::not_found(format!("expected the number of a label, found `{number}`"))
    })?;
    let label = known_label(&model, number)?;
    blocking(move || LabelPlace::new(label, &model.labels)).await
}

/// Looks through all labels where that holds up no other request.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Json<T>, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map(Json).map_err(|_| Problem::internal())
}

#[cfg(test)]
mod tests {
    use plethora_core::corpus::Label;

    use super::*;

    #[test]
    fn circles_and_unknown_labels_end_the_way_up() {
        let label = |key: &str, parents: &[&str]| Label {
            key: key.into(),
            name: key.to_uppercase(),
            alternatives: Vec::new(),
            parents: parents.iter().map(ToString::to_string).collect(),
        };
        let labels = vec![
            label("a", &["b", "c"]),
            label("b", &["d"]),
            label("c", &["a", "lost"]),
            label("d", &["b"]),
        ];
        let space = LabelSpace::new(labels, vec![1; 4]);
        let place = LabelPlace::new(LabelId(0), &space);
        let names = |level: &Vec<Neighbour>| -> Vec<String> {
            level.iter().map(|found| found.label.clone()).collect()
        };
        let above: Vec<Vec<String>> = place.broader.iter().map(names).collect();
        assert_eq!(above, [vec!["B", "C"], vec!["D", "lost"]]);
        assert_eq!(names(&place.narrower), ["C"]);
    }
}
