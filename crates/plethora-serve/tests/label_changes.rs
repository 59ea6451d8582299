//! Labels that people miss on the page, from their feedback to a model that knows them, while it is served.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod support;

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use plethora_core::NoProgress;
use plethora_core::corpus::ReadOptions;
use plethora_jobs::Session;
use plethora_jobs::labels::LabelEditJob;
use plethora_jobs::training::Corpus;
use serde_json::json;
use support::training::{catalogue, train};
use support::{config, eventually, source, start_with, systems};

#[test]
fn a_label_that_was_missing_is_added_by_its_feedback_and_served() {
    let desk = tempfile::tempdir().unwrap();
    let (served, feedback) = (desk.path().join("m"), desk.path().join("feedback.jsonl"));
    train("knn", &catalogue(80), &served);
    let mut config = config();
    config.reload_interval = Duration::from_millis(50);
    config.feedback = Some(feedback.clone());
    let (_server, client) = start_with(&config, &[source("m", &served)]);
    // What the page sends for "Add as a new label": the name that was typed serves as the key.
    let text = catalogue(81)[80].text().unwrap().to_owned();
    let body = json!({"text": text, "missing": ["Tide mills"]});
    let answer = client.post("/v1/models/m/feedback", &body);
    assert_eq!(answer.status, 201, "{}", answer.body);

    let wider = desk.path().join("wider");
    let job = LabelEditJob {
        registry: systems(),
        model: served.clone(),
        added: None,
        documents: Some(Corpus::of_file(feedback, ReadOptions::default())),
        retired: None,
        output: wider.clone(),
        replaces: false,
    };
    let edited = job.run(&Session::new(Arc::new(NoProgress))).unwrap();
    assert_eq!((edited.num_new, edited.num_documents), (1, 1));
    fs::rename(&served, desk.path().join("away")).unwrap();
    fs::rename(&wider, &served).unwrap();
    eventually("the new label is served", || {
        let found = client.get("/v1/models/m/labels?q=tide%20mills").json();
        found["total"] == 1
    });
    let answer = client.post("/v1/models/m/predict", &json!({"documents": [text]}));
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.body.contains("Tide mills"), "{}", answer.body);
}
