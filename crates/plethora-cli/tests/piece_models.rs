//! Models of pieces once they are trained: damaged folders, ensembles, and what the other commands say
//! of the system.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod refusal;
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use refusal::{BAD_DATA, refuse};
use serde_json::Value;
use support::neural::{CLUSTERED, ENCODER, train_args};
use support::{Desk, TEST_PART, TRAIN_PART, join};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A desk with a clustered `model` and some texts.
fn desk_with_clusters() -> Desk {
    let desk = Desk::with_catalogue(100);
    let more = join(&[&CLUSTERED, &["-q"]]);
    desk.succeed(&train_args("lightxml", "model", &more));
    desk.write("texts.txt", "A history of harbours\n");
    desk
}

/// Changes a file of the model and the manifest's word on it, so that only its content is wrong.
fn replace(desk: &Desk, name: &str, content: &str) {
    desk.write(&format!("model/{name}"), content);
    let output = Command::new("sha256sum")
        .arg(desk.file("model").join(name))
        .output()
        .unwrap();
    let sum = String::from_utf8(output.stdout).unwrap();
    let mut manifest = json(&desk.read("model/manifest.json"));
    let entry = &mut manifest["files"][name];
    assert!(entry.is_object(), "{name} is no file of the model");
    entry["size"] = content.len().into();
    entry["sha256"] = sum.split_whitespace().next().unwrap().into();
    desk.write("model/manifest.json", &manifest.to_string());
}

#[test]
fn damaged_files_of_a_model_are_told_by_name() {
    let desk = desk_with_clusters();
    for name in [
        "encoder.json",
        "clusters-0.json",
        "tokenizer.json",
        "member-0.safetensors",
    ] {
        let path = desk.file("model").join(name);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let cut = format!("model/{name}: the file is truncated: ...");
        refuse(&desk, "predict model texts.txt -q", BAD_DATA, &cut);
        fs::remove_file(&path).unwrap();
        let missing = format!("model/{name}: the file is missing from the model");
        refuse(&desk, "predict model texts.txt -q", BAD_DATA, &missing);
        fs::write(&path, &whole).unwrap();
    }
    desk.succeed(&["predict", "model", "texts.txt", "-q"]);
}

#[test]
fn files_with_other_content_are_refused_although_the_manifest_knows_them() {
    let desk = desk_with_clusters();
    let manifest = desk.read("model/manifest.json");
    let check = |name: &str, edit: &dyn Fn(&mut Value), message: &str| {
        let whole = desk.read(&format!("model/{name}"));
        let mut value = json(&whole);
        edit(&mut value);
        replace(&desk, name, &value.to_string());
        refuse(&desk, "predict model texts.txt -q", BAD_DATA, message);
        desk.write(&format!("model/{name}"), &whole);
        desk.write("model/manifest.json", &manifest);
    };
    let set = |key: &'static str, to: Value| move |value: &mut Value| value[key] = to.clone();
    check(
        "encoder.json",
        &set("model_type", "gpt2".into()),
        "model/encoder.json: `model_type` is \"gpt2\", which is not supported; ...",
    );
    check(
        "encoder.json",
        &set("intermediate_size", 48.into()),
        "model/member-0.safetensors: `encoder.layer.0....",
    );
    check(
        "clusters-0.json",
        &set("cluster_of_label", vec![0, 1].into()),
        "model/clusters-0.json: the clusters are of other labels",
    );
    check(
        "clusters-0.json",
        &|clusters| clusters["cluster_of_label"][0] = 4_000_000_000_u32.into(),
        "model/clusters-0.json: ...",
    );
    check(
        "clusters-0.json",
        &|clusters| *clusters = Value::from(vec![1]),
        "model/clusters-0.json: ...",
    );
    check(
        "tokenizer.json",
        &|tokenizer| tokenizer["model"]["vocab"]["lighthouse"] = 200.into(),
        "model/tokenizer.json: its ids reach 200, but model/encoder.json has vectors for 200 pieces \
         only: the tokenizer and the model are not of one encoder",
    );
    check(
        "tokenizer.json",
        &|tokenizer| *tokenizer = Value::Null,
        "model/tokenizer.json: not a tokenizer that can be used: ...",
    );
    desk.succeed(&["predict", "model", "texts.txt", "-q"]);
}

/// Scores of `predict`, by document and label.
fn scores(desk: &Desk, model: &str, dtype: &str, threads: &str) -> Vec<BTreeMap<String, f64>> {
    let options = ["--dtype", dtype, "-k", "1000", "-q", "-j", threads];
    let lines = desk.succeed(&join(&[&["predict", model], &TEST_PART, &options]));
    let rankings = lines.lines().map(|line| json(line)["predictions"].clone());
    let scores = rankings.map(|ranking| {
        let ranked = ranking.as_array().unwrap().iter();
        ranked
            .map(|one| (one["label"].to_string(), one["score"].as_f64().unwrap()))
            .collect()
    });
    scores.collect()
}

#[test]
fn products_in_eight_bits_change_little() {
    let desk = Desk::with_catalogue(100);
    for (system, most) in [
        ("lightxml", 0.02),
        ("attentionxml", 0.02),
        ("xml-cnn", 0.02),
        // What the frozen encoder says goes through trees, which jump.
        ("dense", 0.3),
    ] {
        if system == "dense" {
            let model = ["-o", "model", "--force", "-q", "--system", system];
            let encoder = ["--encoder", ENCODER, "--set", "document.max_length=24"];
            desk.succeed(&join(&[&["train"], &TRAIN_PART, &model, &encoder]));
        } else {
            desk.succeed(&train_args(system, "model", &["-q", "--force"]));
        }
        let exact = scores(&desk, "model", "f32", "1");
        let short = scores(&desk, "model", "int8", "1");
        assert_eq!(exact.len(), short.len());
        let mut differences = 0.0;
        let mut number = 0;
        for (exact, short) in exact.iter().zip(&short) {
            for (label, score) in exact {
                let Some(other) = short.get(label) else {
                    continue;
                };
                assert!((score - other).abs() < most, "{system}: {score}, {other}");
                differences += (score - other).abs();
                number += 1;
            }
        }
        assert!(number > 100, "{system}");
        let mean = differences / f64::from(number);
        assert!(mean < most / 4.0, "{system}: {mean}");
        // Nothing else in the batch and no thread changes anything.
        assert_eq!(scores(&desk, "model", "int8", "2"), short, "{system}");
        let explained = desk.succeed(&[
            "explain",
            "model",
            "A history of harbours",
            "--dtype",
            "int8",
        ]);
        assert!(explained.contains("history"), "{system}: {explained}");
    }
}

#[test]
fn a_transformer_and_a_linear_model_rank_together() {
    let desk = desk_with_clusters();
    let linear = ["-o", "linear", "--system", "parabel", "-q"];
    desk.succeed(&join(&[&["train"], &TRAIN_PART, &linear]));
    desk.succeed(&["ensemble", "model", "linear", "-o", "both"]);
    let lines = desk.succeed(&join(&[
        &["predict", "both"],
        &TEST_PART,
        &["-k", "3", "-q"],
    ]));
    for line in lines.lines() {
        let predictions = json(line)["predictions"].clone();
        assert_eq!(predictions.as_array().unwrap().len(), 3, "{line}");
    }
    let info = json(&desk.succeed(&["info", "both", "--json"]));
    assert_eq!(info["members"][0]["system"], "lightxml");
    let text = "A history of harbours, näher besehen";
    let explain = |model: &str| {
        let found = json(&desk.succeed(&["explain", model, text, "-k", "1", "-f", "json"]));
        found["explanations"][0].clone()
    };
    let explained = explain("both");
    assert!(explained["member"]["system"].is_string(), "{explained}");
    let explained = explain("model");
    assert_eq!(explained["method"], "gradient");
    let spans = explained["spans"].as_array().unwrap();
    let characters: Vec<char> = text.chars().collect();
    for span in spans {
        let [start, end] = ["start", "end"].map(|key| span[key].as_u64().unwrap() as usize);
        let shown: String = characters[start..end].iter().collect();
        assert_eq!(span["text"], shown);
    }
    assert!(
        spans.iter().any(|span| span["weight"] != 0.0),
        "{explained}"
    );
    let page = desk.succeed(&["explain", "model", text, "-k", "1", "-f", "html"]);
    assert!(page.contains("by the gradient of the network"), "{page}");
    assert!(
        desk.succeed(&["explain", "model", text, "-k", "1"])
            .contains("characters")
    );
}

#[test]
fn what_init_writes_trains() {
    let desk = Desk::with_catalogue(60);
    desk.succeed(&["init", "--system", "lightxml", "-o", "settings.toml"]);
    let settings = desk.read("settings.toml");
    for line in [
        "system = \"lightxml\"",
        "form = \"auto\"",
        "[clusters.tree]",
    ] {
        assert!(settings.contains(line), "{settings}");
    }
    // A test has no time for all epochs, and the recipe's encoder is larger.
    let settings = settings
        .replace("epochs = \"auto\"", "epochs = 1")
        .replace("sentence-transformers/all-MiniLM-L6-v2", ENCODER)
        .replace("layers = 5", "layers = 3");
    desk.write("settings.toml", &settings);
    let args = ["-o", "model", "--config", "settings.toml", "-j", "1"];
    let output = desk.run(&join(&[&["train"], &TRAIN_PART, &args]));
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{log}");
    let chosen = "64 pieces per document, 1 epochs of batches of 64, learning rate 2.0e-4";
    assert!(log.contains("one layer over "), "{log}");
    assert!(log.contains(chosen), "{log}");

    // What was chosen is in the model.
    let info = json(&desk.succeed(&["info", "model", "--json"]));
    assert_eq!(info["config"]["train"]["batch_size"], 64, "{info}");
    assert_eq!(info["config"]["head"]["form"], "flat");
    assert_eq!(info["config"]["document"]["max_length"], 64);
    desk.succeed(&join(&[&["eval", "model"], &TEST_PART, &["-q"]]));
}

#[test]
fn check_tells_what_the_system_will_cost() {
    let desk = Desk::with_catalogue(100);
    let check = join(&[&["check"], &TRAIN_PART]);
    let report = json(&desk.succeed(&join(&[&check, &["--json", "-q"]])));
    let estimates = report["estimates"].as_array().unwrap();
    let estimate = |system: &str| {
        let mut found = estimates.iter().filter(|one| one["system"] == system);
        found.next().unwrap().clone()
    };
    let (pieces, linear) = (estimate("lightxml"), estimate("parabel"));
    let seconds = |estimate: &Value| estimate["cpu_seconds"].as_f64().unwrap();
    let bytes = |estimate: &Value| estimate["peak_memory_bytes"].as_u64().unwrap();
    assert!(seconds(&pieces) > 100.0 * seconds(&linear), "{pieces}");
    assert!((1 << 29..1 << 33).contains(&bytes(&pieces)), "{pieces}");
    let shown = desk.succeed(&check);
    assert!(shown.contains("lightxml"), "{shown}");
}
