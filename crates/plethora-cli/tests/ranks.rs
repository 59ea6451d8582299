//! Neural systems that two processes train together: the model is that of one process up to rounding, it is
//! the same whatever happens on the way, and nobody waits for a process that has ended.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod support;

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use plethora_core::artifact::MappedArrays;
use serde_json::Value;
use support::neural::train_args;
use support::{Desk, TEST_PART, join};

/// More than 50 steps without chance in them, in two batches each.
const STEADY: [&str; 10] = [
    "--set",
    "train.batch_size=4",
    "--set",
    "train.accumulate=2",
    "--set",
    "train.epochs=3",
    "--set",
    "train.patience=0",
    "--dtype",
    "f32",
];

/// Labels that are changed in passing, of which each process has its own.
const EXACT: [&str; 2] = ["--set", "head.form=exact"];

fn without_dropout(system: &str) -> &'static [&'static str] {
    match system {
        "lightxml" => &["--set", "encoder.dropout=0", "--set", "document.dropout=0"],
        "treaderxml" => &[
            "--set",
            "head.dropout=0",
            "--set",
            "reading.dropout=0",
            "--set",
            "reading.word_dropout=0",
        ],
        _ => &[
            "--set",
            "encoder.dropout=0",
            "--set",
            "encoder.word_dropout=0",
        ],
    }
}

/// Two processes that meet at a port of their own.
struct Pair {
    ranks: Vec<Child>,
}

impl Pair {
    fn start(desk: &Desk, args: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        drop(listener);
        let start = |rank: usize| {
            Command::new(assert_cmd::cargo::cargo_bin!("plethora"))
                .current_dir(desk.path())
                .args(args)
                .arg("--distributed")
                .env_clear()
                .env("OMP_NUM_THREADS", "1")
                .env("OMP_WAIT_POLICY", "passive")
                .envs([("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", &port)])
                .envs([("WORLD_SIZE", "2"), ("RANK", ["0", "1"][rank])])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        Self {
            ranks: (0..2).map(start).collect(),
        }
    }

    fn end(self) -> Vec<Output> {
        let end = |rank: Child| rank.wait_with_output().unwrap();
        self.ranks.into_iter().map(end).collect()
    }

    fn succeed(self) {
        for output in self.end() {
            let log = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success(), "{log}");
        }
    }
}

fn wait_for(path: &Path) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !path.exists() {
        assert!(Instant::now() < deadline, "{} is not there", path.display());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What both say of the dense weights that they end with, stage by stage; they have said it with `-vv`.
fn last_weights(output: &Output) -> Vec<String> {
    let log = String::from_utf8_lossy(&output.stderr);
    let lines = log.lines().filter_map(|line| {
        let (_, said) = line.split_once("dense weights")?;
        let (_, hash) = said.split_once("sha256=")?;
        Some(hash.trim_matches('"').to_owned())
    });
    lines.collect()
}

/// Losses and metrics that a training run has recorded, by step.
fn records(desk: &Desk, model: &str) -> Vec<(u64, String, f64)> {
    let log = desk.read(&format!("{model}/metrics.jsonl"));
    let mut found = Vec::new();
    for line in log.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let step = record["step"].as_u64().unwrap();
        for (name, value) in record.as_object().unwrap() {
            if name == "loss" || name.starts_with("valid/") {
                found.push((step, name.clone(), value.as_f64().unwrap()));
            }
        }
    }
    found
}

/// The largest difference between the weights of two models.
fn distance(desk: &Desk, model: &str, other: &str) -> f32 {
    let mut largest = 0_f32;
    for (name, _) in weights(desk, model) {
        let [one, two] = [model, other].map(|model| {
            let path = desk.file(&format!("{model}/{name}"));
            MappedArrays::open(&path).unwrap()
        });
        for array in one.names() {
            let [one, two] = [&one, &two].map(|file| file.array::<f32>(array).unwrap());
            assert_eq!(one.len(), two.len());
            let differences = one.iter().zip(two).map(|(one, two)| (one - two).abs());
            largest = differences.fold(largest, f32::max);
        }
    }
    largest
}

/// Names and contents of the weights of a model.
fn weights(desk: &Desk, model: &str) -> Vec<(String, Vec<u8>)> {
    let files = desk.model_files(model).into_iter();
    let weights: Vec<_> = files
        .filter(|(name, _)| name.ends_with(".safetensors"))
        .collect();
    assert!(!weights.is_empty());
    weights
}

/// Gives the place with the models `one` and `two`.
fn assert_two_learn_as_one(system: &str, more: &[&str]) -> Desk {
    let desk = Desk::with_catalogue(300);
    let steady = join(&[&STEADY, without_dropout(system), more]);
    desk.succeed(&train_args(system, "one", &steady));
    let outputs = Pair::start(
        &desk,
        &train_args(system, "two", &join(&[&steady, &["-vv"]])),
    )
    .end();
    let log = String::from_utf8_lossy(&outputs[0].stderr);
    assert!(outputs[0].status.success(), "{log}");
    let [first, second] = [0, 1].map(|rank| last_weights(&outputs[rank]));
    assert!(!first.is_empty());
    assert_eq!(first, second);
    let (one, two) = (records(&desk, "one"), records(&desk, "two"));
    assert!(
        one.iter()
            .any(|(step, name, _)| *step >= 50 && name == "loss")
    );
    assert_eq!(one.len(), two.len());
    for ((step, name, expected), (_, _, found)) in one.iter().zip(&two) {
        if name == "loss" {
            let error = (found - expected).abs() / expected.abs().max(1.0);
            assert!(error < 1e-4, "{system}, step {step}: {found} {expected}");
        } else {
            assert!(
                (found - expected).abs() < 0.02,
                "{system} {name}: {found} {expected}"
            );
        }
    }
    // Nothing is left of the second process.
    let left = fs::read_dir(desk.path()).unwrap().flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    let ranks = left
        .iter()
        .filter(|name| name.to_string_lossy().contains("rank"));
    assert_eq!(ranks.count(), 0, "{left:?}");
    desk
}

#[test]
fn attentionxml_learns_in_two_processes_as_in_one() {
    assert_two_learn_as_one("attentionxml", &[]);
}

#[test]
fn lightxml_learns_in_two_processes_as_in_one() {
    assert_two_learn_as_one("lightxml", &[]);
}

#[test]
fn labels_in_shards_learn_as_whole_ones() {
    let desk = assert_two_learn_as_one("lightxml", &EXACT);
    let distance = distance(&desk, "one", "two");
    assert!(distance < 1e-5, "{distance}");
    let [one, two] = ["one", "two"].map(|model| scores(&desk, model));
    assert!(one.len() > 20);
    for (one, two) in one.iter().zip(&two) {
        assert!((one - two).abs() < 1e-5, "{one} {two}");
    }
}

/// The scores of all predictions for the documents of the test part.
fn scores(desk: &Desk, model: &str) -> Vec<f64> {
    let predicted = desk.succeed(&join(&[&["predict", model], &TEST_PART]));
    let mut scores = Vec::new();
    for line in predicted.lines() {
        let document: Value = serde_json::from_str(line).unwrap();
        let labels = document["predictions"].as_array().unwrap().iter();
        scores.extend(labels.map(|label| label["score"].as_f64().unwrap()));
    }
    scores
}

#[test]
fn labels_in_shards_learn_from_neighbours_too() {
    assert_two_learn_as_one("treaderxml", &EXACT);
}

#[test]
fn a_pair_that_was_killed_resumes_and_ends_with_the_same_weights() {
    assert_resumed("attentionxml", "tree-0.level-0", &[]);
}

#[test]
fn labels_in_shards_are_resumed_as_well() {
    assert_resumed("lightxml", "member-0", &EXACT);
}

fn assert_resumed(system: &str, stage: &str, more: &[&str]) {
    let desk = Desk::with_catalogue(300);
    let often = ["--set", "train.checkpoint_minutes=0"];
    let often = join(&[&STEADY, without_dropout(system), &often, more]);
    Pair::start(&desk, &train_args(system, "whole", &often)).succeed();
    let args = train_args(system, "killed", &often);
    let mut pair = Pair::start(&desk, &args);
    wait_for(&desk.file(&format!("killed.training/{stage}.checkpoint.safetensors")));
    let killed = Instant::now();
    pair.ranks[1].kill().unwrap();
    let outputs = pair.end();
    assert!(killed.elapsed() < Duration::from_secs(30));
    let message = String::from_utf8_lossy(&outputs[0].stderr).into_owned();
    assert_eq!(outputs[0].status.code(), Some(1), "{message}");
    assert!(message.contains("rank 0 of 2 has lost rank 1"), "{message}");
    assert!(!desk.file("killed").exists());
    // A single process may resume, too, and ends with the same up to rounding.
    let copied = Command::new("cp")
        .current_dir(desk.path())
        .args(["-r", "killed.training", "alone.training"])
        .status();
    assert!(copied.unwrap().success());
    let alone = train_args(system, "alone", &often);
    desk.succeed(&join(&[&alone, &["--resume"]]));
    let distance = distance(&desk, "alone", "whole");
    assert!(distance < 1e-3, "{distance}");
    Pair::start(&desk, &join(&[&args, &["--resume"]])).succeed();
    assert_eq!(weights(&desk, "killed"), weights(&desk, "whole"));
}

#[test]
fn the_others_end_with_rank_0() {
    let desk = Desk::with_catalogue(300);
    let long = join(&[&STEADY, &["--set", "train.epochs=100"]]);
    let mut pair = Pair::start(&desk, &train_args("attentionxml", "model", &long));
    wait_for(&desk.file("model.rank-1.training"));
    let killed = Instant::now();
    pair.ranks[0].kill().unwrap();
    let outputs = pair.end();
    assert!(killed.elapsed() < Duration::from_secs(30));
    let message = String::from_utf8_lossy(&outputs[1].stderr).into_owned();
    assert_eq!(outputs[1].status.code(), Some(1), "{message}");
    assert!(message.contains("rank 1 of 2"), "{message}");
}

#[test]
fn what_cannot_be_trained_together_says_so() {
    let desk = Desk::with_catalogue(100);
    let args = train_args("attentionxml", "model", &["--distributed"]);
    let message = desk.fail(2, &args);
    assert!(message.contains("RANK is not set"), "{message}");
    let linear = join(&[
        &["train"],
        &support::TRAIN_PART,
        &["-o", "model", "--system", "bonsai"],
    ]);
    let outputs = Pair::start(&desk, &linear).end();
    for output in outputs {
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(
            message.contains("bonsai is not trained by several processes"),
            "{message}"
        );
    }
}
