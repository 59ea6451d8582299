//! Places where nothing can or may be written.

use std::fs;

use crate::refusal::{
    BAD_DATA, FAILURE, USAGE, books, check_refusal, desk_with_model, features, refuse,
};
use crate::support::Desk;

#[test]
fn what_is_there_is_kept() {
    let desk = desk_with_model();
    fs::create_dir(desk.file("thesis")).unwrap();
    desk.write("thesis/chapter-1.tex", "irreplaceable");
    fs::create_dir(desk.file("new.training")).unwrap();
    desk.write("new.training/notes.txt", "irreplaceable");
    desk.write("other.json", "irreplaceable");
    let exists = "exists already; choose another name or pass --force to replace it";
    let occupied = "exists and was not written by Plethora, so it will not be replaced";
    for (line, message) in [
        ("train books.jsonl -o model", format!("model {exists}")),
        ("train books.jsonl -o thesis", format!("thesis {exists}")),
        (
            "train books.jsonl -o thesis --force",
            format!("thesis {occupied}"),
        ),
        (
            "train books.jsonl -o other.json --force",
            format!("other.json {occupied}"),
        ),
        (
            "train books.jsonl -o books.jsonl --force",
            format!("books.jsonl {occupied}"),
        ),
        (
            "train books.jsonl -o new",
            format!("new.training {occupied}"),
        ),
        (
            "train books.jsonl -o new --resume --force",
            format!("new.training {occupied}"),
        ),
        (
            "predict model books.jsonl -o other.json",
            format!("other.json {exists}"),
        ),
        (
            "eval model books.jsonl -o other.json",
            format!("other.json {exists}"),
        ),
        (
            "eval model books.jsonl --per-label other.json",
            format!("other.json {exists}"),
        ),
        (
            "predict model books.jsonl -o thesis --force",
            "thesis: cannot write: Is a directory (os error 21)".into(),
        ),
        (
            "eval model books.jsonl -o thesis --force",
            "thesis: cannot write: Is a directory (os error 21)".into(),
        ),
    ] {
        refuse(&desk, line, FAILURE, &message);
    }
}

#[test]
fn outputs_never_replace_their_input() {
    let desk = desk_with_model();
    desk.write("texts.txt", "tide\nsea\n");
    desk.write("labels.txt", "Tides\nTides\n");
    let input = "this is the input; choose another name for the output";
    for (line, name) in [
        ("predict model books.jsonl -o books.jsonl", "books.jsonl"),
        (
            "predict model books.jsonl -o books.jsonl --force",
            "books.jsonl",
        ),
        (
            "predict model books.jsonl -o ./model/../books.jsonl --force",
            "./model/../books.jsonl",
        ),
        (
            "eval model books.jsonl -o books.jsonl --force",
            "books.jsonl",
        ),
        (
            "eval model books.jsonl --per-label books.jsonl --force",
            "books.jsonl",
        ),
        (
            "eval model texts.txt --labels-file labels.txt -o labels.txt --force",
            "labels.txt",
        ),
    ] {
        refuse(&desk, line, USAGE, &format!("{name}: {input}"));
    }
}

/// Permissions do not bind the user root, but nobody can make a folder below a file.
#[test]
fn impossible_places_are_told_before_the_work() {
    let desk = desk_with_model();
    for (line, message) in [
        (
            "train nowhere.jsonl -o books.jsonl/new",
            "books.jsonl/new: cannot write: not a directory",
        ),
        (
            "train nowhere.jsonl -o books.jsonl/deep/new --force",
            "books.jsonl/deep/new: cannot write: not a directory",
        ),
        (
            "predict model books.jsonl -o books.jsonl/out",
            "books.jsonl/out: cannot write: Not a directory (os error 20)",
        ),
        (
            "predict model books.jsonl -o nowhere/out",
            "nowhere/out: cannot write: No such file or directory (os error 2)",
        ),
        (
            "eval model books.jsonl -o nowhere/out",
            "nowhere/out: cannot write: No such file or directory (os error 2)",
        ),
    ] {
        refuse(&desk, line, FAILURE, message);
    }
    for line in ["train books.jsonl -o /", "train books.jsonl -o / --force"] {
        refuse(
            &desk,
            line,
            USAGE,
            "output: / is not a name for a model folder",
        );
    }
}

/// Training may have taken hours when the second corpus turns out broken.
#[test]
fn a_model_that_cannot_be_measured_is_not_written_but_its_trees_are_kept() {
    let desk = Desk::empty();
    desk.write("books.jsonl", &books());
    let args = ["train", "books.jsonl", "--valid", "other", "-o", "model"];
    for (content, message) in [
        (
            "{\"text\": \"tide\", \"labels\": [\"Tides\"]}\n{\"text\": \"sea\", \"labels\": 7}\n",
            "other:2: invalid type: integer `7`, ...",
        ),
        (
            &features(),
            "other: document `1` has features, but the model was trained on texts; to resume ...",
        ),
        (
            "{\"text\": \"tide\"}\n",
            "other: no document has labels, so there is nothing to compare with; ...",
        ),
    ] {
        desk.write("other", content);
        // What the run before has left would have to be resumed or thrown away.
        let _ = std::fs::remove_dir_all(desk.file("model.training"));
        let output = desk.run(&args);
        check_refusal(&output, BAD_DATA, message, content);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.trim_end().ends_with(" -o model --resume"), "{told}");
        assert!(!desk.file("model").exists());
        assert!(desk.file("model.training/tree-0.safetensors").exists());
    }
    desk.write("other", "{\"text\": \"tide\", \"labels\": [\"Tides\"]}\n");
    let output = desk.command(&args).arg("--resume").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && !told.contains("classifiers"),
        "{told}"
    );
    assert!(desk.file("model/metrics.json").exists());
    assert!(!desk.file("model.training").exists());
}
