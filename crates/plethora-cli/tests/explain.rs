//! `explain` through the command line: its three forms, and what it refuses.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod refusal;
mod support;

use refusal::{BAD_DATA, FAILURE, USAGE, desk_with_model, features, refuse, refuse_args};
use serde_json::Value;

const TEXT: &str = "Ein Häuschen <script>am</script> harbour: the tide and the moon, the moon";

#[test]
fn json_has_the_best_labels_with_places_that_python_finds() {
    let desk = desk_with_model();
    let output = desk.succeed(&["explain", "model", TEXT, "--format", "json"]);
    let report: Value = serde_json::from_str(&output).unwrap();
    assert_eq!(report["model"], "model");
    assert_eq!(report["system"], "wide-tree");
    assert_eq!(report["text"], TEXT);
    let explanations = report["explanations"].as_array().unwrap();
    assert_eq!(explanations.len(), 3);
    assert_eq!(explanations[0]["name"], "Tides");
    assert_eq!(explanations[0]["method"], "contributions");
    let characters: Vec<char> = TEXT.chars().collect();
    let number = |value: &Value| value.as_u64().unwrap() as usize;
    let spans = explanations[0]["spans"].as_array().unwrap();
    for span in spans {
        let place = &characters[number(&span["start"])..number(&span["end"])];
        assert_eq!(place.iter().collect::<String>(), span["text"]);
        let bytes = number(&span["start_byte"])..number(&span["end_byte"]);
        assert_eq!(&TEXT[bytes], span["text"]);
    }
    let moons = spans.iter().filter(|span| span["text"] == "moon");
    assert_eq!(moons.count(), 2);
}

#[test]
fn scores_are_those_of_predict() {
    let desk = desk_with_model();
    let predicted = desk
        .command(&["predict", "model", "-", "-k", "4"])
        .write_stdin(format!("{TEXT}\n"))
        .output()
        .unwrap();
    let predicted: Value = serde_json::from_slice(&predicted.stdout).unwrap();
    let explained = desk
        .command(&["explain", "model", "-", "-k", "4", "-f", "json"])
        .write_stdin(TEXT)
        .output()
        .unwrap();
    let explained: Value = serde_json::from_slice(&explained.stdout).unwrap();
    let scores = |list: &Value, key: &str| -> Vec<(Value, Value)> {
        let list = list.as_array().unwrap();
        list.iter()
            .map(|entry| (entry[key].clone(), entry["score"].clone()))
            .collect()
    };
    assert_eq!(
        scores(&explained["explanations"], "label"),
        scores(&predicted["predictions"], "key")
    );
}

#[test]
fn named_labels_are_explained_once_each_in_their_order() {
    let desk = desk_with_model();
    let args = ["explain", "model", TEXT, "-f", "json", "-k", "1"];
    let labels = ["--label", "bees", "--label", "Tides", "-l", "Bees"];
    let output = desk.succeed(&[&args[..], &labels].concat());
    let report: Value = serde_json::from_str(&output).unwrap();
    let names: Vec<&Value> = (report["explanations"].as_array().unwrap().iter())
        .map(|explanation| &explanation["name"])
        .collect();
    assert_eq!(names, ["Bees", "Tides"]);
}

#[test]
fn without_a_terminal_words_carry_numbers() {
    let desk = desk_with_model();
    let output = desk.succeed(&["explain", "model", TEXT, "--label", "Tides"]);
    assert!(output.starts_with("Tides  score 0."), "{output}");
    assert!(output.contains("moon(0."), "{output}");
    assert!(output.contains("<script>"), "{output}");
    assert!(output.contains(" contribution "), "{output}");
    assert!(!output.contains('\u{1b}'), "{output}");
}

#[test]
fn a_page_is_written_whole_and_escaped() {
    let desk = desk_with_model();
    desk.write("text.txt", TEXT);
    let args = ["explain", "model", "--file", "text.txt", "-o", "page.html"];
    assert_eq!(desk.succeed(&args), "");
    let page = desk.read("page.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(page.contains("&lt;script&gt;"));
    assert_eq!(page.matches("<script>").count(), 1);
    let exists = "page.html exists already; choose another name or pass --force to replace it";
    refuse(&desk, &args.join(" "), FAILURE, exists);
    desk.succeed(&[&args[..], &["--force", "--format", "json"]].concat());
    assert!(desk.read("page.html").starts_with('{'));
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let desk = desk_with_model();
    std::fs::create_dir(desk.file("folder")).unwrap();
    std::fs::write(desk.file("latin"), b"tide\nH\xe4fen\n").unwrap();
    desk.write("blank", " \n");
    for (line, status, message) in [
        (
            "explain model tide --label Tidez",
            USAGE,
            "--label: unknown label `Tidez`; did you mean `Tides`?",
        ),
        (
            "explain model",
            USAGE,
            "there is no text: give it as an argument, as --file FILE, or as - for standard input",
        ),
        (
            "explain model tide --file blank",
            USAGE,
            "the argument '[TEXT]' cannot be used with '--file <FILE>'",
        ),
        (
            "explain model tide -k 0",
            USAGE,
            "invalid value '0' for '--top-k <K>'...",
        ),
        (
            "explain model tide --format pdf",
            USAGE,
            "invalid value 'pdf' for '--format <FORMAT>'",
        ),
        (
            "explain model --file blank -o blank --force",
            USAGE,
            "blank: this is the input; choose another name for the output",
        ),
        (
            "explain model --file blank",
            BAD_DATA,
            "blank: there is no text in it",
        ),
        (
            "explain model -",
            BAD_DATA,
            "<stdin>: there is no text in it",
        ),
        (
            "explain model --file latin",
            BAD_DATA,
            "latin:2: expected text in UTF-8, found other bytes",
        ),
        (
            "explain model --file nowhere",
            BAD_DATA,
            "nowhere: cannot read: No such file or directory (os error 2)",
        ),
        (
            "explain nowhere tide",
            BAD_DATA,
            "nowhere: no such model folder",
        ),
        (
            "explain folder tide",
            BAD_DATA,
            "folder: not a Plethora model: the folder has no manifest.json",
        ),
        (
            "explain model tide -o nowhere/page.html",
            FAILURE,
            "nowhere/page.html: cannot write: No such file or directory (os error 2)",
        ),
    ] {
        refuse(&desk, line, status, message);
    }
    refuse_args(
        &desk,
        &["explain", "model", " "],
        USAGE,
        "the text is empty",
    );
}

#[test]
fn models_of_features_have_no_words() {
    let desk = desk_with_model();
    desk.write("features.txt", &features());
    desk.succeed(&["train", "features.txt", "-o", "numbers"]);
    let message = "numbers: was trained on features, not on texts: there are no words to explain";
    for line in ["explain numbers tide", "explain numbers tide --label 1"] {
        refuse(&desk, line, BAD_DATA, message);
    }
}
