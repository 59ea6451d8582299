//! What is left of a search that was stopped, and how the next one resumes it.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod support;

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Desk, TRAIN_PART, join};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The finished trials of a search, without the times, which differ from run to run.
fn trials(desk: &Desk, search: &str) -> Vec<Value> {
    let text = desk.read(&format!("{search}/trials.jsonl"));
    let without_time = |line: &str| {
        let mut trial = json(line);
        trial.as_object_mut().unwrap().remove("seconds").unwrap();
        trial
    };
    text.lines().map(without_time).collect()
}

/// Names of what lies in a search's folder.
fn names(desk: &Desk, search: &str) -> Vec<String> {
    let entries = fs::read_dir(desk.file(search)).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Trials long enough to be stopped in the middle.
const SLOW: [&str; 8] = [
    "--system",
    "parabel",
    "--set",
    "num_trees=4",
    "--budget",
    "10m",
    "--trials",
    "9",
];

fn start(desk: &Desk, search: &str) -> Child {
    let program = assert_cmd::cargo::cargo_bin!("plethora");
    let ranges = ["--range", "solver.cost=log:0.1..10", "-o", search];
    Command::new(program)
        .current_dir(desk.path())
        .args(join(&[&["search"], &TRAIN_PART, &SLOW, &ranges]))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until so many trials are finished, and a tree of the next.
fn wait_for(desk: &Desk, search: &str, num_trials: usize) {
    let deadline = Instant::now() + Duration::from_secs(120);
    let is_training = |name: &String| {
        let tree = desk.file(search).join(name).join("tree-1.safetensors");
        tree.exists()
    };
    loop {
        let trials = fs::read_to_string(desk.file(search).join("trials.jsonl"));
        let num_done = trials.unwrap_or_default().lines().count();
        if num_done >= num_trials && names(desk, search).iter().any(is_training) {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "trial {num_trials} does not come"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_resumed_search_ends_with_the_same_trials() {
    let desk = Desk::with_catalogue(1000);
    let ranges = ["--range", "solver.cost=log:0.1..10", "-q"];
    let search = join(&[&["search"], &TRAIN_PART, &SLOW, &ranges]);
    desk.succeed(&join(&[&search, &["-o", "whole"]]));
    for (signal, num_trials, name) in [("-INT", 2, "stopped"), ("-KILL", 9, "killed")] {
        fs::create_dir(desk.file(name)).unwrap();
        let child = start(&desk, name);
        wait_for(&desk, name, num_trials);
        let id = child.id().to_string();
        Command::new("kill").args([signal, &id]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        if signal == "-INT" {
            assert_eq!(output.status.code(), Some(1), "{message}");
            let last = message.lines().last().unwrap();
            let start = "error: interrupted; to resume the search: ";
            assert!(
                last.starts_with(start) && last.ends_with(" --resume"),
                "{message}"
            );
        }
        assert!(
            trials(&desk, name).len() < trials(&desk, "whole").len(),
            "{signal}"
        );
        desk.succeed(&join(&[&search, &["-o", name, "--resume"]]));
        assert_eq!(trials(&desk, name), trials(&desk, "whole"), "{signal}");
        assert_eq!(
            desk.read(&format!("{name}/best.toml")),
            desk.read("whole/best.toml")
        );
        assert_eq!(names(&desk, name), names(&desk, "whole"));
    }
}
