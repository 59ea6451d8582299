//! What is left of a run that was stopped, and how the next one resumes it.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod support;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use support::{Desk, TRAIN_PART, join};

/// Trees enough that a run lasts some seconds.
const SETTINGS: [&str; 4] = ["--system", "parabel", "--set", "num_trees=12"];

fn start(desk: &Desk, model: &str) -> Child {
    let program = assert_cmd::cargo::cargo_bin!("plethora");
    Command::new(program)
        .current_dir(desk.path())
        .args(join(&[&["train"], &TRAIN_PART, &["-o", model], &SETTINGS]))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until a part of the model is complete.
fn wait_for(desk: &Desk, part: &str) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !desk.file(part).exists() {
        assert!(Instant::now() < deadline, "{part} does not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn a_resumed_run_ends_with_the_same_model() {
    let desk = Desk::with_catalogue(1200);
    desk.succeed(&join(&[
        &["train"],
        &TRAIN_PART,
        &["-o", "whole"],
        &SETTINGS,
    ]));
    for (name, model) in [("-INT", "stopped"), ("-TERM", "ended"), ("-KILL", "killed")] {
        let child = start(&desk, model);
        wait_for(&desk, &format!("{model}.training/tree-1.safetensors"));
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        if name != "-KILL" {
            assert_eq!(output.status.code(), Some(1), "{message}");
            let last = message.lines().last().unwrap();
            assert!(
                last.starts_with("error: interrupted; to resume"),
                "{message}"
            );
            assert!(last.ends_with(" --resume"), "{message}");
        }
        assert!(!desk.file(model).exists(), "no half model after {name}");
        let resume = ["-o", model, "--resume"];
        let output = desk.run(&join(&[&["train"], &TRAIN_PART, &SETTINGS, &resume]));
        let log = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{log}");
        assert!(!log.contains("classifiers 1 of 12"), "{log}");
        assert!(!log.contains("no interrupted run"), "{log}");
        assert!(
            desk.model_files("whole") == desk.model_files(model),
            "{name}"
        );
        assert!(!desk.file(&format!("{model}.training")).exists());
    }
}

#[test]
fn a_run_with_nothing_to_resume_says_so() {
    let desk = Desk::with_catalogue(200);
    let resume = ["-o", "model", "--resume"];
    let output = desk.run(&join(&[&["train"], &TRAIN_PART, &resume]));
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{log}");
    assert!(
        log.contains("there is no interrupted run to resume; starting from the beginning"),
        "{log}"
    );
}

#[test]
fn a_command_that_is_typed_again_throws_nothing_away() {
    let desk = Desk::with_catalogue(1200);
    let mut child = start(&desk, "model");
    wait_for(&desk, "model.training/tree-1.safetensors");
    signal(&child, "-INT");
    child.wait().unwrap();
    let parts = desk.model_files("model.training");
    let same = join(&[&["train"], &TRAIN_PART, &["-o", "model"], &SETTINGS]);
    let message = desk.fail(1, &same);
    assert!(
        message.contains("pass --resume to resume it, or --force to throw it away"),
        "{message}"
    );
    assert!(desk.model_files("model.training") == parts);
    desk.succeed(&join(&[&same, &["--force"]]));
    assert!(!desk.file("model.training").exists());
}

#[test]
fn other_settings_do_not_resume_a_run() {
    let desk = Desk::with_catalogue(1200);
    let mut child = start(&desk, "model");
    wait_for(&desk, "model.training/tree-0.safetensors");
    signal(&child, "-KILL");
    child.wait().unwrap();
    let other = ["-o", "model", "--resume", "--seed", "9"];
    let message = desk.fail(3, &join(&[&["train"], &TRAIN_PART, &SETTINGS, &other]));
    assert!(message.contains("other data or settings"), "{message}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let desk = Desk::with_catalogue(600);
    desk.succeed(&join(&[&["train"], &TRAIN_PART, &["-o", "model"]]));
    let program = assert_cmd::cargo::cargo_bin!("plethora");
    let mut child = Command::new(program)
        .current_dir(desk.path())
        .args(["predict", "model", "documents.jsonl", "-k", "50", "-q"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
}
