//! Standard input, output and error that are empty, closed, full or gone.

#![cfg(unix)]

use std::fs::File;
use std::io::Read;
use std::process::{Command, Output, Stdio};

use crate::refusal::{BAD_DATA, FAILURE, check_refusal, desk_with_model, snapshot};
use crate::support::Desk;

/// The program on the desk, with the streams that a shell gives it.
fn shell(desk: &Desk, line: &str) -> Output {
    let program = assert_cmd::cargo::cargo_bin!("plethora");
    Command::new("sh")
        .arg("-c")
        .arg(format!("\"$PLETHORA\" {line}"))
        .env("PLETHORA", program)
        .current_dir(desk.path())
        .output()
        .unwrap()
}

#[test]
fn standard_input_without_anything_is_an_empty_corpus() {
    let desk = desk_with_model();
    let before = snapshot(desk.path());
    for verb in ["train - -o new", "eval model -", "check -"] {
        for stream in ["</dev/null", "<&-"] {
            let line = format!("{verb} {stream}");
            let message = "<stdin>: the file is empty";
            check_refusal(&shell(&desk, &line), BAD_DATA, message, &line);
        }
    }
    for stream in ["</dev/null", "<&-"] {
        let output = shell(&desk, &format!("predict model - {stream}"));
        assert!(output.status.success());
        assert!(output.stdout.is_empty());
    }
    assert!(before == snapshot(desk.path()));
}

#[test]
fn mistakes_on_standard_input_have_a_line_too() {
    let desk = desk_with_model();
    let lines = r#"printf '{"text": "tide"}\n{"text": 7}\n' |"#;
    let program = assert_cmd::cargo::cargo_bin!("plethora");
    let output = Command::new("sh")
        .args(["-c", &format!("{lines} \"$PLETHORA\" predict model -")])
        .env("PLETHORA", program)
        .current_dir(desk.path())
        .output()
        .unwrap();
    let message = "<stdin>:2: invalid type: integer `7`, expected field `text` to be a string...";
    check_refusal(&output, BAD_DATA, message, "predict model -");
}

#[test]
fn results_that_cannot_be_written_are_a_failure() {
    let desk = desk_with_model();
    for verb in [
        "predict model books.jsonl",
        "eval model books.jsonl",
        "info model",
        "info model --json",
    ] {
        let line = format!("{verb} >/dev/full");
        let message = "<stdout>: cannot write: No space left on device (os error 28)";
        check_refusal(&shell(&desk, &line), FAILURE, message, &line);
    }
    let output = shell(&desk, "predict model books.jsonl -o /dev/full");
    let message = "/dev/full: cannot write: No space left on device (os error 28)";
    check_refusal(&output, FAILURE, message, "predict to a full device");
}

#[test]
fn logs_that_cannot_be_written_do_not_matter() {
    let desk = desk_with_model();
    desk.write(
        "some.jsonl",
        "{\"text\": \"tide\"}\n{\"text\": \"tide\", \"labels\": [\"Tides\"]}\n{\"text\": \"tide\", \"labels\": [\"Tides\"]}\n",
    );
    for (line, status) in [
        ("train some.jsonl -o of-some 2>/dev/full", 0),
        ("train some.jsonl -o of-none 2>&-", 0),
        ("train nowhere.jsonl -o new 2>/dev/full", BAD_DATA),
    ] {
        assert_eq!(shell(&desk, line).status.code(), Some(status), "{line}");
    }
    desk.succeed(&["info", "of-some"]);
}

#[test]
fn a_reader_that_has_enough_ends_the_program_quietly() {
    let desk = desk_with_model();
    // More than a pipe holds, so that writing continues after the reader is gone.
    let lines = (0..6000)
        .map(|number| format!("tide {number}\n"))
        .collect::<Vec<String>>()
        .concat();
    desk.write("many.txt", &lines);
    for args in [
        &["predict", "model", "many.txt", "-q"][..],
        &["predict", "model", "many.txt", "-q", "--out-format", "csv"],
        &["info", "model", "-q"],
        &["--help"],
    ] {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("plethora"))
            .args(args)
            .current_dir(desk.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 1];
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut first).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), told.as_str()),
            (Some(0), ""),
            "{args:?}"
        );
    }
}

#[test]
fn a_corpus_that_never_comes_gives_no_predictions() {
    let desk = desk_with_model();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("plethora"))
        .args(["predict", "model", "-", "-o", "out.jsonl"])
        .current_dir(desk.path())
        .stdin(Stdio::piped())
        .stderr(Stdio::from(File::create("/dev/null").unwrap()))
        .spawn()
        .unwrap();
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(desk.read("out.jsonl"), "");
}
