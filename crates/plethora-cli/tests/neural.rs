//! The neural systems from a corpus to predictions: the same commands as for the linear ones.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod refusal;
mod support;

use std::fs;

use refusal::BAD_DATA;
use serde_json::Value;
use support::neural::{CLUSTERED, train_args};
use support::{Desk, TEST_PART, join};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_system_trains_evaluates_predicts_and_tells_about_itself() {
    let desk = Desk::with_catalogue(300);
    for (system, model, more) in [
        ("attentionxml", "attentionxml", &[][..]),
        ("attentionxml-plt", "attentionxml-plt", &[]),
        ("xml-rnn", "xml-rnn", &[]),
        ("xml-cnn", "xml-cnn", &[]),
        ("lightattention", "lightattention", &[]),
        ("lightxml", "flat", &[]),
        ("lightxml", "clustered", &CLUSTERED),
        ("aplc-xlnet", "adaptive", &[]),
        ("treaderxml", "treaderxml", &[]),
    ] {
        let more = join(&[more, &["--json", "-q"]]);
        let report = json(&desk.succeed(&train_args(system, model, &more)));
        assert_eq!(report["system"], system);
        let reads = match system {
            "lightxml" | "aplc-xlnet" => "pieces",
            _ => "words",
        };
        assert_eq!(report["reads"], reads);
        assert!(report["n_words"].as_u64().unwrap() > 50, "{report}");
        assert!(report["n_parameters"].as_u64().unwrap() > 1000, "{report}");
        assert!(report["seconds"]["training"].as_f64().unwrap() > 0.0);
        let folder = desk.file(model);
        assert!(folder.join("metrics.jsonl").is_file(), "{model}");
        let files = fs::read_dir(&folder).unwrap();
        let mut names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        assert!(names.any(|name| name.starts_with("events.out.tfevents.")));
        assert!(!desk.file(&format!("{model}.training")).exists());

        let metrics = desk.succeed(&join(&[
            &["eval", model],
            &TEST_PART,
            &["--json", "-q", "-j", "1"],
        ]));
        let precision = json(&metrics)["P@5"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&precision), "{model}: {precision}");

        let lines = desk.succeed(&join(&[
            &["predict", model],
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

        // More labels than any number that libtorch holds are all labels.
        let many = [
            "-k",
            "9223372036854775808",
            "-q",
            "-j",
            "1",
            "--docs-limit",
            "1",
        ];
        let line = desk.succeed(&join(&[&["predict", model], &TEST_PART, &many]));
        let predictions = json(&line)["predictions"].clone();
        assert!(predictions.as_array().unwrap().len() > 3, "{line}");

        let info = desk.succeed(&["info", model]);
        assert!(info.contains("parameters  "), "{info}");
        assert!(info.contains("cpu and cuda from the same folder"), "{info}");
        let described = json(&desk.succeed(&["info", model, "--json"]));
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
fn batches_of_words_follow_the_number_of_documents_unless_they_are_set() {
    let desk = Desk::with_catalogue(60);
    let batch_of = |setting: &str| -> Value {
        let more = ["--set", setting, "--set", "train.epochs=1", "-q", "--force"];
        desk.succeed(&train_args("xml-cnn", "model", &more));
        json(&desk.read("model/config.json"))["train"]["batch_size"].clone()
    };
    assert_eq!(batch_of("train.batch_size=auto"), 16);
    assert_eq!(batch_of("train.batch_size=12"), 12);
}

#[test]
fn texts_without_a_common_word_are_refused_with_the_setting_that_keeps_rare_ones() {
    let desk = Desk::empty();
    let lines = ["alpha", "beta"].map(|text| format!(r#"{{"text":"{text}","labels":["{text}"]}}"#));
    desk.write("few.jsonl", &lines.join("\n"));
    for (system, setting, expected) in [
        ("attentionxml", "words.min_df=2", "words.min_df=1"),
        ("treaderxml", "words.min_df=2", "words.min_df=1"),
        ("treaderxml", "words.min_df=1", "neighbours.text.min_df=1"),
        ("attentionxml-plt", "words.min_df=1", "plt.text.min_df=1"),
    ] {
        let args = ["train", "few.jsonl", "-o", "model", "--system", system];
        let message = desk.fail(BAD_DATA, &join(&[&args, &["--set", setting]]));
        let hint = format!("--set {expected} keeps rare terms");
        assert!(message.contains(&hint), "{message}");
    }
}

#[test]
fn attention_explains_a_label_and_gradients_where_there_is_none() {
    let desk = Desk::with_catalogue(300);
    for system in ["attentionxml", "lightattention", "xml-cnn"] {
        desk.succeed(&train_args(system, system, &["-q"]));
    }
    let text = "A history of harbours and their lighthouses";
    for system in ["attentionxml", "lightattention"] {
        let explained = ["explain", system, text, "-k", "1", "-f", "json", "-j", "1"];
        let explanation = json(&desk.succeed(&explained))["explanations"][0].clone();
        assert_eq!(explanation["method"], "attention", "{explanation}");
    }
    let explained = [
        "explain", "xml-cnn", text, "-k", "1", "-f", "json", "-j", "1",
    ];
    let explanation = json(&desk.succeed(&explained))["explanations"][0].clone();
    assert_eq!(explanation["method"], "gradient", "{explanation}");
    assert_eq!(explanation["spans"][2]["text"], "of", "{explanation}");
}
