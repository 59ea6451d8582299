//! The system `knn` from a corpus to predictions, and why it predicts what it does.

#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod refusal;
mod support;

use refusal::USAGE;
use serde_json::Value;
use support::{Desk, TEST_PART, TRAIN_PART, join};

const KNN: [&str; 4] = ["--system", "knn", "-o", "model"];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn trained(num_documents: u64, more: &[&str]) -> Desk {
    let desk = Desk::with_catalogue(num_documents);
    let vocabulary = ["--vocabulary", "labels.jsonl"];
    desk.succeed(&join(&[&["train"], &TRAIN_PART, &KNN, &vocabulary, more]));
    desk
}

/// Five books of two kinds, with titles of their own.
fn desk_with_books() -> Desk {
    let desk = Desk::empty();
    let lines = [
        r#"{"id": "b1", "text": "Harbour tides\nThe moon and the tide", "labels": ["Tides"]}"#,
        r#"{"id": "b2", "text": "<b>Moonlight</b> over a tide mill", "labels": ["Tides", "Mills"]}"#,
        r#"{"id": "b3", "text": "Honey from the hive", "labels": ["Bees"]}"#,
        r#"{"id": "b4", "text": "The hive and its queen", "labels": ["Bees"]}"#,
        r#"{"id": "b5", "text": "Wind and water mill", "labels": ["Mills"]}"#,
    ];
    desk.write("books.jsonl", &(lines.join("\n") + "\n"));
    desk.succeed(&join(&[&["train", "books.jsonl"], &KNN]));
    desk
}

#[test]
fn an_index_is_measured_used_and_described() {
    let desk = trained(
        1500,
        &["--valid", "documents.jsonl", "--valid-where", "split=test"],
    );
    let info = json(&desk.succeed(&["info", "model", "--json"]));
    assert_eq!(info["system"], "knn");
    assert!(info["metrics"]["P@1"].as_f64().unwrap() > 0.3, "{info}");
    let measured = json(&desk.succeed(&join(&[&["eval", "model"], &TEST_PART, &["--json"]])));
    for metric in ["P@1", "P@5", "nDCG@5", "PSP@5"] {
        assert_eq!(measured[metric], info["metrics"][metric], "{metric}");
    }
    let predictions = desk.succeed(&join(&[&["predict", "model"], &TEST_PART, &["-k", "7"]]));
    for line in predictions.lines() {
        let line = json(line);
        let scores: Vec<f64> = (line["predictions"].as_array().unwrap().iter())
            .map(|one| one["score"].as_f64().unwrap())
            .collect();
        assert_eq!(scores.len(), 7);
        assert!(scores.is_sorted_by(|left, right| left >= right), "{line}");
        assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
    }
    assert!(
        desk.succeed(&["info", "model"])
            .contains("index.safetensors")
    );
}

#[test]
fn files_are_equal_for_any_number_of_threads() {
    let desk = trained(400, &["-j", "1"]);
    let first = desk.model_files("model");
    let again = ["--vocabulary", "labels.jsonl", "--force", "-j", "2"];
    desk.succeed(&join(&[&["train"], &TRAIN_PART, &KNN, &again]));
    assert!(first == desk.model_files("model"));
}

#[test]
fn neighbours_and_the_words_they_share_explain_a_label() {
    let desk = desk_with_books();
    let text = "A tide mill by the harbour";
    let explained = json(&desk.succeed(&["explain", "model", text, "-f", "json", "-k", "4"]));
    let first = &explained["explanations"][0];
    assert_eq!(first["method"], "neighbours");
    let label = first["label"].as_str().unwrap();
    let neighbours = first["neighbours"].as_array().unwrap();
    let named = |id: &str| neighbours.iter().find(|one| one["id"] == id).unwrap();
    assert_eq!(named("b2")["title"], "<b>Moonlight</b> over a tide mill");
    assert_eq!(named("b2")["labels"].as_array().unwrap().len(), 2);
    assert_eq!(named("b1")["title"], "Harbour tides");
    // What the terms add, the votes, and the score are one sum.
    let number = |value: &Value| value.as_f64().unwrap();
    let terms = first["terms"].as_array().unwrap();
    let of_terms: f64 = terms.iter().map(|term| number(&term["contribution"])).sum();
    assert!((of_terms - number(&first["score"])).abs() < 1e-5, "{first}");
    let votes: f64 = (neighbours.iter().filter(|one| one["has_label"] == true))
        .map(|one| number(&one["share"]))
        .sum();
    assert!(votes > 0.0 && votes <= of_terms, "{label}");
    let spans = first["spans"].as_array().unwrap();
    assert!(spans.iter().any(|span| span["text"] == "tide"), "{spans:?}");

    let shown = desk.succeed(&["explain", "model", text, "-l", "Mills"]);
    assert!(shown.contains("(frequency)"), "{shown}");
    assert!(
        shown.contains("+ b2 <b>Moonlight</b> over a tide mill [Mills; Tides]"),
        "{shown}"
    );
    let page = desk.succeed(&["explain", "model", text, "-f", "html"]);
    assert!(page.contains("&lt;b&gt;Moonlight&lt;/b&gt;"), "{page}");
    assert!(page.contains("<th>neighbour</th>"), "{page}");
}

#[test]
fn a_text_like_no_other_gets_the_frequent_labels() {
    let desk = desk_with_books();
    let explained = json(&desk.succeed(&["explain", "model", "xyzzy", "-f", "json"]));
    let first = &explained["explanations"][0];
    assert!(first["neighbours"].is_null(), "{first}");
    assert_eq!(first["terms"][0]["term"], "(frequency)");
}

#[test]
fn documents_may_come_as_features() {
    let desk = Desk::empty();
    desk.write("train.svm", "3 4 2\n0 0:1 1:1\n1 2:1 3:1\n0,1 1:1 2:1\n");
    desk.write("test.svm", "1 4 2\n0 0:2 1:1\n");
    desk.succeed(&join(&[&["train", "train.svm"], &KNN]));
    let line = json(&desk.succeed(&["predict", "model", "test.svm", "-k", "1"]));
    assert_eq!(line["predictions"][0]["label_id"], 0, "{line}");
}

#[test]
fn the_power_of_similarities_is_chosen_or_set() {
    let desk = Desk::with_catalogue(200);
    let train = |more: &[&str]| {
        let args = join(&[&["train"], &TRAIN_PART, &KNN, &["--force"], more]);
        desk.succeed(&args);
        json(&desk.succeed(&["info", "model", "--json"]))["config"]["power"].as_f64()
    };
    let chosen = train(&[]).unwrap();
    assert!((0.5..=12.0).contains(&chosen), "{chosen}");
    assert_eq!(train(&[]), Some(chosen));
    assert_eq!(train(&["--set", "power=0"]), Some(0.0));
}

#[test]
fn settings_that_cannot_work_are_refused_by_name() {
    let desk = Desk::with_catalogue(20);
    for (setting, expected) in [
        ("num_neighbours=0", "num_neighbours: must be from 1 to"),
        ("power=-1", "power: must be a number from 0"),
        ("prior=nan", "prior: expected a number, found `nan`"),
        ("num_neighbors=3", "did you mean `num_neighbours`?"),
    ] {
        let args = join(&[&["train"], &TRAIN_PART, &KNN, &["--set", setting]]);
        let message = desk.fail(USAGE, &args);
        assert!(message.contains(expected), "{message}");
    }
}
