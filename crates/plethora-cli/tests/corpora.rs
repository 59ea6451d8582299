//! Looking at corpora, converting and splitting them, making them up.

#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod support;

use std::collections::BTreeSet;

use serde_json::Value;
use support::{Desk, TRAIN_PART, join};

fn ids(text: &str) -> BTreeSet<String> {
    text.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].to_string())
        .collect()
}

#[test]
fn equal_seeds_make_equal_catalogues() {
    let desk = Desk::empty();
    for (name, seed) in [("one", "3"), ("two", "3"), ("other", "4")] {
        let size = ["--documents", "300", "--labels", "150", "--seed", seed];
        desk.succeed(&join(&[&["generate", "-o", name], &size]));
    }
    assert_eq!(
        desk.read("one/documents.jsonl"),
        desk.read("two/documents.jsonl")
    );
    assert_ne!(
        desk.read("one/documents.jsonl"),
        desk.read("other/documents.jsonl")
    );
    assert_eq!(desk.read("one/labels.jsonl").lines().count(), 150);
    desk.succeed(&["generate", "-o", "books.jsonl", "--documents", "10"]);
    assert!(desk.file("books.labels.jsonl").is_file());
    let message = desk.fail(1, &["generate", "-o", "books.jsonl"]);
    assert!(message.contains("exists already"), "{message}");
}

#[test]
fn check_counts_and_finds_what_looks_wrong() {
    let desk = Desk::empty();
    let train = [
        r#"{"id": "a", "text": "Waves at sea", "labels": ["sea", "waves"]}"#,
        r#"{"id": "b", "text": "waves  AT sea", "labels": ["sea"]}"#,
        r#"{"id": "c", "text": "", "labels": ["sea"]}"#,
        r#"{"id": "d", "text": "Clear air", "labels": []}"#,
    ];
    let test = [
        r#"{"id": "x", "text": "clear air", "labels": ["air"]}"#,
        r#"{"id": "y", "text": "A storm at sea", "labels": ["sea"]}"#,
    ];
    desk.write("train.jsonl", &train.join("\n"));
    desk.write("test.jsonl", &test.join("\n"));
    desk.write("names.tsv", "sea\tThe sea\nair\tThe air\n");
    let options = ["--against", "test.jsonl", "--vocabulary", "names.tsv"];
    let report = desk.succeed(&join(&[&["check", "train.jsonl"], &options, &["--json"]]));
    let report: Value = serde_json::from_str(&report).unwrap();
    let data = &report["data"];
    assert_eq!(data["n_documents"], 4);
    assert_eq!(data["n_documents_without_labels"], 1);
    assert_eq!(data["n_empty_documents"], 1);
    assert_eq!(data["duplicates"]["examples"], serde_json::json!(["b"]));
    assert_eq!(
        data["most_frequent_labels"][0],
        serde_json::json!(["sea", 3])
    );
    assert_eq!(data["label_frequencies"][1]["documents"], "2-5");
    assert_eq!(data["label_frequencies"][1]["n_labels"], 1);
    assert_eq!(
        report["against"]["also_in_data"]["examples"],
        serde_json::json!(["x"])
    );
    assert_eq!(
        report["against"]["unseen_labels"]["examples"],
        serde_json::json!(["air"])
    );
    assert_eq!(
        report["unknown_to_vocabulary"]["examples"],
        serde_json::json!(["waves"])
    );
    let num_systems = plethora::registry().systems().count();
    assert_eq!(report["estimates"].as_array().unwrap().len(), num_systems);
    let text = desk.succeed(&join(&[&["inspect", "train.jsonl"], &options]));
    for expected in [
        "without labels   1",
        "also in data     1 (as x)",
        "it is an estimate",
    ] {
        assert!(text.contains(expected), "{expected} is not in\n{text}");
    }
}

#[test]
fn documents_survive_conversion_there_and_back() {
    let desk = Desk::empty();
    let corpus = concat!(
        "{\"id\":\"1\",\"text\":\"Waves at sea\",\"labels\":[\"sea\",\"waves\"]}\n",
        "{\"id\":\"2\",\"text\":\"Clear air\",\"labels\":[\"air\"]}\n",
    );
    desk.write("corpus.jsonl", corpus);
    for (format, file) in [
        ("csv", "corpus.csv.gz"),
        ("tsv", "corpus.tsv.xz"),
        ("fasttext", "corpus.txt"),
        ("libmultilabel-tsv", "multi.tsv.zst"),
    ] {
        desk.succeed(&["convert", "corpus.jsonl", file, "--out-format", format]);
        desk.succeed(&["convert", file, "back.jsonl", "--format", format, "--force"]);
        assert_eq!(desk.read("back.jsonl"), corpus, "{format}");
    }
    let pair = [
        "--out-format",
        "text-pair",
        "--out-labels-file",
        "labels.txt",
    ];
    desk.succeed(&join(&[&["convert", "corpus.jsonl", "texts.txt"], &pair]));
    assert_eq!(desk.read("labels.txt"), "sea waves\nair\n");
    let back = desk.succeed(&[
        "convert",
        "texts.txt",
        "-",
        "--labels",
        "labels.txt",
        "--out-format",
        "jsonl",
    ]);
    assert_eq!(back, corpus);
    let message = desk.fail(2, &["convert", "corpus.jsonl", "corpus.bin"]);
    assert!(message.contains("--out-format"), "{message}");
    let message = desk.fail(
        2,
        &[
            "convert",
            "corpus.jsonl",
            "c.txt",
            "--out-format",
            "text-pair",
        ],
    );
    assert!(message.contains("--out-labels-file"), "{message}");
}

#[test]
fn other_fields_are_kept_by_a_split_and_their_loss_is_told() {
    let desk = Desk::empty();
    let corpus = concat!(
        "{\"id\": 1, \"year\": 1900, \"text\": \"The sea\", \"labels\": [\"sea\"]}\n",
        "{\"labels\": [\"air\"], \"text\": \"The air\", \"id\": 2}\n",
    );
    desk.write("books.jsonl", corpus);
    desk.succeed(&["split", "books.jsonl", "-o", "parts"]);
    let parts = ["train", "dev", "test"].map(|name| desk.read(&format!("parts/{name}.jsonl")));
    let all: BTreeSet<&str> = parts.iter().flat_map(|part| part.lines()).collect();
    assert_eq!(all, corpus.lines().collect());

    let log = |args: &[&str]| {
        let output = desk.run(args);
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let told = "all other fields are left out";
    assert!(!log(&["split", "books.jsonl", "-o", "parts", "--force"]).contains(told));
    for args in [
        &["convert", "books.jsonl", "books.csv"][..],
        &[
            "split",
            "books.jsonl",
            "-o",
            "tables",
            "--out-format",
            "csv",
        ],
    ] {
        assert!(log(args).contains(told), "{args:?}");
    }
    assert!(!log(&["convert", "books.csv", "plain.jsonl"]).contains(told));
}

#[test]
fn parts_of_a_split_cover_the_corpus_and_do_not_overlap() {
    let desk = Desk::with_catalogue(500);
    for method in ["random", "stratified"] {
        let options = ["--method", method, "--seed", "5", "-o", method];
        let fields = ["--text-field", "title,text"];
        desk.succeed(&join(&[&["split", "documents.jsonl"], &options, &fields]));
        let parts =
            ["train", "dev", "test"].map(|name| ids(&desk.read(&format!("{method}/{name}.jsonl"))));
        assert_eq!(parts.iter().map(BTreeSet::len).sum::<usize>(), 500);
        let all: BTreeSet<String> = parts.iter().flatten().cloned().collect();
        assert_eq!(all, ids(&desk.read("documents.jsonl")));
        assert!((350..450).contains(&parts[0].len()), "{}", parts[0].len());
    }
    let message = desk.fail(2, &["split", "-", "--method", "stratified", "-o", "x"]);
    assert!(message.contains("reads the data twice"), "{message}");
}

#[test]
fn the_demo_ends_with_a_table_an_example_and_the_next_commands() {
    let desk = Desk::empty();
    let demo = ["demo", "-n", "120", "--dir", "here", "-q", "-j", "1"];
    let report = desk.succeed(&demo);
    for expected in [
        "wide-tree",
        "lexical",
        "consensus",
        "test part   P@1",
        "predicted (* is true)",
        "predict here/model",
    ] {
        assert!(report.contains(expected), "{expected} is not in\n{report}");
    }
    let again = desk.succeed(&demo);
    assert!(again.contains("Next commands"));
}

#[test]
fn progress_goes_to_standard_error_in_the_form_asked_for() {
    let desk = Desk::with_catalogue(200);
    let train = |more: &[&'static str]| {
        let args = join(&[&["train"], &TRAIN_PART, &["-o", "model", "--force"], more]);
        String::from_utf8(desk.run(&args).stderr).unwrap()
    };
    for line in train(&["--log-format", "json"]).lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
    assert!(train(&[]).contains("reading: "));
    assert_eq!(
        train(&["--log-format", "text"]).lines().count(),
        train(&[]).lines().count()
    );
    assert_eq!(train(&["-q"]), "");
}
