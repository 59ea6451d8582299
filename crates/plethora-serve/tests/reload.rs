//! Models that are replaced while they answer.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod support;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

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
