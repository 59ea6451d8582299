//! Names of labels in texts, from a vocabulary to predictions, and labels that training never showed.

#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod refusal;
mod support;

use refusal::{BAD_DATA, FAILURE, USAGE};
use serde_json::Value;
use support::{Desk, TEST_PART, TRAIN_PART, join};

const LEXICAL: [&str; 4] = ["--system", "lexical", "-o", "model"];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Books in English; the names of two of their labels are German, and one label has no book.
fn desk_with_books() -> Desk {
    let desk = Desk::empty();
    let mut lines = Vec::new();
    for number in 0..6 {
        lines.push(format!(
            r#"{{"id": "n{number}", "text": "Neural networks {number}\nTraining deep neural networks.", "labels": ["s:1"]}}"#
        ));
        lines.push(format!(
            r#"{{"id": "h{number}", "text": "Harbours, part {number}\nOn tides and harbours.", "labels": ["s:2"]}}"#
        ));
    }
    desk.write("books.jsonl", &(lines.join("\n") + "\n"));
    desk.write(
        "subjects.tsv",
        "s:1\tNeuronales Netz\ns:2\tHafen\ns:3\tBeehive (insects)\ns:4\tDarwin, Charles\n",
    );
    desk
}

fn trained() -> Desk {
    let desk = desk_with_books();
    let vocabulary = ["--vocabulary", "subjects.tsv"];
    desk.succeed(&join(&[&["train", "books.jsonl"], &LEXICAL, &vocabulary]));
    desk
}

fn keys(desk: &Desk, model: &str, text: &str) -> Vec<String> {
    desk.write(
        "new.jsonl",
        &format!("{}\n", serde_json::json!({"text": text})),
    );
    let line = json(&desk.succeed(&["predict", model, "new.jsonl"]));
    let found = line["predictions"].as_array().unwrap().iter();
    found
        .map(|one| one["key"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn names_are_learnt_and_labels_without_documents_are_found() {
    let desk = trained();
    assert_eq!(keys(&desk, "model", "A neural network for cats")[0], "s:1");
    assert_eq!(keys(&desk, "model", "How to build beehives")[0], "s:3");
    assert_eq!(
        keys(&desk, "model", "The letters of Charles Darwin"),
        ["s:4"]
    );
    assert_eq!(keys(&desk, "model", "Nothing of the kind"), [""; 0]);
    desk.write(
        "test.jsonl",
        "{\"text\": \"Beehives\", \"labels\": [\"s:3\"]}\n{\"text\": \"Harbour\", \"labels\": [\"s:2\", \"s:9\"]}\n",
    );
    let measured = json(&desk.succeed(&["eval", "model", "test.jsonl", "--json"]));
    assert_eq!(measured["P@1"], 1.0, "{measured}");
    assert_eq!(measured["n_unseen_labels"], 2);
    assert_eq!(measured["n_unseen_assignments"], 2);
    assert!(measured["PSP@5"].as_f64().unwrap() > 0.0);
    desk.succeed(&["eval", "model", "test.jsonl", "--report", "report"]);
}

#[test]
fn names_alone_make_a_model() {
    let desk = desk_with_books();
    desk.write(
        "texts.jsonl",
        "{\"text\": \"a hive\"}\n{\"text\": \"a letter\"}\n",
    );
    let vocabulary = ["--vocabulary", "subjects.tsv"];
    desk.succeed(&join(&[&["train", "texts.jsonl"], &LEXICAL, &vocabulary]));
    assert_eq!(keys(&desk, "model", "Bees in a beehive"), ["s:3"]);
    let info = json(&desk.succeed(&["info", "model", "--json"]));
    assert_eq!(info["n_labels"], 4);
    // Others need labels to learn from.
    let others = ["--system", "parabel", "-o", "other"];
    let message = desk.fail(
        BAD_DATA,
        &join(&[&["train", "texts.jsonl"], &others, &vocabulary]),
    );
    assert!(message.contains("no document has labels"), "{message}");
}

#[test]
fn explanations_have_the_places_of_names() {
    let desk = trained();
    let text = "Über Netze: deep neural networks";
    let found = json(&desk.succeed(&["explain", "model", text, "-l", "s:1", "-f", "json"]));
    let explanation = &found["explanations"][0];
    assert_eq!(explanation["method"], "matches", "{found}");
    let spans = explanation["spans"].as_array().unwrap();
    let has = |wanted: &str| {
        spans.iter().any(|span| {
            let start = span["start_byte"].as_u64().unwrap() as usize;
            let end = span["end_byte"].as_u64().unwrap() as usize;
            span["text"] == wanted && &text[start..end] == wanted
        })
    };
    assert!(
        has("neural networks") && has("deep neural networks"),
        "{spans:?}"
    );
    let sum: f64 = spans
        .iter()
        .map(|span| span["weight"].as_f64().unwrap())
        .sum();
    let score = explanation["score"].as_f64().unwrap();
    assert!((sum - score).abs() < 1e-4, "{sum} and {score}");
    assert!(
        desk.succeed(&["explain", "model", text])
            .contains("neural network")
    );
}

#[test]
fn files_are_equal_for_any_number_of_threads() {
    let desk = Desk::with_catalogue(400);
    let vocabulary = ["--vocabulary", "labels.jsonl", "--force"];
    let train = |threads| {
        let threads = ["-j", threads];
        desk.succeed(&join(&[
            &["train"],
            &TRAIN_PART,
            &LEXICAL,
            &vocabulary,
            &threads,
        ]));
        desk.model_files("model")
    };
    assert!(train("1") == train("2"));
    let measured = json(&desk.succeed(&join(&[&["eval", "model"], &TEST_PART, &["--json"]])));
    assert!(measured["P@1"].as_f64().unwrap() > 0.3, "{measured}");
}

#[test]
fn an_ensemble_has_the_labels_of_both() {
    let desk = trained();
    let knn = [
        "--system",
        "knn",
        "-o",
        "neighbours",
        "--vocabulary",
        "subjects.tsv",
    ];
    desk.succeed(&join(&[&["train", "books.jsonl"], &knn]));
    desk.succeed(&["ensemble", "neighbours", "model", "-o", "both"]);
    assert!(keys(&desk, "both", "How to build beehives").contains(&"s:3".to_owned()));
}

#[test]
fn labels_are_listed_searched_and_added() {
    let desk = trained();
    let listed = desk.succeed(&["labels", "model"]);
    assert!(listed.starts_with("s:1\tNeuronales Netz\t6\n"), "{listed}");
    assert_eq!(listed.lines().count(), 4);
    let found = desk.succeed(&["labels", "model", "--search", "HAFEN", "--json"]);
    assert_eq!(json(&found)["train_count"], 6);
    desk.write("more.tsv", "s:2\tDocks\ns:0\tWindmill\n");
    let before = desk.model_files("model");
    let added = desk.succeed(&[
        "labels", "add", "model", "more.tsv", "-o", "wider", "--json",
    ]);
    assert_eq!(
        (
            json(&added)["n_new_labels"].as_u64(),
            json(&added)["n_labels"].as_u64()
        ),
        (Some(1), Some(5))
    );
    assert!(before == desk.model_files("model"));
    assert_eq!(keys(&desk, "wider", "Old windmills"), ["s:0"]);
    assert_eq!(keys(&desk, "wider", "In the docks"), ["s:2"]);
    assert_eq!(keys(&desk, "wider", "A neural network for cats")[0], "s:1");
    let message = desk.fail(
        FAILURE,
        &["labels", "add", "model", "more.tsv", "-o", "wider"],
    );
    assert!(message.contains("exists"), "{message}");
}

#[test]
fn labels_without_names_and_strange_vocabularies_are_refused() {
    let desk = desk_with_books();
    let train = join(&[&["train", "books.jsonl"], &LEXICAL]);
    let message = desk.fail(BAD_DATA, &train);
    assert!(
        message.contains("no label has a name in words, as `s:1`; --vocabulary names a file"),
        "{message}"
    );
    desk.write("others.tsv", "t:1\tTulips\n");
    let strange = join(&[&train, &["--vocabulary", "others.tsv"]]);
    let message = desk.fail(BAD_DATA, &strange);
    assert!(
        message.contains("none of the 2 labels of the documents is in the vocabulary"),
        "{message}"
    );
    let language = join(&[&train, &["--set", "language=klingon"]]);
    let message = desk.fail(USAGE, &language);
    assert!(message.contains("klingon"), "{message}");
    // Keys that are words serve as names.
    desk.write(
        "words.jsonl",
        "{\"text\": \"the sea\", \"labels\": [\"harbour\"]}\n",
    );
    desk.succeed(&join(&[&["train", "words.jsonl"], &LEXICAL]));
    assert_eq!(keys(&desk, "model", "A harbour"), ["harbour"]);
}

#[test]
fn odd_names_are_counted_and_told() {
    let desk = desk_with_books();
    let endless = "very long name ".repeat(700);
    let mut lines = vec![
        r#"{"key": "s:1", "name": "", "parents": ["s:2"]}"#.to_owned(),
        r#"{"key": "s:2", "name": "Hafen", "parents": ["s:1"]}"#.to_owned(),
        format!(r#"{{"key": "s:3", "name": "{endless}"}}"#),
    ];
    lines.extend((0..40).map(|number| format!(r#"{{"key": "x:{number}", "name": "Same"}}"#)));
    desk.write("odd.jsonl", &(lines.join("\n") + "\n"));
    let vocabulary = ["--vocabulary", "odd.jsonl"];
    let output = desk.run(&join(&[&["train", "books.jsonl"], &LEXICAL, &vocabulary]));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");
    for warning in [
        "2 labels have no name in words",
        "1 names of more than 16 words were left out",
        "8 names were left out, as more than 32 labels share them",
        "2 labels are broader than themselves",
    ] {
        assert!(told.contains(warning), "{warning}: {told}");
    }
    assert_eq!(keys(&desk, "model", "Same").len(), 10);
}
