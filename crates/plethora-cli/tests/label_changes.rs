//! Labels that come to a trained model and go from it, without training.

#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod refusal;
mod support;

use refusal::{BAD_DATA, USAGE};
use serde_json::{Value, json};
use support::Desk;

/// Books in English, a model of each system, and an ensemble of all.
fn desk() -> Desk {
    let desk = Desk::empty();
    let mut lines = Vec::new();
    for number in 0..8 {
        for (subject, label) in [
            ("Neural networks", "s:1"),
            ("Harbours and tides", "s:2"),
            ("Volcanic islands", "s:3"),
        ] {
            lines.push(format!(
                r#"{{"id": "{label}-{number}", "text": "{subject}, part {number}", "labels": ["{label}"]}}"#
            ));
        }
    }
    desk.write("books.jsonl", &(lines.join("\n") + "\n"));
    desk.write("subjects.tsv", "s:1\tNetworks\ns:2\tHarbour\ns:3\tIsland\n");
    for system in ["lexical", "knn", "wide-tree"] {
        let vocabulary = ["--vocabulary", "subjects.tsv"];
        let train = ["train", "books.jsonl", "--system", system, "-o", system];
        desk.succeed(&support::join(&[&train, &vocabulary]));
    }
    desk.succeed(&["ensemble", "lexical", "knn", "wide-tree", "-o", "all"]);
    desk
}

fn keys(desk: &Desk, model: &str, text: &str) -> Vec<String> {
    desk.write("new.jsonl", &format!("{}\n", json!({"text": text})));
    let line = desk.succeed(&["predict", model, "new.jsonl"]);
    let line: Value = serde_json::from_str(&line).unwrap();
    let found = line["predictions"].as_array().unwrap().iter();
    found
        .map(|one| one["key"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn labels_come_by_names_and_documents_and_nothing_else_moves() {
    let desk = desk();
    desk.write("more.tsv", "s:0\tTides\ns:9\tzz\n");
    desk.write(
        "more.jsonl",
        "{\"text\": \"Networks of volcanic part\", \"labels\": [\"s:9\"]}\n\
         {\"text\": \"Harbours\", \"labels\": [\"s:2\"]}\n",
    );
    for model in ["lexical", "knn", "all"] {
        let wider = format!("{model}-wider");
        let documents = ["--documents", "more.jsonl", "--json"];
        let add = ["labels", "add", model, "more.tsv", "-o", &wider];
        let told = desk.succeed(&support::join(&[&add, &documents]));
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["n_new_labels"], 2, "{told}");
        assert_eq!(
            (&told["n_documents"], &told["n_labels"]),
            (&json!(1), &json!(5))
        );
        let found = keys(&desk, &wider, "tides");
        assert!(found.contains(&"s:0".to_owned()), "{model} {found:?}");
        let before = keys(&desk, model, "Volcanic islands");
        let mut after = keys(&desk, &wider, "Volcanic islands");
        after.retain(|key| key != "s:0" && key != "s:9");
        assert_eq!(after, before, "{model}");
    }
    for model in ["knn-wider", "all-wider"] {
        let found = keys(&desk, model, "Networks of volcanic part");
        assert!(found.contains(&"s:9".to_owned()), "{model} {found:?}");
    }
}

#[test]
fn labels_go_from_systems_and_from_ensembles() {
    let desk = desk();
    desk.write("gone.tsv", "s:2\tHarbour\nq:1\n");
    for model in ["lexical", "knn", "all"] {
        let smaller = format!("{model}-smaller");
        let output = desk.run(&["labels", "remove", model, "gone.tsv", "-o", &smaller]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{told}");
        assert!(
            told.contains("1 of the labels to remove are not in the model"),
            "{told}"
        );
        assert!(keys(&desk, model, "Harbours and tides").contains(&"s:2".to_owned()));
        let left = keys(&desk, &smaller, "Harbours and tides");
        assert!(!left.contains(&"s:2".to_owned()), "{model} {left:?}");
        assert_eq!(keys(&desk, &smaller, "Neural networks")[0], "s:1");
        let listed = desk.succeed(&["labels", &smaller]);
        assert_eq!(listed.lines().count(), 2, "{listed}");
        // Every part of the program takes it as any other model.
        desk.succeed(&["eval", &smaller, "books.jsonl"]);
        desk.succeed(&["explain", &smaller, "Neural networks"]);
    }
    // ... and back again.
    let add = ["labels", "add", "all-smaller", "subjects.tsv", "-o", "back"];
    desk.succeed(&add);
    assert!(keys(&desk, "back", "Harbours and tides").contains(&"s:2".to_owned()));
}

#[test]
fn what_people_miss_becomes_a_label() {
    let desk = desk();
    desk.write(
        "feedback.jsonl",
        "{\"text\": \"Windmills and tides\", \"labels\": [\"s:2\", \"Windmill\"], \"missing\": [\"Windmill\"]}\n",
    );
    for model in ["lexical", "knn"] {
        let wider = format!("{model}-windy");
        let add = [
            "labels",
            "add",
            model,
            "--documents",
            "feedback.jsonl",
            "-o",
            &wider,
        ];
        desk.succeed(&add);
        let found = keys(&desk, &wider, "A windmill, windmills and tides");
        assert!(found.contains(&"Windmill".to_owned()), "{model} {found:?}");
    }
}

#[test]
fn changes_that_cannot_be_made_are_refused() {
    let desk = desk();
    desk.write("more.tsv", "s:0\tTides\n");
    desk.write("unknown.tsv", "q:1\n");
    desk.write("every.tsv", "s:1\ns:2\ns:3\n");
    desk.write("empty.tsv", "\n");
    for (status, args, message) in [
        (
            BAD_DATA,
            &["labels", "add", "wide-tree", "more.tsv", "-o", "new"][..],
            "a model of `wide-tree` learns labels from documents",
        ),
        (
            BAD_DATA,
            &["labels", "remove", "wide-tree", "every.tsv", "-o", "new"],
            "",
        ),
        (
            BAD_DATA,
            &["labels", "remove", "knn", "unknown.tsv", "-o", "new"],
            "unknown.tsv: the model has none of these labels, as `q:1`",
        ),
        (
            BAD_DATA,
            &["labels", "retire", "knn", "every.tsv", "-o", "new"],
            "every.tsv: the model would have no label left",
        ),
        (
            BAD_DATA,
            &["labels", "remove", "knn", "empty.tsv", "-o", "new"],
            "empty.tsv: the file has no labels",
        ),
        (
            BAD_DATA,
            &[
                "labels",
                "add",
                "knn",
                "more.tsv",
                "--documents",
                "books.jsonl",
                "-o",
                "new",
            ],
            "books.jsonl: no document has one of the labels to add",
        ),
        (
            BAD_DATA,
            &[
                "labels",
                "add",
                "knn",
                "--documents",
                "books.jsonl",
                "-o",
                "new",
            ],
            "books.jsonl: the model knows all labels of these documents",
        ),
        (USAGE, &["labels", "add", "knn", "-o", "new"], "required"),
    ] {
        let found = desk.fail(status, args);
        assert!(found.contains(message), "{found}");
        assert!(!desk.file("new").exists());
    }
    desk.succeed(&["ensemble", "lexical", "knn", "-o", "linked", "--link"]);
    let found = desk.fail(
        BAD_DATA,
        &["labels", "add", "linked", "more.tsv", "-o", "new"],
    );
    assert!(found.contains("links to its members"), "{found}");
    let trees = ["ensemble", "wide-tree", "wide-tree", "-o", "trees"];
    desk.succeed(&trees);
    let found = desk.fail(
        BAD_DATA,
        &["labels", "add", "trees", "more.tsv", "-o", "new"],
    );
    assert!(found.contains("no member finds labels"), "{found}");
}
