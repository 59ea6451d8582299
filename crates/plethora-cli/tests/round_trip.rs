//! The way from a corpus to predictions: train, eval, predict, info, and what holds between them.

#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod support;

use serde_json::Value;
use support::{Desk, TEST_PART, TRAIN_PART, join};

fn trained(num_documents: u64, more: &[&str]) -> Desk {
    let desk = Desk::with_catalogue(num_documents);
    desk.succeed(&join(&[&["train"], &TRAIN_PART, &["-o", "model"], more]));
    desk
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(json).collect()
}

#[test]
fn a_trained_model_is_measured_used_and_described() {
    let desk = Desk::with_catalogue(2000);
    let train = ["--vocabulary", "labels.jsonl", "-o", "model", "--json"];
    let valid = ["--valid", "documents.jsonl", "--valid-where", "split=dev"];
    let report = json(&desk.succeed(&join(&[&["train"], &TRAIN_PART, &train, &valid])));
    assert_eq!(report["system"], "wide-tree");
    assert!(report["metrics"]["P@1"].as_f64().unwrap() > 0.6, "{report}");
    assert!(report["cpu_seconds"].as_f64().unwrap() > 0.0);

    let measured = json(&desk.succeed(&join(&[&["eval", "model"], &TEST_PART, &["--json"]])));
    assert!(measured["P@1"].as_f64().unwrap() > 0.6, "{measured}");
    assert!(measured["n_unseen_labels"].as_u64().unwrap() > 0);
    let table = desk.succeed(&join(&[&["test", "model"], &TEST_PART, &["-k", "1,10"]]));
    for expected in [
        "@10",
        "nDCG",
        "PSP",
        "head",
        "tail",
        "A = 0.55, B = 1.5",
        "ms CPU",
    ] {
        assert!(table.contains(expected), "{expected} is not in\n{table}");
    }

    let predictions = desk.succeed(&join(&[&["predict", "model"], &TEST_PART, &["-k", "5"]]));
    let lines = json_lines(&predictions);
    assert_eq!(lines.len() as u64, measured["n_docs"].as_u64().unwrap());
    let best = &lines[0]["predictions"][0];
    assert_eq!(lines[0]["predictions"].as_array().unwrap().len(), 5);
    assert!(best["score"].as_f64().unwrap() <= 1.0);
    assert_ne!(best["label"], best["key"], "the vocabulary names labels");
    assert!(best["label_id"].is_u64());

    let info = json(&desk.succeed(&["info", "model", "--json"]));
    assert_eq!(info["n_labels"], report["n_labels"]);
    assert_eq!(info["config"]["seed"], 1);
    assert!(info["metrics"]["nDCG@5"].is_f64());
    assert!(
        desk.succeed(&["info", "model"])
            .contains("tree-0.safetensors")
    );
    assert!(
        desk.read("model/README.md")
            .contains("documents.jsonl (split=dev)")
    );
}

#[test]
fn equal_seeds_give_equal_files_for_any_number_of_threads() {
    let desk = Desk::with_catalogue(800);
    for system in ["wide-tree", "bonsai"] {
        let train = |model: &str, threads: &str, seed: &str| {
            let options = [
                "-o", model, "-j", threads, "--seed", seed, "--system", system,
            ];
            let valid = ["--valid", "documents.jsonl", "--valid-where", "split=dev"];
            desk.succeed(&join(&[
                &["train"],
                &TRAIN_PART,
                &options,
                &valid,
                &["--force"],
            ]));
            desk.model_files(model)
        };
        let one = train("one", "1", "7");
        assert!(one == train("two", "2", "7"), "{system}");
        assert!(one != train("other", "2", "8"), "{system}");
    }
}

#[test]
fn a_document_gets_the_same_scores_alone_and_among_others() {
    let desk = trained(600, &["--system", "parabel"]);
    let limit = ["--docs-limit", "12", "-k", "3"];
    let together = desk.succeed(&join(&[&["predict", "model"], &TEST_PART, &limit]));
    let all = desk.read("documents.jsonl");
    for line in json_lines(&together) {
        let id = line["id"].as_str().unwrap();
        let alone = all.lines().find(|text| text.contains(id)).unwrap();
        let fields = ["--text-field", "title,text", "-k", "3"];
        let output = desk
            .command(&join(&[&["predict", "model", "-"], &fields]))
            .write_stdin(format!("{alone}\n"))
            .output()
            .unwrap();
        assert_eq!(json(&String::from_utf8(output.stdout).unwrap()), line);
    }
}

#[test]
fn a_model_remembers_the_text_fields_it_was_trained_on() {
    let desk = trained(600, &[]);
    let where_test = ["documents.jsonl", "--where", "split=test"];
    for verb in ["eval", "predict"] {
        let options: &[&str] = if verb == "eval" { &["-k", "1"] } else { &[] };
        let file = ["--force", "-o", "out"];
        let read = |part: &[&str]| {
            desk.succeed(&join(&[&[verb, "model"], part, options, &file]));
            let mut out = desk.read("out");
            out.truncate(out.find("\"speed\"").unwrap_or(out.len()));
            out
        };
        assert_eq!(read(&where_test), read(&TEST_PART), "{verb}");
        let other = join(&[&where_test, &["--text-field", "text"]]);
        assert_ne!(read(&other), read(&TEST_PART), "{verb}");
    }
    assert!(desk.succeed(&["info", "model"]).contains("title, text"));
    let card = desk.read("model/README.md");
    assert!(card.contains("fields `title` and `text`"), "{card}");
    desk.write("a.jsonl", "{\"text\": \"A history of lighthouses\"}\n");
    desk.write("a.txt", "A history of lighthouses\n");
    let predict = |name: &str| desk.succeed(&["predict", "model", name]);
    assert_eq!(predict("a.jsonl"), predict("a.txt"));
}

#[test]
fn plain_text_from_standard_input_is_a_document_a_line() {
    let desk = trained(600, &[]);
    let output = desk
        .command(&["suggest", "model", "-", "--limit", "2"])
        .write_stdin("A history of lighthouses\nLetters, and a diary\n")
        .output()
        .unwrap();
    let lines = json_lines(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["id"], "2");
    assert_eq!(lines[1]["predictions"].as_array().unwrap().len(), 2);
    for (texts, num_documents) in [
        ("Labels, text, and glass\nOn glass, text, b\n", 2),
        ("text\n", 1),
    ] {
        let mut command = desk.command(&["predict", "model", "-"]);
        let output = command.write_stdin(texts).output().unwrap();
        let lines = json_lines(&String::from_utf8(output.stdout).unwrap());
        assert_eq!(lines.len(), num_documents, "{texts}");
    }
}

#[test]
fn labels_that_the_vocabulary_does_not_name_are_counted() {
    let desk = Desk::empty();
    desk.write("books.jsonl", "{\"text\": \"sea and air\", \"labels\": [\"sea\"]}\n{\"text\": \"air and sea\", \"labels\": [\"air\"]}\n");
    desk.write("all.tsv", "sea\tThe sea\nair\tThe air\n");
    desk.write("half.tsv", "sea\tThe sea\nfire\tThe fire\n");
    let log = |vocabulary: &str| {
        let options = ["-o", "model", "--force", "--vocabulary", vocabulary];
        let output = desk.run(&join(&[&["train", "books.jsonl"], &options]));
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let told = log("half.tsv");
    let expected = "1 of 2 labels are not in half.tsv; their keys serve as names";
    assert!(told.contains(expected), "{told}");
    assert!(!log("all.tsv").contains("WARN"));
}

#[test]
fn predictions_come_in_every_form() {
    let desk = trained(600, &["--vocabulary", "labels.jsonl"]);
    let predict = |format: &str| {
        let options = ["--out-format", format, "--docs-limit", "2", "-k", "2"];
        desk.succeed(&join(&[&["predict", "model"], &TEST_PART, &options]))
    };
    let best = json_lines(&predict("jsonl"))[0]["predictions"][0].clone();
    let (key, name) = (
        best["key"].as_str().unwrap(),
        best["label"].as_str().unwrap(),
    );
    let score = best["score"].as_f64().unwrap();

    let hf = json_lines(&predict("hf"));
    assert_eq!(hf[0][0]["label"], name);
    assert_eq!(hf[0].as_array().unwrap().len(), 2);

    let fasttext = predict("fasttext");
    assert!(
        fasttext.starts_with(&format!("__label__{key} ")),
        "{fasttext}"
    );
    assert_eq!(fasttext.lines().count(), 2);

    let annif = predict("annif");
    assert!(
        annif.starts_with(&format!("<{key}>\t{name}\t{score:.4}\n")),
        "{annif}"
    );
    assert_eq!(annif.split("\n\n").count(), 2);

    let xmc = predict("xmc");
    assert!(xmc.starts_with("2 "), "{xmc}");
    assert!(
        xmc.lines()
            .nth(1)
            .unwrap()
            .contains(&format!("{}:", best["label_id"])),
        "{xmc}"
    );

    let csv = predict("csv");
    assert!(csv.starts_with("id,rank,key,label,score\n"), "{csv}");
    assert_eq!(csv.lines().count(), 5);
}

#[test]
fn a_threshold_leaves_out_unlikely_labels() {
    let desk = trained(600, &[]);
    let options = ["-k", "50", "-t", "0.5"];
    let predictions = desk.succeed(&join(&[&["predict", "model"], &TEST_PART, &options]));
    let scores: Vec<f64> = json_lines(&predictions)
        .iter()
        .flat_map(|line| line["predictions"].as_array().unwrap().clone())
        .map(|label| label["score"].as_f64().unwrap())
        .collect();
    assert!(!scores.is_empty() && scores.iter().all(|&score| score >= 0.5));
}

#[test]
fn output_files_are_replaced_on_request_only() {
    let desk = trained(300, &[]);
    let predict = |more: &[&'static str]| {
        join(&[
            &["predict", "model"],
            &TEST_PART,
            &["-o", "out.jsonl.gz"],
            more,
        ])
    };
    assert_eq!(desk.succeed(&predict(&[])), "");
    let message = desk.fail(1, &predict(&[]));
    assert!(message.contains("out.jsonl.gz exists already"), "{message}");
    desk.succeed(&predict(&["--force"]));

    let message = desk.fail(1, &join(&[&["train"], &TRAIN_PART, &["-o", "model"]]));
    assert!(message.contains("model exists already"), "{message}");
    desk.succeed(&join(&[
        &["train"],
        &TRAIN_PART,
        &["-o", "model", "--force"],
    ]));
}

#[test]
fn given_features_train_a_model_that_takes_features_only() {
    let desk = Desk::empty();
    let rows: Vec<String> = (0..60)
        .map(|number| (number % 3, 1 + number % 7))
        .map(|(label, tenths)| format!("{label} {label}:1.0 {}:0.{tenths}\n", label + 3))
        .collect();
    let corpus = format!("60 6 3\n{}", rows.concat());
    desk.write("corpus.txt", &corpus);
    desk.write("beyond.txt", "2 9 3\n0 0:1.0 8:2.0\n2 2:0.5\n");
    desk.write("texts.txt", "some words\n");
    desk.succeed(&["train", "corpus.txt", "-o", "model"]);
    let predictions = desk.succeed(&["predict", "model", "beyond.txt", "-k", "1"]);
    let best: Vec<Value> = json_lines(&predictions)
        .iter()
        .map(|line| line["predictions"][0]["key"].clone())
        .collect();
    assert_eq!(best, ["0", "2"]);
    let message = desk.fail(3, &["predict", "model", "texts.txt"]);
    assert!(message.contains("trained on features"), "{message}");

    desk.write("books.jsonl", "{\"text\": \"sea and air\", \"labels\": [\"sea\"]}\n{\"text\": \"air and sea\", \"labels\": [\"air\"]}\n");
    desk.succeed(&["train", "books.jsonl", "-o", "text-model"]);
    let message = desk.fail(3, &["predict", "text-model", "beyond.txt"]);
    assert!(message.contains("trained on texts"), "{message}");
}

#[test]
fn per_label_table_and_metrics_are_written_as_files() {
    let desk = trained(600, &[]);
    let options = ["--per-label", "labels.tsv", "-o", "metrics.json"];
    desk.succeed(&join(&[&["eval", "model"], &TEST_PART, &options]));
    let metrics = json(&desk.read("metrics.json"));
    assert_eq!(metrics["k"], serde_json::json!([1, 3, 5]));
    let table = desk.read("labels.tsv");
    assert!(table.starts_with("URI\tLabel\tSupport\t"), "{table}");
    let num_labels = desk.succeed(&["info", "model", "--json"]);
    let num_labels = json(&num_labels)["n_labels"].as_u64().unwrap();
    let num_unseen = metrics["n_unseen_labels"].as_u64().unwrap();
    assert_eq!(table.lines().count() as u64, 1 + num_labels + num_unseen);
}
