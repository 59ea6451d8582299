//! `plethora train` without a system: members chosen by the data, fused, in a time.

mod support;

use serde_json::Value;
use support::{Desk, TEST_PART, TRAIN_PART, join};

fn train<'a>(model: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let usual = ["-o", model, "--budget", "30s", "-q"];
    join(&[&["train"], &TRAIN_PART, &usual, more])
}

fn report(desk: &Desk, args: &[&str]) -> Value {
    serde_json::from_str(&desk.succeed(args)).expect("a report as JSON")
}

#[test]
fn a_consensus_is_trained_judged_saved_and_ranks() {
    let desk = Desk::with_catalogue(500);
    let before = std::fs::read_dir(desk.path()).unwrap().count();
    let found = report(&desk, &train("model", &["--json"]));
    let members = found["members"].as_array().unwrap();
    assert!(members.len() >= 3, "{found}");
    let consensus = found["consensus"]["nDCG@5"].as_f64().unwrap();
    for member in members {
        let own = member["held_back"]["nDCG@5"].as_f64().unwrap();
        assert!(consensus + 1e-9 >= own - 0.0005, "{found}");
    }
    let measured = report(
        &desk,
        &join(&[&["eval", "model"], &TEST_PART, &["--json", "-q"]]),
    );
    assert!(measured["nDCG@5"].as_f64().unwrap() > 0.2, "{measured}");
    let again = report(&desk, &train("again", &["--json"]));
    assert_eq!(again["consensus"], found["consensus"]);
    let left = std::fs::read_dir(desk.path()).unwrap().count();
    assert_eq!(left, 2 + before, "two models, and nothing of the work");
}

#[test]
fn the_plan_says_what_is_trained_and_why_not() {
    let desk = Desk::with_catalogue(300);
    let shown = desk.succeed(&train("model", &["--dry-run"]));
    assert!(shown.contains("wide-tree, pairs of words"), "{shown}");
    assert!(shown.contains("budget      30.0 s"), "{shown}");
    assert!(!desk.file("model").exists());
    let planned = report(&desk, &train("model", &["--dry-run", "--json"]));
    assert!(
        planned["members"].as_array().unwrap().len() >= 4,
        "{planned}"
    );
}

#[test]
fn the_smallest_corpora_get_a_model_or_one_message() {
    let desk = Desk::empty();
    let line = |number: u32| {
        format!("{{\"text\": \"bees and hives {number}\", \"labels\": [\"bees\"]}}\n")
    };
    let usual = [
        "train",
        "train.jsonl",
        "--force",
        "--budget",
        "30s",
        "-q",
        "-o",
    ];
    for count in [1, 2, 50] {
        desk.write("train.jsonl", &(0..count).map(line).collect::<String>());
        desk.succeed(&join(&[&usual, &["model"]]));
        let ranked = desk.succeed(&["predict", "model", "train.jsonl", "-q"]);
        assert!(ranked.contains("\"bees\""), "{ranked}");
    }
    desk.write("train.jsonl", "{\"text\": \"bees\", \"labels\": []}\n");
    let message = desk.fail(3, &join(&[&usual[..5], &["-o", "none"]]));
    assert!(message.contains("no document has labels"), "{message}");
}

#[test]
fn options_of_the_choice_are_refused_beside_a_system() {
    let desk = Desk::with_catalogue(50);
    let args = join(&[
        &["train"],
        &TRAIN_PART,
        &["-o", "m", "--budget", "30s", "--system", "parabel"],
    ]);
    let message = desk.fail(2, &args);
    assert!(
        message.contains("--budget: only where systems are chosen"),
        "{message}"
    );
    let message = desk.fail(
        2,
        &join(&[
            &["train"],
            &TRAIN_PART,
            &["-o", "m", "--objective", "beauty"],
        ]),
    );
    assert!(
        message.contains("expected nDCG@5, PSP@5, micro-F1"),
        "{message}"
    );
}
