//! Models that are replaced while they answer.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod support;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use plethora_core::artifact::{ModelReader, ModelWriter};
use serde_json::{Value, json};
use support::training::{catalogue, train};
use support::{Client, config, copy, eventually, small_model, source, start_with, texts};

/// Puts a folder in the place of another, as far as a file system lets us in one step.
fn replace(old: &Path, new: &Path) {
    fs::rename(old, old.with_extension("away")).unwrap();
    fs::rename(new, old).unwrap();
    fs::remove_dir_all(old.with_extension("away")).unwrap();
}

fn info(client: &Client) -> Value {
    client.get("/v1/models/m").json()
}

#[test]
fn a_new_version_is_taken_up_and_a_damaged_one_is_not() {
    let desk = tempfile::tempdir().unwrap();
    let served = desk.path().join("m");
    copy(&small_model(), &served);
    let mut config = config();
    config.reload_interval = Duration::from_millis(50);
    let (_server, client) = start_with(&config, &[source("m", &served)]);
    let first = info(&client);
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let load: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let mut num_answers = 0;
                    while !is_done.load(Ordering::Relaxed) {
                        let body = json!({"documents": texts()});
                        let answer = client.post("/v1/models/m/predict", &body);
                        assert_eq!(answer.status, 200, "{}", answer.body);
                        num_answers += 1;
                    }
                    num_answers
                })
            })
            .collect();

        let damaged = desk.path().join("damaged");
        copy(&small_model(), &damaged);
        let manifest = fs::read_to_string(damaged.join("manifest.json")).unwrap();
        let manifest = manifest.replace("\"0.1.0\"", "\"0.1.0-damaged\"");
        fs::write(damaged.join("manifest.json"), manifest).unwrap();
        fs::write(damaged.join("tree-0.safetensors"), "not a tree").unwrap();
        replace(&served, &damaged);
        eventually("the damage is told", || info(&client)["status"] == "stale");
        let stale = info(&client);
        assert_eq!(stale["sha256"], first["sha256"]);
        let message = stale["error"].as_str().unwrap();
        assert!(message.contains("tree-0.safetensors"), "{message}");
        assert_eq!(client.get("/health/ready").status, 200);

        let new = desk.path().join("new");
        train("wide-tree", &catalogue(120), &new);
        replace(&served, &new);
        eventually("the new version answers", || {
            info(&client)["status"] == "ready"
        });
        let second = info(&client);
        assert_ne!(second["sha256"], first["sha256"]);
        assert_ne!(second["n_labels"], first["n_labels"]);
        assert_eq!(second.get("error"), None);

        is_done.store(true, Ordering::Relaxed);
        for answers in load {
            assert!(answers.join().unwrap() > 0);
        }
    });
    let metrics = client.get("/metrics").body;
    assert!(
        metrics.contains("plethora_reloads_total{model=\"m\",outcome=\"taken\"} 1\n"),
        "{metrics}"
    );
    assert!(metrics.contains("outcome=\"refused\""), "{metrics}");
}

#[test]
fn files_that_are_overwritten_under_a_server_change_no_answer() {
    let desk = tempfile::tempdir().unwrap();
    let served = desk.path().join("m");
    copy(&small_model(), &served);
    let (_server, client) = start_with(&config(), &[source("m", &served)]);
    let body = json!({"documents": texts(), "top_k": 5});
    let before = client.post("/v1/models/m/predict", &body).json();
    // What is mapped and cut ends a process; what is read once does not change.
    for entry in fs::read_dir(&served).unwrap() {
        let path = entry.unwrap().path();
        let length = fs::metadata(&path).unwrap().len();
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(0).unwrap();
        file.set_len(length).unwrap();
    }
    assert_eq!(client.post("/v1/models/m/predict", &body).json(), before);
    for entry in fs::read_dir(&served).unwrap() {
        let file = fs::OpenOptions::new()
            .write(true)
            .open(entry.unwrap().path());
        file.unwrap().set_len(0).unwrap();
    }
    assert_eq!(client.post("/v1/models/m/predict", &body).json(), before);
}

/// Writes a model of the files of the small one with other settings, and checksums that are right.
fn forge(target: &Path, kind: &str, config: &str) {
    let model = ModelReader::open(&small_model()).unwrap();
    let writer = ModelWriter::create(target, true).unwrap();
    for name in model.manifest().files.keys() {
        let bytes = model.read_bytes(name).unwrap();
        writer.write_bytes(name, &bytes).unwrap();
    }
    writer.write_text("config.json", config).unwrap();
    let details = model.manifest().details.clone();
    writer.finish(kind, details).unwrap();
}

#[test]
fn whatever_a_new_version_is_the_old_one_answers() {
    let desk = tempfile::tempdir().unwrap();
    let served = desk.path().join("m");
    copy(&small_model(), &served);
    let mut config = config();
    config.reload_interval = Duration::from_millis(50);
    let (_server, client) = start_with(&config, &[source("m", &served)]);
    let own = fs::read_to_string(small_model().join("config.json")).unwrap();
    let trees = |number: &str| own.replace("\"num_trees\": 1", &format!("\"num_trees\": {number}"));
    // A member that is the ensemble itself, and so is its member.
    let ensemble = r#"{"combination": "mean", "depth": 10, "weights": [1, 1], "links": [
        {"path": "../m", "manifest_sha256": ""}, {"path": "../m", "manifest_sha256": ""}]}"#;
    for (kind, config, expected) in [
        ("wide-tree", trees("100000000"), "num_trees"),
        ("wide-tree", trees("9223372036854775808"), "num_trees"),
        ("ensemble", ensemble.to_owned(), "8 deep"),
    ] {
        let new = desk.path().join("new");
        forge(&new, kind, &config);
        replace(&served, &new);
        eventually("the new version is refused", || {
            let error = info(&client)["error"].clone();
            error.as_str().is_some_and(|error| error.contains(expected))
        });
        let body = json!({"documents": texts()});
        assert_eq!(client.post("/v1/models/m/predict", &body).status, 200);
    }
    fs::remove_file(served.join("manifest.json")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(served.join("manifest.json"))
        .status();
    assert!(made.unwrap().success());
    eventually("a pipe is no manifest", || {
        let error = info(&client)["error"].clone();
        error
            .as_str()
            .is_some_and(|error| error.contains("not a regular file"))
    });
}
