//! What a server needs to start, what it keeps, and connections that are encrypted.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod support;

use std::io::Write;
use std::sync::Arc;

use plethora_serve::{Server, TlsFiles};
use rustls::pki_types::ServerName;
use serde_json::{Value, json};
use support::client::Answer;
use support::{config, small_model, source, start};

#[test]
fn feedback_is_kept_in_lines_that_training_reads() {
    let desk = tempfile::tempdir().unwrap();
    let path = desk.path().join("feedback.jsonl");
    std::fs::write(&path, "{\"text\": \"old\", \"labels\": []}\n").unwrap();
    let mut config = config();
    config.feedback = Some(path.clone());
    let (_server, client) = start(&config);
    assert_eq!(
        client.get("/v1/models/small").json()["takes_feedback"],
        true
    );
    let address = "/v1/models/small/feedback";
    let sent = json!({"id": "d1", "text": "Tides", "right": ["C1", "C1"], "wrong": ["C2"],
                      "missing": ["C3"], "predictions": [{"key": "C1", "score": 0.5}]});
    let answer = client.post(address, &sent);
    assert_eq!(answer.status, 201);
    assert_eq!(answer.json()["labels"], json!(["C1", "C3"]));
    for (body, expected) in [
        (json!({"text": "", "right": ["C1"]}), "text: expected"),
        (json!({"text": "a"}), "expected at least one label"),
        (json!({"text": "a", "missing": [" "]}), "found an empty one"),
        (
            json!({"text": "a", "right": ["C1"], "wrong": ["C1"]}),
            "is said to be right",
        ),
    ] {
        let detail = client.post(address, &body).problem(422);
        assert!(detail.contains(expected), "{detail}");
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert_eq!(lines[1]["text"], "Tides");
    assert_eq!(lines[1]["labels"], json!(["C1", "C3"]));
    assert_eq!(lines[1]["wrong"], json!(["C2"]));
    assert_eq!(lines[1]["predictions"], sent["predictions"]);
    assert_eq!(lines[1]["model"], "small");
}

#[test]
fn without_a_file_no_feedback_is_taken() {
    let (_server, client) = start(&config());
    let body = json!({"text": "Tides", "right": ["C1"]});
    client.post("/v1/models/small/feedback", &body).problem(404);
}

#[test]
fn connections_can_be_encrypted() {
    let desk = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let files = TlsFiles {
        certificate: desk.path().join("cert.pem"),
        key: desk.path().join("key.pem"),
    };
    std::fs::write(&files.certificate, made.cert.pem()).unwrap();
    std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    let mut config = config();
    config.tls = Some(files);
    let (_server, client) = start(&config);
    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let session = rustls::ClientConnection::new(Arc::new(tls), name).unwrap();
    let mut stream = rustls::StreamOwned::new(session, client.connect());
    stream
        .write_all(client.head("GET", "/health", "").as_bytes())
        .unwrap();
    assert_eq!(Answer::read(&mut stream).json(), json!({"status": "ok"}));
    // Who speaks plainly is not understood, and does no harm.
    let mut plain = client.connect();
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    std::io::copy(&mut plain, &mut std::io::sink()).ok();
    let mut stream = client.connect();
    stream.write_all(&[22, 3, 1]).unwrap();
}

#[test]
fn what_cannot_work_is_said_before_listening() {
    let desk = tempfile::tempdir().unwrap();
    let small = source("small", &small_model());
    let message = |config, models: &[_]| {
        Server::start(support::systems(), &config, models)
            .unwrap_err()
            .to_string()
    };
    let missing = source("m", &desk.path().join("missing"));
    assert!(message(config(), &[missing]).contains("missing"));
    let twice = message(config(), &[small.clone(), small.clone()]);
    assert!(twice.contains("two models have the id `small`"), "{twice}");
    let mut blank = config();
    blank.api_key = Some(" ".into());
    assert_eq!(
        message(blank, std::slice::from_ref(&small)),
        "api_key: expected a key, found none"
    );
    let mut no_tls = config();
    no_tls.tls = Some(TlsFiles {
        certificate: small_model().join("README.md"),
        key: small_model().join("README.md"),
    });
    let found = message(no_tls, std::slice::from_ref(&small));
    assert!(found.contains("expected certificates in PEM"), "{found}");
    let (server, _client) = start(&config());
    let mut taken = config();
    taken.address = server.address();
    assert!(message(taken, &[small]).contains("cannot listen"));
}

#[test]
fn a_file_of_feedback_that_is_full_is_told_and_one_that_was_moved_is_begun_anew() {
    let desk = tempfile::tempdir().unwrap();
    let path = desk.path().join("feedback.jsonl");
    std::fs::write(&path, "{\"text\": \"half").unwrap();
    let mut config = config();
    config.feedback = Some(path.clone());
    config.feedback_max_bytes = 1000;
    let (_server, client) = start(&config);
    let send = |text: &str| {
        let body = json!({"text": text, "right": ["C1"]});
        client.post("/v1/models/small/feedback", &body)
    };
    assert_eq!(send("tides").status, 201);
    let detail = send(&"tides ".repeat(200)).problem(507);
    assert!(detail.contains("--feedback-max-bytes"), "{detail}");
    std::fs::rename(&path, desk.path().join("old.jsonl")).unwrap();
    assert_eq!(send("harbours").status, 201);
    for (name, text) in [("old.jsonl", "tides"), ("feedback.jsonl", "harbours")] {
        let lines = std::fs::read_to_string(desk.path().join(name)).unwrap();
        let line: Value = serde_json::from_str(lines.strip_suffix('\n').unwrap()).unwrap();
        assert_eq!(line["text"], text);
    }
}
