//! Data as people have it, through the commands: several files, tables of spreadsheets, folders, and what a
//! dry run shows of them.

mod support;

use serde_json::Value;
use support::Desk;

/// Documents that a model can be trained on, as CSV of a German spreadsheet.
#[expect(clippy::format_push_string, reason = "a few rows")]
fn table(start: usize) -> String {
    let mut rows = String::from("Nr;Titel;Schlagwörter\r\n");
    for number in start..start + 12 {
        let (title, labels) = match number % 2 {
            0 => ("Häfen an der Küste", "Meer;Hafen"),
            _ => ("Glas aus Böhmen", "Glas"),
        };
        rows.push_str(&format!("{number};{title} {number};\"{labels}\"\r\n"));
    }
    rows
}

fn legacy(text: &str) -> Vec<u8> {
    text.chars().map(|char| u32::from(char) as u8).collect()
}

const FIELDS: [&str; 4] = ["--text-field", "Titel", "--label-field", "Schlagwörter"];

fn with_fields<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [args, &FIELDS].concat()
}

#[test]
fn several_tables_of_a_spreadsheet_become_a_model() {
    let desk = Desk::empty();
    std::fs::write(desk.file("part-1.csv"), legacy(&table(0))).unwrap();
    desk.write("part-2.csv", &table(12));
    let message = desk.fail(3, &["train", "part-2.csv", "-o", "model"]);
    assert!(
        message.contains("--text-field Titel and --label-field Schlagwörter"),
        "{message}"
    );
    let train = [
        "train",
        "part-1.csv",
        "part-2.csv",
        "-o",
        "model",
        "--system",
        "wide-tree",
        "--json",
    ];
    let report: Value = serde_json::from_str(&desk.succeed(&with_fields(&train))).unwrap();
    assert_eq!(report["n_documents"], 24);
    let eval = desk.succeed(&with_fields(&[
        "eval",
        "model",
        "part-1.csv",
        "part-2.csv",
        "--json",
    ]));
    assert!(eval.contains("\"P@1\""), "{eval}");
    desk.succeed(&with_fields(&["convert", "part-*.csv", "all.jsonl"]));
    assert_eq!(desk.read("all.jsonl").lines().count(), 24);
    assert!(desk.read("all.jsonl").contains("Häfen an der Küste 0"));
    let message = desk.fail(2, &["eval", "model", "all.jsonl", "model", "all.jsonl"]);
    assert!(
        message.contains("model: a model after the data"),
        "{message}"
    );
    // One text over several lines, a folder of texts, and nothing at all.
    desk.write(
        "report.txt",
        "Der Hafen lag an der\nküste, und Schiffe kamen. Er war\ngroß.\n",
    );
    assert_eq!(
        desk.succeed(&["predict", "model", "report.txt"])
            .lines()
            .count(),
        1
    );
    std::fs::create_dir(desk.file("texts")).unwrap();
    desk.write("texts/a.txt", "Häfen\n\nund Glas");
    desk.write("texts/b.txt", "Glas");
    let ranked = desk.succeed(&["predict", "model", "texts"]);
    assert_eq!(ranked.lines().count(), 2);
    assert!(ranked.contains("\"a.txt\""), "{ranked}");
    desk.write("empty.jsonl", "");
    assert_eq!(desk.succeed(&["predict", "model", "empty.jsonl"]), "");
}

#[test]
fn a_dry_run_shows_how_documents_are_read() {
    let desk = Desk::empty();
    std::fs::write(desk.file("books.csv"), legacy(&table(0))).unwrap();
    let dry = [
        "train",
        "books.csv",
        "-o",
        "model",
        "--dry-run",
        "--system",
        "wide-tree",
    ];
    let shown = desk.succeed(&with_fields(&dry));
    for line in [
        "#   format      csv (told by content)",
        "#   encoding    windows-1252 (told by content)",
        "#   delimiter   ;",
        "#   text from   Titel",
        "#     text      Häfen an der Küste 0",
        "#     labels    Meer | Hafen",
    ] {
        assert!(shown.contains(line), "{line} is not in {shown}");
    }
    assert_eq!(shown.matches("#   document").count(), 3);
    let json = desk.succeed(&with_fields(&[&dry[..], &["--json"]].concat()));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["documents"][1]["labels"], serde_json::json!(["Glas"]));
    assert_eq!(json["reading"]["delimiter"], ";");
    let auto = ["train", "books.csv", "-o", "model", "--dry-run"];
    let shown = desk.succeed(&with_fields(&auto));
    assert!(shown.contains("  delimiter   ;"), "{shown}");
    assert!(!desk.file("model").exists());
}
