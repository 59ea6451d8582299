//! `calibrate` through the command line, what `predict`, `eval`, `info` and `ensemble` make of it,
//! and what is refused.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod refusal;
mod support;

use std::fs;

use refusal::{BAD_DATA, FAILURE, USAGE, desk_with_model, refuse};
use serde_json::Value;
use support::{Desk, TEST_PART, TRAIN_PART, join};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A desk with a catalogue and a model of its training part.
fn desk_with_catalogue() -> Desk {
    let desk = Desk::with_catalogue(1500);
    desk.succeed(&join(&[&["train"], &TRAIN_PART, &["-o", "model"]]));
    desk
}

fn predict(desk: &Desk, model: &str, more: &[&str]) -> Vec<Value> {
    let lines = desk.succeed(&join(&[&["predict", model], &TEST_PART, more]));
    lines.lines().map(json).collect()
}

fn eval(desk: &Desk, model: &str, more: &[&str]) -> Value {
    json(&desk.succeed(&join(&[&["eval", model], &TEST_PART, &["--json"], more])))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn a_model_is_calibrated_described_and_used() {
    let desk = desk_with_catalogue();
    let before = predict(&desk, "model", &[]);
    let options = ["--thresholds", "label", "-o", "calibrated", "--json"];
    let told = json(&desk.succeed(&join(&[&["calibrate", "model"], &TEST_PART, &options])));
    assert_eq!(told["config"]["method"], "isotonic");
    assert_eq!(told["model"], "calibrated");
    let quality = &told["quality"];
    assert_eq!(quality["is_held_out"], true);
    assert!(number(&quality["ece_after"]) < number(&quality["ece_before"]));
    assert!(number(&quality["micro_f1_after"]) >= number(&quality["micro_f1_before"]));

    assert_eq!(
        predict(&desk, "model", &[]),
        before,
        "the model is as it was"
    );
    assert_eq!(predict(&desk, "calibrated", &["--scores", "raw"]), before);
    let after = predict(&desk, "calibrated", &[]);
    assert_ne!(after, before);
    let labels = |document: &Value| {
        let found = document["predictions"].as_array().unwrap().iter();
        found.map(|label| label["key"].clone()).collect::<Vec<_>>()
    };
    for (new, old) in after.iter().zip(&before) {
        assert_eq!(labels(new), labels(old), "one rising map keeps the order");
    }
    let tuned = predict(&desk, "calibrated", &["--tuned"]);
    let count = |documents: &[Value]| documents.iter().map(|one| labels(one).len()).sum::<usize>();
    assert!(count(&tuned) > 0 && count(&tuned) < count(&after));

    let (plain, tuned) = (
        eval(&desk, "calibrated", &[]),
        eval(&desk, "calibrated", &["--tuned"]),
    );
    assert_eq!(tuned["tuned_thresholds"], true);
    assert_eq!(plain["P@5"], tuned["P@5"]);
    assert!(number(&tuned["microF1"]) > number(&plain["microF1"]));
    let raw = eval(&desk, "calibrated", &["--scores", "raw"]);
    assert_eq!(raw["microF1"], eval(&desk, "model", &[])["microF1"]);
    let shown = desk.succeed(&join(&[&["eval", "calibrated"], &TEST_PART, &["--tuned"]]));
    assert!(
        shown.contains("a score from their tuned thresholds among the best 100"),
        "{shown}"
    );

    let info = json(&desk.succeed(&["info", "calibrated", "--json"]));
    assert_eq!(info["calibration"]["n_documents"], told["n_documents"]);
    let shown = desk.succeed(&["info", "calibrated"]);
    assert!(shown.contains("\ncalibrated  isotonic, on "), "{shown}");
    assert!(shown.contains("\nthresholds  0."), "{shown}");
    assert!(
        desk.succeed(&["info", "model"])
            .contains("\ncalibrated  no\n")
    );
}

#[test]
fn thresholds_give_all_labels_that_reach_them() {
    let desk = desk_with_catalogue();
    let sizes = |more: &[&str]| {
        let documents = predict(&desk, "model", more);
        let sizes = documents
            .iter()
            .map(|one| one["predictions"].as_array().unwrap().len());
        sizes.collect::<Vec<_>>()
    };
    assert!(sizes(&["-t", "0"]).iter().all(|&size| size > 10));
    assert!(sizes(&["-t", "0", "-k", "3"]).iter().all(|&size| size == 3));
    let deep = predict(&desk, "model", &["-k", "1000"]);
    let reaching = deep.iter().map(|document| {
        let labels = document["predictions"].as_array().unwrap().iter();
        labels
            .filter(|label| number(&label["score"]) >= 0.01)
            .count()
    });
    let few = sizes(&["-t", "0.01"]);
    assert_eq!(few, reaching.collect::<Vec<_>>());
    assert!(few.iter().any(|&size| size > 10), "{few:?}");
}

#[test]
fn in_place_the_model_is_replaced_in_one_step_and_can_be_calibrated_again() {
    let desk = desk_with_catalogue();
    let first = [
        "--method",
        "platt",
        "--by-frequency",
        "--thresholds",
        "band",
    ];
    let shown = desk.succeed(&join(&[&["calibrate", "model"], &TEST_PART, &first]));
    assert!(
        shown.starts_with("model       model (replaced by itself"),
        "{shown}"
    );
    for expected in [
        "calibration error",
        "micro-F1",
        "after: each half of the documents",
    ] {
        assert!(shown.contains(expected), "{expected} is not in\n{shown}");
    }
    let read = || fs::read(desk.file("model/calibration.json")).unwrap();
    let once = read();
    desk.succeed(&join(&[
        &["calibrate", "model"],
        &TEST_PART,
        &first,
        &["-j", "1"],
    ]));
    assert!(
        once == read(),
        "fitted to the model's own scores, for any number of threads"
    );
    let names = fs::read_dir(desk.path()).unwrap().count();
    assert_eq!(names, 3, "documents, labels and model");
    desk.succeed(&["explain", "model", "A history of harbours", "-k", "2"]);
}

#[test]
fn models_with_calibration_make_a_consensus() {
    let desk = desk_with_catalogue();
    let parabel = ["-o", "parabel", "--system", "parabel"];
    desk.succeed(&join(&[&["train"], &TRAIN_PART, &parabel]));
    for model in ["model", "parabel"] {
        desk.succeed(&join(&[&["calibrate", model], &TEST_PART]));
    }
    let made = |way: &str, output: &str| {
        let line = ["ensemble", "model", "parabel", "-o", output, "--json"];
        json(&desk.succeed(&join(&[&line, &["--combination", way, "--link"]])))
    };
    for way in ["noisy-or", "reciprocal-rank"] {
        let summary = made(way, way);
        assert_eq!(summary["combination"], way);
        assert_eq!(summary["is_linked"], true);
        assert!(number(&eval(&desk, way, &[])["P@1"]) > 0.5);
    }
    let line = [
        "ensemble", "model", "parabel", "-o", "stacked", "--json", "--fit",
    ];
    let stacked = json(&desk.succeed(&join(&[&line, &TEST_PART])));
    assert_eq!(stacked["combination"], "stacked");
    let fitted = &stacked["stacking"];
    assert!(number(&fitted["ndcg_after"]) >= number(&fitted["ndcg_before"]));
    let measured = eval(&desk, "stacked", &[]);
    assert!((number(&measured["nDCG@5"]) - number(&fitted["ndcg_after"])).abs() < 2e-3);
    desk.succeed(&["explain", "stacked", "A history of harbours", "-k", "1"]);

    for (way, says) in [
        ("powers", "power"),
        ("label-weights", "weights"),
        ("fused", "nDCG@5"),
    ] {
        let line = join(&[
            &[
                "ensemble",
                "model",
                "parabel",
                "-o",
                way,
                "--combination",
                way,
            ],
            &["--fit"],
            &TEST_PART,
        ]);
        let shown = desk.succeed(&line);
        assert!(shown.lines().any(|line| line.starts_with(says)), "{shown}");
        let found = number(&eval(&desk, way, &[])["nDCG@5"]);
        // Fitted to these very documents.
        assert!(
            found > number(&fitted["ndcg_before"]) - 0.01,
            "{way}: {found}"
        );
        for scored in predict(&desk, way, &["-k", "3"])
            .iter()
            .flat_map(|line| line["predictions"].as_array().unwrap())
        {
            assert!(
                (0.0..=1.0).contains(&number(&scored["score"])),
                "{way}: {scored}"
            );
        }
    }

    let info = desk.succeed(&["info", "noisy-or"]);
    assert!(info.contains("  ../parabel "), "{info}");
    fs::create_dir(desk.file("away")).unwrap();
    refuse(
        &desk,
        "calibrate noisy-or documents.jsonl -o away/copy",
        BAD_DATA,
        "noisy-or: links to its members by paths that would lead elsewhere from another place; \
         calibrate it without -o, or into the folder it is in",
    );
    desk.succeed(&join(&[
        &["calibrate", "noisy-or"],
        &TEST_PART,
        &["-o", "copy"],
    ]));
    fs::rename(desk.file("parabel"), desk.file("away/parabel")).unwrap();
    for verb in ["predict", "eval"] {
        refuse(
            &desk,
            &format!("{verb} noisy-or documents.jsonl"),
            BAD_DATA,
            "noisy-or: the member ../parabel is not there any more: put it back, or make the \
             ensemble again",
        );
    }
    fs::rename(desk.file("away/parabel"), desk.file("parabel")).unwrap();
    desk.succeed(&join(&[
        &["calibrate", "parabel"],
        &TEST_PART,
        &["--method", "platt"],
    ]));
    refuse(
        &desk,
        "info noisy-or",
        BAD_DATA,
        "noisy-or: the member ../parabel was changed since the ensemble was made: make the \
         ensemble again",
    );
}

#[test]
fn what_cannot_be_calibrated_or_fitted_is_refused() {
    let desk = desk_with_model();
    desk.succeed(&["train", "books.jsonl", "-o", "other", "--seed", "2"]);
    let first = desk.read("books.jsonl").lines().next().unwrap().to_owned();
    desk.write("one.jsonl", &format!("{first}\n"));
    desk.write(
        "two.jsonl",
        &desk
            .read("books.jsonl")
            .lines()
            .take(2)
            .collect::<Vec<_>>()
            .join("\n"),
    );
    desk.write("bare.jsonl", "{\"id\":\"1\",\"text\":\"tides\"}\n");
    desk.write(
        "others.jsonl",
        &desk
            .read("books.jsonl")
            .replace("\"labels\":[\"", "\"labels\":[\"X"),
    );
    desk.succeed(&["train", "others.jsonl", "-o", "others"]);
    for (line, status, message) in [
        (
            "calibrate model bare.jsonl",
            BAD_DATA,
            "bare.jsonl: no document has labels, so there is nothing to calibrate with; \
             --label-field names their field",
        ),
        (
            "calibrate model one.jsonl",
            BAD_DATA,
            "one.jsonl: only one document has labels: calibration needs many, at least two",
        ),
        (
            "calibrate model two.jsonl",
            BAD_DATA,
            "two.jsonl: only 2 of the labels that the model ranks are true: calibration needs at \
             least 10; are these documents of the model's kind?",
        ),
        (
            "calibrate model books.jsonl --depth 1",
            BAD_DATA,
            "books.jsonl: all labels that the model ranks are true: calibration needs false ones \
             too; rank more labels per document",
        ),
        (
            "calibrate model books.jsonl -o other",
            FAILURE,
            "other exists already; choose another name or pass --force to replace it",
        ),
        (
            "calibrate nowhere books.jsonl",
            BAD_DATA,
            "nowhere: no such model folder",
        ),
        (
            "calibrate model books.jsonl --method guess",
            USAGE,
            "invalid value 'guess' for ...",
        ),
        (
            "predict model books.jsonl --tuned",
            BAD_DATA,
            "model: has no tuned thresholds; `plethora calibrate --thresholds` makes them",
        ),
        (
            "eval model books.jsonl --tuned",
            BAD_DATA,
            "model: has no tuned thresholds; `plethora calibrate --thresholds` makes them",
        ),
        (
            "eval model books.jsonl --tuned --scores raw",
            USAGE,
            "--tuned: thresholds are tuned for calibrated scores, not for --scores raw",
        ),
        (
            "predict model books.jsonl --tuned --threshold 0.3",
            USAGE,
            "the argument '--tuned' cannot be used with '--threshold <SCORE>'",
        ),
        (
            "ensemble model other -o out --combination stacked",
            USAGE,
            "--combination stacked: its weights are fitted to validation documents; name them with \
             --fit DATA",
        ),
        (
            "ensemble model other -o out --combination mean --fit books.jsonl",
            USAGE,
            "--fit: nothing is fitted for this combination; leave it out, or pass --combination \
             stacked, powers, label-weights or fused",
        ),
        (
            "ensemble model other -o out --fit books.jsonl --weights 1,2",
            USAGE,
            "--weights: those of a stacked ensemble are fitted, leave them out",
        ),
        (
            "ensemble model other -o out --fit bare.jsonl",
            BAD_DATA,
            "bare.jsonl: no document has labels, so there is nothing to fit weights to; \
             --label-field names their field",
        ),
        (
            "ensemble model other -o out --fit one.jsonl",
            BAD_DATA,
            "one.jsonl: only one document has labels: fitting weights needs many, at least two",
        ),
        (
            "ensemble model others -o out",
            BAD_DATA,
            "others: shares no label with model: they were trained on other label spaces",
        ),
    ] {
        refuse(&desk, line, status, message);
    }
}

#[test]
fn a_damaged_calibration_is_told_with_its_file() {
    let desk = desk_with_model();
    desk.succeed(&["calibrate", "model", "books.jsonl"]);
    let text = desk
        .read("model/calibration.json")
        .replacen("\"n_true\"", "\"n_trve\"", 1);
    desk.write("model/calibration.json", &text);
    refuse(
        &desk,
        "predict model books.jsonl",
        BAD_DATA,
        "model/calibration.json: the file is damaged: its SHA-256 is not the one in the manifest",
    );
}
