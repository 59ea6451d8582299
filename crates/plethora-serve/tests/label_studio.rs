//! What Label Studio finds.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod support;

use plethora_serve::ServeConfig;
use serde_json::{Value, json};
use support::{config, start, texts};

const INTERFACE: &str = "<View><Text name=\"title\" value=\"$body\"/>\
    <Choices name=\"subject\" toName=\"title\" choice=\"multiple\"><Choice value=\"x\"/></Choices></View>";

fn tasks() -> Value {
    let tasks = texts().into_iter().take(2);
    tasks
        .map(|text| json!({"id": 7, "data": {"body": text}}))
        .collect()
}

#[test]
fn projects_are_connected_and_get_suggestions() {
    let (_server, client) = start(&config());
    assert_eq!(client.get("/label-studio/health").json()["status"], "UP");
    let setup = json!({"project": "1.2", "schema": INTERFACE, "hostname": "http://localhost", "extra_params": "{}"});
    let version = client.post("/label-studio/setup", &setup).json()["model_version"].clone();
    assert!(version.as_str().unwrap().starts_with("small-"));
    let asked = json!({"tasks": tasks(), "label_config": INTERFACE, "params": {"top_k": 3, "context": null}});
    let answer = client.post("/label-studio/predict", &asked).json();
    assert_eq!(answer["model_version"], version);
    let own = client
        .predict(&json!({"documents": &texts()[..2], "top_k": 3}))
        .json();
    for (suggested, expected) in
        (answer["results"].as_array().unwrap().iter()).zip(own["results"].as_array().unwrap())
    {
        let labels: Value = (expected["predictions"].as_array().unwrap().iter())
            .map(|label| label["label"].clone())
            .collect();
        let region = &suggested["result"][0];
        assert_eq!(region["value"], json!({"choices": labels}));
        assert_eq!(region["from_name"], "subject");
        assert_eq!(region["to_name"], "title");
        assert_eq!(suggested["score"], expected["predictions"][0]["score"]);
    }
    let single = INTERFACE.replace(" choice=\"multiple\"", "");
    let answer = client.post(
        "/label-studio/predict",
        &json!({"tasks": tasks(), "label_config": single}),
    );
    assert_eq!(
        answer.json()["results"][0]["result"][0]["value"]["choices"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn interfaces_that_do_not_fit_are_refused() {
    let (_server, client) = start(&config());
    let setup = client.post("/label-studio/setup", &json!({"schema": "<View/>"}));
    assert!(setup.problem(422).contains("`Choices` or `Taxonomy`"));
    let asked = json!({"tasks": [{"data": {"image": "x.png"}}], "label_config": INTERFACE});
    let answer = client.post("/label-studio/predict", &asked);
    assert!(
        answer
            .problem(422)
            .contains("tasks[0]: expected a text in `body`")
    );
    let params = json!({"tasks": tasks(), "label_config": INTERFACE, "params": {"model": "large"}});
    client.post("/label-studio/predict", &params).problem(404);
}

#[test]
fn annotations_become_feedback() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("feedback.jsonl");
    let (_server, client) = start(&ServeConfig {
        feedback: Some(file.clone()),
        ..config()
    });
    let known = client.get("/v1/models/small/labels?limit=1").json()["labels"][0].clone();
    let event = |action: &str| {
        json!({"action": action, "project": {"id": 1, "label_config": INTERFACE},
               "task": {"id": 7, "data": {"body": "Tides"}},
               "annotation": {"result": [{"from_name": "subject", "to_name": "title", "type": "choices",
                                          "value": {"choices": [known["label"], "new"]}}]}})
    };
    let stored = client.post("/label-studio/webhook", &event("ANNOTATION_CREATED"));
    assert_eq!(stored.json()["labels"], json!([known["key"], "new"]));
    let ignored = client.post("/label-studio/webhook", &event("PROJECT_UPDATED"));
    assert_eq!(ignored.json()["status"], "ignored");
    let lines = std::fs::read_to_string(&file).unwrap();
    assert_eq!(lines.lines().count(), 1);
    let line: Value = serde_json::from_str(&lines).unwrap();
    assert_eq!((&line["text"], &line["id"]), (&json!("Tides"), &json!("7")));
}
