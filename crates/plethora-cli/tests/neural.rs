//! The neural systems from a corpus to predictions: the same commands as for the linear ones, and
//! runs that go on after they were killed.

#![cfg(all(unix, feature = "torch"))]
#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod refusal;
mod support;

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use refusal::{BAD_DATA, USAGE, refuse};
use serde_json::Value;
use support::{Desk, TEST_PART, TRAIN_PART, join};

/// Networks so small that an epoch takes no time. One thread: those of several tests on a few
/// processors would wait for each other.
const SMALL: [&str; 16] = [
    "--set",
    "vectors.width=16",
    "--set",
    "words.max_length=40",
    "--set",
    "head.layers=16",
    "--set",
    "train.batch_size=16",
    "--set",
    "train.epochs=2",
    "--set",
    "train.valid_max=40",
    "--seed",
    "3",
    "-j",
    "1",
];

/// What makes the encoder of a system small.
fn small_encoder(system: &str) -> [&'static str; 2] {
    match system {
        "xml-cnn" => ["--set", "encoder.filters=8"],
        _ => ["--set", "encoder.hidden=16"],
    }
}

/// Groups of few labels, so that there are several.
fn small_tree(system: &str) -> &'static [&'static str] {
    match system {
        "attentionxml-plt" => &["--set", "plt.tree.max_leaf=8", "--beam", "4"],
        _ => &[],
    }
}

fn train_args<'a>(system: &'a str, model: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    join(&[
        &["train"],
        &TRAIN_PART,
        &["-o", model, "--system", system],
        &SMALL,
        &small_encoder(system),
        small_tree(system),
        more,
    ])
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_system_trains_evaluates_predicts_and_tells_about_itself() {
    let desk = Desk::with_catalogue(300);
    for system in ["attentionxml", "attentionxml-plt", "xml-rnn", "xml-cnn"] {
        let report = json(&desk.succeed(&train_args(system, system, &["--json", "-q"])));
        assert_eq!(report["system"], system);
        assert!(report["n_words"].as_u64().unwrap() > 50, "{report}");
        assert!(report["n_parameters"].as_u64().unwrap() > 1000, "{report}");
        assert!(report["seconds"]["training"].as_f64().unwrap() > 0.0);
        let folder = desk.file(system);
        assert!(folder.join("metrics.jsonl").is_file(), "{system}");
        let files = fs::read_dir(&folder).unwrap();
        let mut names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        assert!(names.any(|name| name.starts_with("events.out.tfevents.")));
        assert!(!desk.file(&format!("{system}.training")).exists());

        let metrics = desk.succeed(&join(&[
            &["eval", system],
            &TEST_PART,
            &["--json", "-q", "-j", "1"],
        ]));
        let precision = json(&metrics)["P@5"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&precision), "{system}: {precision}");

        let lines = desk.succeed(&join(&[
            &["predict", system],
            &TEST_PART,
            &["-k", "3", "-q", "-j", "1"],
        ]));
        for line in lines.lines() {
            let predictions = json(line)["predictions"].clone();
            let scores: Vec<f64> = (predictions.as_array().unwrap().iter())
                .map(|prediction| prediction["score"].as_f64().unwrap())
                .collect();
            assert_eq!(scores.len(), 3, "{line}");
            assert!(scores.is_sorted_by(|left, right| left >= right), "{line}");
        }

        let info = desk.succeed(&["info", system]);
        assert!(info.contains("parameters  "), "{info}");
        assert!(info.contains("cpu and cuda from the same folder"), "{info}");
        let described = json(&desk.succeed(&["info", system, "--json"]));
        assert_eq!(described["n_parameters"], report["n_parameters"]);
    }
}

#[test]
fn validation_documents_are_measured_and_kept_in_the_model() {
    let desk = Desk::with_catalogue(300);
    let valid = ["--valid", "documents.jsonl", "--valid-where", "split=dev"];
    let report = json(&desk.succeed(&train_args(
        "attentionxml",
        "model",
        &join(&[&valid, &["--json", "-q"]]),
    )));
    assert!(report["metrics"]["P@1"].is_number(), "{report}");
    let info = json(&desk.succeed(&["info", "model", "--json"]));
    assert_eq!(info["metrics"]["P@1"], report["metrics"]["P@1"]);
}

#[test]
fn attention_explains_a_label_and_its_absence_is_told() {
    let desk = Desk::with_catalogue(300);
    for system in ["attentionxml", "xml-cnn"] {
        desk.succeed(&train_args(system, system, &["-q"]));
    }
    let text = "A history of harbours and their lighthouses";
    let explained = [
        "explain",
        "attentionxml",
        text,
        "-k",
        "1",
        "-f",
        "json",
        "-j",
        "1",
    ];
    let explanation = json(&desk.succeed(&explained))["explanations"][0].clone();
    assert_eq!(explanation["method"], "attention", "{explanation}");
    let message = desk.fail(BAD_DATA, &["explain", "xml-cnn", text]);
    assert!(message.contains("xml-cnn has no attention"), "{message}");
}

fn start(desk: &Desk, args: &[&str]) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin!("plethora"))
        .current_dir(desk.path())
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until a run has left something to go on with.
fn wait_for_checkpoint(desk: &Desk, child: &mut Child, model: &str) {
    let folder = desk.file(&format!("{model}.training"));
    let deadline = Instant::now() + Duration::from_secs(120);
    let is_checkpoint = |name: &str| !matches!(name, "state.json" | "lock");
    loop {
        let names: Vec<String> = fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .filter_map(|file| file.ok()?.file_name().into_string().ok())
            .collect();
        if names
            .iter()
            .any(|name| is_checkpoint(name) && name.ends_with(".safetensors"))
        {
            return;
        }
        assert!(child.try_wait().unwrap().is_none(), "the run ended before");
        assert!(Instant::now() < deadline, "no checkpoint, but {names:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn weights(desk: &Desk, model: &str) -> Vec<(String, Vec<u8>)> {
    let files = desk.model_files(model).into_iter();
    files
        .filter(|(name, _)| name.ends_with(".safetensors"))
        .collect()
}

#[test]
fn a_stopped_run_goes_on_from_its_last_checkpoint_to_the_same_weights() {
    let desk = Desk::with_catalogue(400);
    // A checkpoint as often as possible, and steps enough to be caught among them.
    let often = [
        "--set",
        "train.checkpoint_minutes=0",
        "--set",
        "train.epochs=12",
        "--set",
        "train.patience=0",
    ];
    desk.succeed(&train_args("attentionxml", "whole", &often));
    for (signal, model) in [("-KILL", "killed"), ("-INT", "stopped")] {
        let args = train_args("attentionxml", model, &often);
        let mut child = start(&desk, &args);
        wait_for_checkpoint(&desk, &mut child, model);
        let id = child.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &id])
                .status()
                .unwrap()
                .success()
        );
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        if signal == "-INT" {
            assert_eq!(output.status.code(), Some(1), "{message}");
            let last = message.lines().last().unwrap();
            assert!(
                last.contains("to go on from the last checkpoint: "),
                "{message}"
            );
        }
        assert!(!desk.file(model).exists(), "no half model after {signal}");
        let output = desk.run(&join(&[&args, &["--resume"]]));
        let log = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{log}");
        assert!(log.contains("going on from the last checkpoint"), "{log}");
        assert!(weights(&desk, "whole") == weights(&desk, model), "{signal}");
    }
}

#[test]
fn what_cannot_work_is_refused_before_training() {
    let desk = Desk::with_catalogue(60);
    desk.write("rows.svm", "2 5 3\n0 1:1 3:2\n1,2 2:1\n");
    let train = "train documents.jsonl --text-field title,text -o model --system attentionxml";
    refuse(
        &desk,
        &format!("{train} --device cuda:999 -q"),
        USAGE,
        "device: cuda:999: ...",
    );
    refuse(
        &desk,
        &format!("{train} --vectors missing.txt -q"),
        BAD_DATA,
        "missing.txt: cannot read: ...",
    );
    refuse(
        &desk,
        &format!("{train} --valid - -q"),
        USAGE,
        "--valid: must be a file: ...",
    );
    refuse(
        &desk,
        "train rows.svm -o model --system xml-rnn -q",
        BAD_DATA,
        "rows.svm: document `1` has features, but xml-rnn reads texts...",
    );
}
