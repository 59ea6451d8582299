//! What every refusal has in common: one message, the right status, nothing on standard output and
//! nothing changed on the disk.

#![allow(dead_code, reason = "each file of tests uses a part of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use crate::support::Desk;

/// The user's mistake in arguments or settings.
pub(crate) const USAGE: i32 = 2;
/// A corpus, a vocabulary or a model that cannot be used.
pub(crate) const BAD_DATA: i32 = 3;
/// Anything else.
pub(crate) const FAILURE: i32 = 1;

/// Nothing here has more than a few dozen documents.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// All that lies below a folder; folders have no content.
pub(crate) fn snapshot(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let content = if entry.file_type().unwrap().is_dir() {
                waiting.push(entry.path());
                None
            } else {
                fs::read(entry.path()).ok()
            };
            found.insert(entry.path(), content);
        }
    }
    found
}

/// Runs a command line, which must be refused with this status and this message, `...` at the end
/// of which stands for whatever follows.
pub(crate) fn refuse(desk: &Desk, line: &str, status: i32, message: &str) {
    let args: Vec<&str> = line.split_whitespace().collect();
    refuse_args(desk, &args, status, message);
}

/// As [`refuse`], for arguments with blanks in them.
pub(crate) fn refuse_args(desk: &Desk, args: &[&str], status: i32, message: &str) {
    let before = snapshot(desk.path());
    let mut command = desk.command(args);
    let output = command.timeout(TIME_LIMIT).output().unwrap();
    check_refusal(&output, status, message, &args.join(" "));
    let after = snapshot(desk.path());
    let names = |snapshot: &BTreeMap<PathBuf, _>| snapshot.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&before), names(&after), "{args:?}: what is there");
    assert!(before == after, "{args:?}: files have changed");
}

/// Checks what a refused run has said.
pub(crate) fn check_refusal(output: &Output, status: i32, message: &str, line: &str) {
    let told = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(status), "{line}\n{told}");
    assert!(output.stdout.is_empty(), "{line}: something on stdout");
    for sign_of_panic in ["panicked", "RUST_BACKTRACE", "this is a bug"] {
        assert!(!told.contains(sign_of_panic), "{line}\n{told}");
    }
    let is_warning = |line: &&str| line.trim_start().starts_with("WARN");
    let warnings = told.lines().filter(is_warning);
    let is_repeated = |line: &str| {
        !line.contains("starting anew") && !line.contains("that the model was trained on")
    };
    assert!(
        !warnings.clone().any(is_repeated),
        "{line}: told twice\n{told}"
    );
    // What was done before is told in lines of its own.
    let is_error = |line: &str| line.starts_with("error: ");
    let mut messages = told.lines().skip_while(|line| !is_error(line));
    let first = messages.next().unwrap_or_default();
    let error = first.strip_prefix("error: ");
    match message.strip_suffix("...") {
        Some(start) => assert!(
            error.is_some_and(|text| text.starts_with(start)),
            "{line}\n{told}"
        ),
        None => assert_eq!(error, Some(message), "{line}"),
    }
    let is_usage = messages
        .clone()
        .any(|line| line.starts_with("For more information"));
    assert!(
        is_usage || messages.next().is_none(),
        "{line}: more than one message\n{told}"
    );
}

/// Subjects and the words of books on them.
const SHELVES: [(&str, [&str; 6]); 4] = [
    (
        "Tides",
        ["tide", "harbour", "moon", "gauge", "coast", "sea"],
    ),
    (
        "Clocks",
        ["clock", "spring", "wheel", "hour", "pendulum", "dial"],
    ),
    ("Bees", ["bee", "hive", "honey", "swarm", "queen", "meadow"]),
    (
        "Bridges",
        ["bridge", "arch", "span", "stone", "river", "pillar"],
    ),
];

/// A little corpus as JSON lines: ids, texts, labels, and a split.
pub(crate) fn books() -> String {
    let book = |number: usize| {
        let (label, words) = SHELVES[number % SHELVES.len()];
        let chosen: Vec<&str> = (0..4).map(|place| words[(number + place) % 6]).collect();
        let split = if number.is_multiple_of(5) {
            "test"
        } else {
            "train"
        };
        serde_json::json!({
            "id": format!("book-{number}"),
            "text": format!("A book on {}", chosen.join(" ")),
            "labels": [label],
            "split": split,
        })
        .to_string()
            + "\n"
    };
    (0..40).map(book).collect()
}

/// A little corpus of features, with the header of the XMC repository.
pub(crate) fn features() -> String {
    let row = |number: usize| format!("{} {}:1 {}:0.5\n", number % 4, number % 4, 4 + number % 5);
    let rows: String = (0..20).map(row).collect();
    format!("20 10 4\n{rows}")
}

/// A desk with `books.jsonl` and a `model` of it.
pub(crate) fn desk_with_model() -> Desk {
    let desk = Desk::empty();
    desk.write("books.jsonl", &books());
    desk.succeed(&["train", "books.jsonl", "-o", "model"]);
    desk
}
