//! What clients of Annif, TEI, `KServe` and Prometheus find, and what everybody finds: models, labels,
//! probes, the description and the page.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod support;

use std::fs::File;
use std::time::{Duration, UNIX_EPOCH};

use plethora_core::artifact::MANIFEST_FILE;
use serde_json::{Value, json};
use support::{config, copy, limited, small_model, source, start, start_with, texts};

const FORM: &str = "application/x-www-form-urlencoded";

#[test]
fn annif_clients_are_answered() {
    let (_server, client) = start(&config());
    assert_eq!(client.get("/v1/").json()["title"], "Plethora");
    let project = client.get("/v1/projects/small").json();
    assert_eq!(project["project_id"], "small");
    assert_eq!(project["backend"], json!({"backend_id": "wide-tree"}));
    assert_eq!(project["is_trained"], true);
    assert_eq!(
        client.get("/v1/projects").json(),
        json!({"projects": [project]})
    );
    let text = &texts()[0];
    let own = client
        .predict(&json!({"documents": [text], "top_k": 3}))
        .json();
    let own = own["results"][0]["predictions"].as_array().unwrap();
    let expected: Value = own
        .iter()
        .map(|label| {
            json!({"uri": label["key"], "label": label["label"], "notation": null,
                   "score": label["score"]})
        })
        .collect();
    let form = format!("text={}&limit=3&language=en", text.replace(' ', "+"));
    let path = "/v1/projects/small/suggest";
    let answer = client.post_bytes(path, FORM, form.as_bytes()).json();
    assert_eq!(answer, json!({"results": expected}));
    let batch = json!({"documents": [{"text": text, "document_id": "x"}, {"text": text}]});
    let answer = client
        .post("/v1/projects/small/suggest-batch?limit=3", &batch)
        .json();
    assert_eq!(
        answer,
        json!([{"document_id": "x", "results": expected},
               {"document_id": null, "results": expected}])
    );
    let answer = client.post_bytes(path, FORM, b"limit=3");
    assert!(answer.problem(422).contains("missing field `text`"));
    client
        .post("/v1/projects/small/suggest", &json!({}))
        .problem(415);
    let answer = client.post("/v1/projects/small/suggest-batch?limit=ten", &batch);
    answer.problem(422);
    client.get("/v1/projects/large").problem(404);
}

#[test]
fn annif_takes_any_limit_and_no_documents() {
    let (_server, client) = start(&limited(|limits| limits.max_top_k = 4));
    let text = texts()[0].replace(' ', "+");
    let suggest = |more: &str| {
        let form = format!("text={text}{more}");
        client.post_bytes("/v1/projects/small/suggest", FORM, form.as_bytes())
    };
    let two = json!({"documents": [{"text": texts()[0], "document_id": "x"}, {"text": ""}]});
    let suggest_batch = |query: &str, body: &Value| {
        client.post(&format!("/v1/projects/small/suggest-batch{query}"), body)
    };
    for (limit, expected) in [(0, 0), (1, 1), (4, 4), (5, 4), (1_000_000_000, 4)] {
        let one = suggest(&format!("&limit={limit}")).json();
        assert_eq!(one["results"].as_array().unwrap().len(), expected);
        let both = suggest_batch(&format!("?limit={limit}"), &two).json();
        assert_eq!(both.as_array().unwrap().len(), 2);
        assert_eq!(both[0]["document_id"], "x");
        assert_eq!(both[0]["results"], one["results"]);
    }
    let none = json!({"documents": []});
    for query in ["", "?limit=0", "?limit=1000"] {
        assert_eq!(suggest_batch(query, &none).json(), json!([]));
    }
    for limit in [0, 3] {
        suggest(&format!("&limit={limit}&threshold=2")).problem(422);
        let query = format!("?limit={limit}&threshold=2");
        suggest_batch(&query, &two).problem(422);
        suggest_batch(&query, &none).problem(422);
    }
    suggest("&limit=-1").problem(422);
    suggest_batch("?limit=-1", &none).problem(422);
    let many = vec![json!({"text": ""}); 1001];
    suggest_batch("?limit=0", &json!({"documents": many})).problem(413);
    let answer = client.post("/v1/projects/large/suggest-batch", &none);
    answer.problem(404);
    // Elsewhere these stay mistakes.
    for top_k in [0, 5] {
        let body = json!({"documents": [texts()[0]], "top_k": top_k});
        client.predict(&body).problem(422);
    }
    client.predict(&none).problem(422);
}

#[test]
fn annif_clients_may_add_or_leave_a_slash() {
    let (_server, client) = start(&config());
    for (path, described) in [
        ("/v1", "/v1/"),
        ("/v1/projects/", "/v1/projects"),
        ("/v1/projects/small/", "/v1/projects/small"),
    ] {
        assert_eq!(client.get(path).json(), client.get(described).json());
    }
    client.get("/v1/projects/large/").problem(404);
    let path = "/v1/projects/small/suggest";
    let ask = |path: &str| client.post_bytes(path, FORM, b"text=law").json();
    assert_eq!(ask(&format!("{path}/")), ask(path));
    client.get("/v1/projects/small/suggest/").problem(405);
    let path = "/v1/projects/small/suggest-batch";
    let body = json!({"documents": [{"text": "law"}]});
    let ask = |path: &str| client.post(path, &body).json();
    assert_eq!(ask(&format!("{path}/")), ask(path));
}

#[test]
fn annif_clients_learn_when_a_model_was_saved() {
    let desk = tempfile::tempdir().unwrap();
    let model = desk.path().join("m");
    copy(&small_model(), &model);
    let manifest = File::options().write(true).open(model.join(MANIFEST_FILE));
    let saved_at = UNIX_EPOCH + Duration::from_secs(1_589_906_562);
    manifest.unwrap().set_modified(saved_at).unwrap();
    let (_server, client) = start_with(&config(), &[source("m", &model)]);
    let project = client.get("/v1/projects/m").json();
    assert_eq!(project["modification_time"], "2020-05-19T16:42:42Z");
}

#[test]
fn tei_clients_are_answered() {
    let (_server, client) = start(&config());
    let text = &texts()[0];
    let own = client
        .predict(&json!({"documents": [text], "top_k": 2}))
        .json();
    let own = own["results"][0]["predictions"].as_array().unwrap();
    let expected: Value = own
        .iter()
        .map(|label| json!({"label": label["label"], "score": label["score"]}))
        .collect();
    let ask = |inputs: Value| {
        let body = json!({"inputs": inputs, "top_k": 2, "truncate": true, "raw_scores": false});
        client.post("/predict", &body)
    };
    assert_eq!(ask(json!(text)).json(), expected);
    assert_eq!(ask(json!([text, text])).json(), json!([expected, expected]));
    assert_eq!(ask(json!([[text]])).json(), json!([expected]));
    assert!(ask(json!([[text, text]])).problem(422).contains("pairs"));
    let body = json!({"inputs": text, "model": "large"});
    client.post("/predict", &body).problem(404);
    let info = client.get("/info").json();
    assert_eq!(info["model_id"], "small");
    assert!(info["model_type"]["classifier"].is_object(), "{info}");
    assert_eq!(info["max_client_batch_size"], 1000);
}

#[test]
fn kserve_clients_are_answered() {
    let (_server, client) = start(&config());
    assert_eq!(client.get("/v2").json()["name"], "plethora");
    assert_eq!(client.get("/v2/health/live").json(), json!({"live": true}));
    assert_eq!(
        client.get("/v2/health/ready").json(),
        json!({"ready": true})
    );
    assert_eq!(
        client.get("/v2/models/small/ready").json(),
        json!({"ready": true})
    );
    client.get("/v2/models/large/ready").problem(404);
    let metadata = client.get("/v2/models/small").json();
    assert_eq!(metadata["inputs"][0]["datatype"], "BYTES");
    let texts = texts();
    let tensor = |shape: Value, data: Value| {
        json!({"id": "r1", "parameters": {"top_k": 3},
               "inputs": [{"name": "text", "shape": shape, "datatype": "BYTES", "data": data}]})
    };
    let infer = |body: &Value| client.post("/v2/models/small/infer", body);
    let answer = infer(&tensor(json!([2]), json!([texts[0], texts[1]]))).json();
    assert_eq!(answer["id"], "r1");
    assert_eq!(answer["model_name"], "small");
    assert_eq!(answer["model_version"], metadata["versions"][0]);
    let body = json!({"documents": [texts[0], texts[1]], "top_k": 3});
    let own = client.predict(&body).json();
    let column = |key: &str| -> Value {
        let results = own["results"].as_array().unwrap().iter();
        let labels = results.flat_map(|result| result["predictions"].as_array().unwrap());
        labels.map(|label| label[key].clone()).collect()
    };
    for (index, name, datatype, key) in [
        (0, "labels", "BYTES", "label"),
        (1, "keys", "BYTES", "key"),
        (2, "scores", "FP32", "score"),
    ] {
        let expected = json!({"name": name, "shape": [2, 3], "datatype": datatype,
                              "data": column(key)});
        assert_eq!(answer["outputs"][index], expected);
    }
    infer(&tensor(json!([1, 2]), json!([[texts[0], texts[1]]]))).json();
    for (body, expected) in [
        (
            tensor(json!([3]), json!([texts[0]])),
            "does not fit 1 texts",
        ),
        (tensor(json!([1]), json!([1])), "expected texts"),
        (tensor(json!([1]), Value::Null), "binary data is not taken"),
        (json!({"inputs": []}), "expected one tensor"),
    ] {
        let detail = infer(&body).problem(422);
        assert!(detail.contains(expected), "{detail}");
    }
}

#[test]
fn short_rows_of_a_tensor_are_filled() {
    let (_server, client) = start(&config());
    let texts = texts();
    let body = json!({"parameters": {"top_k": 5, "threshold": 0.1}, "inputs": [
        {"name": "text", "shape": [2], "datatype": "BYTES", "data": [texts[0], texts[1]]}]});
    let answer = client.post("/v2/models/small/infer", &body).json();
    let shape = &answer["outputs"][0]["shape"];
    let cells = shape[0].as_u64().unwrap() * shape[1].as_u64().unwrap();
    for output in answer["outputs"].as_array().unwrap() {
        assert_eq!(output["data"].as_array().unwrap().len() as u64, cells);
    }
}

#[test]
fn models_are_listed_and_named() {
    let models = [source("one", &small_model()), source("two", &small_model())];
    let (_server, client) = start_with(&config(), &models);
    let list = client.get("/v1/models").json();
    let ids: Vec<&str> = (list["models"].as_array().unwrap().iter())
        .map(|model| model["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["one", "two"]);
    // For clients of OpenAI.
    assert_eq!(list["object"], "list");
    assert_eq!(list["data"][1]["id"], "two");
    assert_eq!(list["data"][1]["object"], "model");
    assert!(list["data"][1]["created"].as_u64().unwrap() > 1_700_000_000);
    let one = client.get("/v1/models/one").json();
    assert_eq!(one, list["models"][0]);
    assert_eq!(one["status"], "ready");
    assert_eq!(one["n_labels"], 60);
    assert_eq!(one["is_calibrated"], false);
    let detail = client.get("/v1/models/three").problem(404);
    assert_eq!(detail, "there is no model `three`; there are: one, two");
}

#[test]
fn labels_are_found_page_by_page_with_their_place() {
    let (_server, client) = start(&config());
    let search = |query: &str| client.get(&format!("/v1/models/small/labels{query}"));
    let all = search("?limit=1000").json();
    assert_eq!(all["total"], 60);
    assert_eq!(all["labels"].as_array().unwrap().len(), 60);
    let law = search("?q=LAW").json();
    assert_eq!(law["labels"][0]["label"], "Law");
    let total = law["total"].as_u64().unwrap();
    assert!(total > 2, "{law}");
    let second = search("?q=law&offset=1&limit=1").json();
    assert_eq!(second["labels"], json!([law["labels"][1]]));
    assert_eq!(
        search("?q=jurisprud").json()["labels"][0]["key"],
        "C0000000"
    );
    assert_eq!(
        search("?q=c0000003").json()["labels"][0]["label"],
        "Property law"
    );
    assert_eq!(search("?q=%C3%A9%00zz").json()["total"], 0);
    for query in ["?limit=0", "?limit=1001", "?limit=x", "?offset=-1", "?p=1"] {
        search(query).problem(422);
    }
    let property = search("?q=property+law").json()["labels"][0]["label_id"].clone();
    let place = client
        .get(&format!("/v1/models/small/labels/{property}"))
        .json();
    assert_eq!(place["key"], "C0000003");
    let expected = json!([[{"key": "C0000000", "label": "Law", "label_id": 0}]]);
    assert_eq!(place["broader"], expected);
    let above = client.get("/v1/models/small/labels/0").json();
    let below = above["narrower"].as_array().unwrap();
    assert!(
        below.iter().any(|label| label["key"] == "C0000003"),
        "{above}"
    );
    client.get("/v1/models/small/labels/60").problem(404);
    client.get("/v1/models/small/labels/first").problem(404);
}

#[test]
fn probes_counts_description_and_page_are_there() {
    let (_server, client) = start(&config());
    for path in ["/health", "/health/live", "/health/ready"] {
        assert_eq!(client.get(path).json(), json!({"status": "ok"}));
    }
    client.predict(&json!({"documents": texts()})).json();
    let metrics = client.get("/metrics").body;
    let num_documents = texts().len();
    for expected in [
        format!("plethora_documents_total{{model=\"small\"}} {num_documents}"),
        "plethora_requests_total{route=\"/v1/models/{id}/predict\",method=\"POST\",status=\"200\"} 1"
            .into(),
        "plethora_queue_documents{model=\"small\"} 0".into(),
        "plethora_batch_documents_count{model=\"small\"} 1".into(),
        "plethora_request_seconds_bucket{le=\"0.5\",route=\"/health\"} 1".into(),
    ] {
        assert!(metrics.contains(&expected), "{expected} is not in\n{metrics}");
    }
    let description = client.get("/openapi.json").json();
    assert!(description["paths"]["/v1/models/{id}/predict"]["post"].is_object());
    let own: Value = serde_json::from_str(&plethora_serve::openapi_json()).unwrap();
    assert_eq!(description, own);
    let page = client.get("/");
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    assert!(page.header("content-security-policy").is_some());
    assert!(page.body.contains("<title>Plethora</title>"));
    let viewer = client.get("/docs/");
    assert_eq!(viewer.status, 200);
    assert!(
        viewer.body.to_lowercase().contains("swagger"),
        "{}",
        viewer.body
    );
    for outside in ["http://", "https://"] {
        assert!(!viewer.body.contains(outside), "{}", viewer.body);
    }
    client.get("/nowhere").problem(404);
    client.get("/predict").problem(405);
}
