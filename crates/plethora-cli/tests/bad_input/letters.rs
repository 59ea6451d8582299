//! Names and values with letters that terminals obey, that end lines, or that are no text.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::Value;

use crate::refusal::{BAD_DATA, USAGE, books, check_refusal, desk_with_model, refuse};
use crate::support::Desk;

/// What is no Unicode.
fn broken(text: &'static [u8]) -> &'static OsStr {
    OsStr::from_bytes(text)
}

#[test]
fn a_corpus_gives_no_commands_to_the_terminal() {
    let desk = Desk::empty();
    let labels = books().replace(
        "Tides",
        "\\u001b]0;owned\\u0007Tides\\nmost frequent labels",
    );
    desk.write("books.jsonl", &labels);
    let shown = desk.succeed(&["check", "books.jsonl", "-q"]);
    assert!(
        shown.contains("\\u{1b}]0;owned\\u{7}Tides most frequent"),
        "{shown}"
    );
    assert!(!shown.contains('\u{1b}'), "{shown}");
    desk.write(
        "bad.jsonl",
        "{\"text\": \"a\", \"labels\": 1, \"\u{1b}[2J\": 2}\n{\"\u{1b}[2J",
    );
    let told = desk.fail(BAD_DATA, &["check", "bad.jsonl"]);
    assert!(!told.contains('\u{1b}'), "{told}");
}

#[test]
fn variables_that_are_no_text_are_refused() {
    let desk = desk_with_model();
    for name in ["PLETHORA_SET", "PLETHORA_SYSTEM"] {
        let mut command = desk.command(&["train", "books.jsonl", "-o", "new"]);
        let output = command.env(name, broken(b"\xff")).output().unwrap();
        let message = format!("{name}: the value is not Unicode");
        check_refusal(&output, USAGE, &message, name);
    }
}

#[test]
fn a_model_may_have_a_name_that_is_no_text() {
    let desk = desk_with_model();
    let model = desk.path().join(broken(b"m\xff"));
    fs::rename(desk.file("model"), &model).unwrap();
    let mut info = desk.command(&["info", "--json"]);
    let output = info.arg(&model).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let info: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(
        info["path"].as_str().unwrap().ends_with("m\u{fffd}"),
        "{info}"
    );
    let mut report = desk.command(&["eval", "-q", "--report", "report"]);
    let output = report.arg(&model).arg("books.jsonl").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(desk.file("report").join("report.json").is_file());
}

#[test]
fn features_that_the_rows_do_not_bear_out_are_refused() {
    let desk = Desk::empty();
    let rows = crate::refusal::features();
    desk.write("rows.txt", &rows.replacen("20 10 4", "20 268435456 4", 1));
    for system in ["knn", "parabel"] {
        let line = format!("train rows.txt --format xmc-libsvm --system {system} -o new");
        let message =
            "rows.txt: 268435456 features are too many where documents have 40 values in all; ...";
        refuse(&desk, &line, BAD_DATA, message);
    }
}
