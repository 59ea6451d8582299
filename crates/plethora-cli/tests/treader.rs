//! TReaderXML through the command line: its presets, why it predicts what it does, and what it refuses.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod refusal;
mod support;

use refusal::{BAD_DATA, USAGE};
use serde_json::Value;
use support::neural::train_args;
use support::{Desk, TEST_PART, TRAIN_PART, join};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn neighbours_and_the_labels_they_brought_explain_a_label() {
    let desk = Desk::with_catalogue(300);
    let vocabulary = ["--vocabulary", "labels.jsonl", "-q"];
    desk.succeed(&train_args("treaderxml", "model", &vocabulary));
    let text = "A history of harbours and their lighthouses";
    let predicted = desk
        .command(&["predict", "model", "-", "-k", "3", "-q", "-j", "1"])
        .write_stdin(format!("{text}\n"))
        .output()
        .unwrap();
    let predicted: Value = serde_json::from_slice(&predicted.stdout).unwrap();
    let args = ["explain", "model", text, "-k", "3", "-f", "json", "-j", "1"];
    let explained = json(&desk.succeed(&args));
    for number in 0..3 {
        let explanation = &explained["explanations"][number];
        let prediction = &predicted["predictions"][number];
        assert_eq!(explanation["label"], prediction["key"]);
        let score = |value: &Value| value["score"].as_f64().unwrap();
        assert!((score(explanation) - score(prediction)).abs() < 1e-5);
        let own = explanation["network_score"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&own) && (own - score(prediction)).abs() > 1e-6);
        assert_eq!(explanation["method"], "neighbours");
        let neighbours = explanation["neighbours"].as_array().unwrap();
        let share = |one: &Value| one["share"].as_f64().unwrap();
        let sum: f64 = neighbours.iter().map(share).sum();
        assert!((sum - 1.0).abs() < 1e-4, "{sum}");
        let of_label: f64 = (neighbours.iter())
            .filter(|one| one["has_label"] == true)
            .map(share)
            .sum();
        let terms = explanation["terms"].as_array().unwrap().iter();
        let of_terms: f64 = terms
            .map(|term| term["contribution"].as_f64().unwrap())
            .sum();
        assert!((of_label - of_terms).abs() < 1e-4, "{of_label} {of_terms}");
        assert!(!neighbours[0]["labels"].as_array().unwrap().is_empty());
    }
    let shown = desk.succeed(&["explain", "model", text, "-k", "1", "-j", "1"]);
    assert!(shown.contains("similarity"), "{shown}");
    assert!(shown.contains(", the network's own 0."), "{shown}");
    // Calibrated scores are no longer of network and votes alone.
    desk.succeed(&join(&[
        &["calibrate", "model"],
        &TEST_PART,
        &["-q", "-j", "1"],
    ]));
    let explained = json(&desk.succeed(&args));
    assert!(explained["explanations"][0]["network_score"].is_null());
}

#[test]
fn every_preset_and_every_literal_row_of_the_ablation_can_be_trained() {
    let desk = Desk::with_catalogue(120);
    let rows: Vec<String> = (0..7).map(|row| format!("ablation-{row}")).collect();
    let others = [
        "no-teacher",
        "paper",
        "paper-eurlex",
        "paper-amazoncat",
        "paper-rcv1",
        "reading",
    ];
    let alone = rows.iter().map(String::as_str).chain(others);
    // The literal rows are those of the paper's own network.
    let literal = rows.iter().map(|row| vec!["paper", row.as_str()]);
    for presets in alone.map(|preset| vec![preset]).chain(literal) {
        let mut more = vec!["--set", "train.epochs=1", "-q", "--force"];
        more.extend(["--set", "vectors.skip_gram.width=16"]);
        for preset in &presets {
            more.extend(["--preset", preset]);
        }
        desk.succeed(&train_args("treaderxml", "model", &more));
        let metrics = json(&desk.succeed(&join(&[
            &["eval", "model"],
            &TEST_PART,
            &["--json", "-q", "-j", "1"],
        ])));
        assert!(metrics["P@5"].is_number(), "{presets:?}");
    }
    let text = "A history of harbours";
    desk.succeed(&train_args(
        "treaderxml",
        "alone",
        &["--preset", "no-teacher", "-q"],
    ));
    let explained = json(&desk.succeed(&["explain", "alone", text, "-k", "1", "-f", "json"]));
    assert_eq!(
        explained["explanations"][0]["method"], "gradient",
        "{explained}"
    );
}

#[test]
fn text_alone_and_neighbours_alone_make_the_control_of_the_mixture() {
    let desk = Desk::with_catalogue(400);
    desk.succeed(&train_args(
        "treaderxml",
        "no-teacher",
        &["--preset", "no-teacher", "-q"],
    ));
    let neighbours = ["-o", "knn", "--system", "knn", "-q"];
    desk.succeed(&join(&[&["train"], &TRAIN_PART, &neighbours]));
    let fitted = ["ensemble", "no-teacher", "knn", "-o", "control", "--fit"];
    desk.succeed(&join(&[&fitted, &TEST_PART, &["-q"]]));
    let precision = |model: &str| {
        let shown = desk.succeed(&join(&[&["eval", model], &TEST_PART, &["--json", "-q"]]));
        json(&shown)["nDCG@5"].as_f64().unwrap()
    };
    let control = precision("control");
    for part in ["no-teacher", "knn"] {
        assert!(control >= precision(part), "{part}");
    }
}

#[test]
fn labels_whose_names_nobody_knows_are_told_of_once() {
    let desk = Desk::empty();
    let lines: Vec<String> = (0..40)
        .map(|number| {
            let text = ["tides and harbours of the sea", "queens and hives of bees"][number % 2];
            format!(
                "{{\"id\": \"{number}\", \"text\": \"{text}\", \"labels\": [\"x:{}\"]}}",
                number % 4
            )
        })
        .collect();
    desk.write("documents.jsonl", &lines.join("\n"));
    let warnings = |more: &[&str]| {
        let args = [
            "train",
            "documents.jsonl",
            "-o",
            "model",
            "--system",
            "treaderxml",
            "--force",
        ];
        let short = [
            "--set",
            "train.epochs=1",
            "--set",
            "vectors.width=16",
            "-j",
            "1",
        ];
        let output = desk
            .command(&join(&[&args, &short, more]))
            .output()
            .unwrap();
        assert!(output.status.success());
        let shown = String::from_utf8(output.stderr).unwrap();
        shown.matches("no name of known words").count()
    };
    let read = ["--set", "teacher.read=true"];
    assert_eq!(warnings(&read), 1);
    let described = ["--set", "teacher.descriptions=missing"];
    assert_eq!(warnings(&join(&[&read, &described])), 0);
    assert_eq!(warnings(&[]), 0, "names are not read");
}

#[test]
fn settings_that_cannot_work_are_refused_by_name() {
    let desk = Desk::with_catalogue(20);
    for (setting, expected) in [
        (
            "reading.heads=3",
            "reading.heads: must divide vectors.width",
        ),
        (
            "reading.first=none",
            "reading.second: must be none where reading.first is",
        ),
        (
            "reading.first=sideways",
            "expected one of none, masked, full",
        ),
        (
            "teacher.mixed=false",
            "teacher.used: must be false where teacher.read and teacher.mixed are",
        ),
        (
            "teacher.prior=true",
            "teacher.prior: must be false where teacher.read is",
        ),
        ("teacher.read=aloud", "teacher.read"),
        (
            "neighbours.text.first_line_times=0",
            "neighbours.text.first_line_times: must be from 1 to 100",
        ),
        ("neighbours.by=luck", "expected one of tf-idf, mean"),
        (
            "neighbours.limit=0",
            "neighbours.limit: must be from 1 to 10000",
        ),
        ("head.output=softmin", "expected one of sigmoid, softmax"),
        ("teacher.max_label=3", "did you mean `teacher.max_labels`?"),
    ] {
        let message = desk.fail(
            USAGE,
            &train_args("treaderxml", "model", &["--set", setting]),
        );
        assert!(message.contains(expected), "{message}");
    }
    let args = ["--vectors", "nowhere.txt"];
    let message = desk.fail(BAD_DATA, &train_args("treaderxml", "model", &args));
    assert!(message.contains("nowhere.txt"), "{message}");
}
