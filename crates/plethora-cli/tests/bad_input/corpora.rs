//! Files of documents and labels.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::refusal::{BAD_DATA, books, desk_with_model, features, refuse};
use crate::support::Desk;

/// What every verb that reads a corpus says about files that are none.
#[test]
fn files_that_are_no_corpus_are_refused_by_all_verbs() {
    let desk = desk_with_model();
    fs::create_dir(desk.file("folder")).unwrap();
    for (name, content) in [
        ("empty", &b""[..]),
        ("blank", b"\n \n\n"),
        ("binary", b"\x7fELF\x02\x01\x01\0\0\0\0\n"),
        ("utf16", b"\xff\xfe{\0\"\0"),
        ("bzip2", b"BZh91AY&SY"),
        ("array", b"[{\"text\": \"a\"}]\n"),
    ] {
        fs::write(desk.file(name), content).unwrap();
    }
    fs::write(desk.file("short.gz"), &gzip(books().as_bytes())[..60]).unwrap();
    for (name, message) in [
        (
            "missing",
            "missing: cannot read: No such file or directory (os error 2)",
        ),
        ("empty", "empty: the file is empty"),
        ("blank", "blank: only blank lines"),
        ("folder", "folder: a folder without files of a corpus..."),
        (
            "binary",
            "binary: a binary file; expected text, plain or as gz, xz, zst",
        ),
        (
            "utf16",
            "utf16:1: the JSON object does not end on its line; expected one object per line",
        ),
        (
            "bzip2",
            "bzip2: a bzip2 file; expected text, plain or as gz, xz, zst",
        ),
        (
            "array",
            "array:1: a JSON array; expected one JSON object per line (jq -c '.[]' makes them)",
        ),
        (
            "short.gz",
            "short.gz: the file ends in the middle of compressed data",
        ),
    ] {
        for line in [
            format!("train {name} -o new"),
            format!("train books.jsonl --valid {name} -o new"),
            format!("train {name} -o model --force"),
            format!("eval model {name}"),
            format!("eval model {name} -o metrics.json"),
            format!("predict model {name}"),
            format!("predict model {name} -o out.jsonl"),
            format!("check {name}"),
            format!("convert {name} out.csv"),
            format!("split {name} -o parts"),
        ] {
            // Nothing to rank is no mistake.
            let is_nothing = line.starts_with("predict") && ["empty", "blank"].contains(&name);
            // It is text, and what is wrong with it is found when it is read, after work has begun.
            let works_first = line.contains("--valid") || line.starts_with("split");
            let is_found_late = works_first && name == "utf16";
            if !is_nothing && !is_found_late {
                refuse(&desk, &line, BAD_DATA, message);
            }
        }
    }
}

#[test]
fn broken_json_lines_are_named() {
    let good = r#"{"id": "1", "text": "tide and sea", "labels": ["Tides"]}"#;
    for (bad, message) in [
        (
            r#"{"text": "tide", "labels": ["Tides"]"#,
            "the JSON object does not end on its line; expected one object per line",
        ),
        (
            r#"{"text": "tide", "labels": [NaN]}"#,
            "not valid JSON: expected value (column 29)",
        ),
        (
            r#"{"text": "tide", "labels": 7}"#,
            "invalid type: integer `7`, expected field `labels` to be a list of strings or integers...",
        ),
        (
            r#"{"text": "tide", "labels": "Tides"}"#,
            "invalid type: string \"Tides\", expected field `labels` to be a list of strings...",
        ),
        (
            r#"{"text": "tide", "labels": {"Tides": 1}}"#,
            "invalid type: map, expected field `labels` to be a list of strings or integers...",
        ),
        (
            r#"{"text": "tide", "labels": ["Tides", null]}"#,
            "invalid type: null, expected labels to be strings or integers...",
        ),
        (r#"{"text": "tide", "labels": [""]}"#, "an empty label"),
        (
            r#"{"text": 7, "labels": ["Tides"]}"#,
            "invalid type: integer `7`, expected field `text` to be a string...",
        ),
        (
            r#"{"body": "tide", "labels": ["Tides"]}"#,
            "no text in field `text`; fields found: body, labels. Name the text with --text-field",
        ),
        (
            r#"{"id": "1", "text": "sea", "labels": ["Tides"]}"#,
            "the id `1` is that of line 1 already; --allow-duplicate-ids accepts that, and --group-rows ...",
        ),
        (
            r#""tide""#,
            "invalid type: string \"tide\", expected a JSON object...",
        ),
    ] {
        let desk = Desk::empty();
        desk.write("books.jsonl", &format!("{good}\n{bad}\n"));
        for line in [
            "train books.jsonl -o model",
            "convert books.jsonl books.csv",
        ] {
            refuse(&desk, line, BAD_DATA, &format!("books.jsonl:2: {message}"));
        }
    }
}

#[test]
fn broken_bytes_are_named_with_their_line() {
    let desk = desk_with_model();
    let mut bytes = books().into_bytes();
    let third_line = books()
        .lines()
        .take(2)
        .map(|line| line.len() + 1)
        .sum::<usize>();
    bytes[third_line + 30] = 0xff;
    fs::write(desk.file("latin.jsonl"), bytes).unwrap();
    let message =
        "latin.jsonl:3: byte 31 of the line is not valid UTF-8; if the file has another ...";
    for verb in [
        "train -o new",
        "eval model",
        "predict model",
        "predict model -o out.jsonl",
    ] {
        let line = format!("{verb} latin.jsonl");
        refuse(&desk, &line, BAD_DATA, message);
    }
}

#[test]
fn compressed_files_that_end_too_early_are_named_with_the_line() {
    let desk = desk_with_model();
    let many = (0..20_000)
        .map(|number| format!("{{\"text\": \"tide {number}\", \"labels\": [\"Tides\"]}}\n"))
        .collect::<Vec<String>>()
        .concat();
    let whole = gzip(many.as_bytes());
    fs::write(desk.file("cut.gz"), &whole[..whole.len() - 2000]).unwrap();
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 64].fill(0xff);
    fs::write(desk.file("damaged.gz"), damaged).unwrap();
    refuse(&desk, "train damaged.gz -o new", BAD_DATA, "damaged.gz:...");
    refuse(
        &desk,
        "predict model cut.gz -o out.jsonl",
        BAD_DATA,
        "cut.gz:1...",
    );
    refuse(&desk, "eval model cut.gz", BAD_DATA, "cut.gz:1...");
}

#[test]
fn text_and_label_files_must_have_the_same_lines() {
    let desk = Desk::empty();
    desk.write("texts.txt", "the tide\nthe sea\nthe tide and the sea\n");
    for (labels, message) in [
        (
            "Tides\nTides\n",
            "texts.txt:3: a text without labels: labels.txt ends after 2 lines",
        ),
        (
            "Tides\nTides\nTides\nBees\n",
            "labels.txt:4: more lines than the 3 texts of texts.txt",
        ),
        ("", "labels.txt: the file is empty"),
        (
            "Tides\nT\0des\nTides\n",
            "labels.txt: a binary file; expected text, plain or as gz, xz, zst",
        ),
    ] {
        desk.write("labels.txt", labels);
        refuse(
            &desk,
            "train texts.txt --labels-file labels.txt -o model",
            BAD_DATA,
            message,
        );
    }
}

#[test]
fn documents_without_labels_are_left_out_with_a_word_and_never_all() {
    let desk = desk_with_model();
    desk.write("some.jsonl", "{\"text\": \"tide\", \"labels\": [\"Tides\"]}\n{\"text\": \"tide\"}\n{\"text\": \"tide\", \"labels\": [\"Tides\"]}\n{\"text\": \"sea\", \"labels\": []}\n");
    let output = desk.run(&["train", "some.jsonl", "-o", "new"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");
    let warning = "some.jsonl:2: no labels; documents without labels are left out: 2";
    assert_eq!(told.matches("WARN").count(), 1, "{told}");
    assert!(told.contains(warning), "{told}");

    desk.write(
        "none.jsonl",
        "{\"text\": \"tide\"}\n{\"text\": \"tide\", \"labels\": []}\n",
    );
    desk.write("none.csv", "id,text\n1,tide\n2,tide\n");
    desk.write("none.txt", "2 10 4\n 1:1\n 2:1\n");
    let learn = "no document has labels, so there is nothing to learn from";
    let compare = "no document has labels, so there is nothing to compare with";
    let hint = "; --label-field names their field";
    for (line, message) in [
        (
            "train none.jsonl -o x",
            format!("none.jsonl: {learn}{hint}"),
        ),
        ("train none.csv -o x", format!("none.csv: {learn}{hint}")),
        ("train none.txt -o x", format!("none.txt: {learn}")),
        (
            "train books.jsonl --label-field tags -o x",
            format!("books.jsonl: {learn}{hint}"),
        ),
        (
            "eval model none.jsonl",
            format!("none.jsonl: {compare}{hint}"),
        ),
        ("eval model none.csv", format!("none.csv: {compare}{hint}")),
    ] {
        refuse(&desk, line, BAD_DATA, &message);
    }
}

#[test]
fn texts_without_a_common_term_have_no_features() {
    let desk = Desk::empty();
    desk.write("all-differ.jsonl", "{\"text\": \"one two\", \"labels\": [\"A\"]}\n{\"text\": \"three four\", \"labels\": [\"B\"]}\n");
    desk.write(
        "no-words.jsonl",
        "{\"text\": \"!?\", \"labels\": [\"A\"]}\n{\"text\": \"\", \"labels\": [\"B\"]}\n",
    );
    desk.write("no-features.txt", "2 10 4\n1 \n2 \n");
    for (line, message) in [
        (
            "train all-differ.jsonl -o model --set text.min_df=2",
            "all-differ.jsonl: no term is left: none of 4 terms occurs in at least 2 (min_df) and at most 2 (max_df) of 2 training documents; --set text.min_df=1 keeps rare terms",
        ),
        (
            "train no-words.jsonl -o model",
            "no-words.jsonl: none of the 2 training documents has a word in its text",
        ),
        (
            "train no-features.txt -o model",
            "no-features.txt: no document with labels has a feature",
        ),
    ] {
        refuse(&desk, line, BAD_DATA, message);
    }
}

#[test]
fn feature_files_must_keep_what_their_header_promises() {
    for (rows, message) in [
        (
            "2 10 4\n1 3:1 4:1\n2 10:1\n",
            ":3: feature 10 is out of bounds: the header promises 10 features, counted from 0",
        ),
        (
            "2 10 4\n1 3:1 4:1\n4 9:1\n",
            ":3: label 4 is out of bounds: the header promises 4 labels, counted from 0",
        ),
        (
            "2 10 4\n1 3:1\nx 4:1\n",
            ":3: the label number `x` is not a whole number",
        ),
        (
            "2 10 4\n1 3:nan\n2 4:1\n",
            ":2: the value of the feature `3:nan` is not a finite number",
        ),
        (
            "2 10 4\n1 3:1\n2 4:-inf\n",
            ":3: the value of the feature `4:-inf` is not a finite number",
        ),
        ("2 10 4\n1 3:1\n2 4:1 4:2\n", ":3: feature 4 occurs twice"),
        (
            "2 10 4\n1 3:1\n2 4\n",
            ":3: `4` is not a feature such as 17:0.5",
        ),
        (
            "2 10 4\n1 3:1\n",
            ":2: the file ends after 1 documents, but its header promises 2",
        ),
        (
            "1 10 4\n1 3:1\n2 4:1\n",
            ":3: more documents than the 1 that the header promises",
        ),
        (
            "2 99999999999 4\n1 3:1\n2 4:1\n",
            ":1: 99999999999 features are more than fit",
        ),
        (
            "2 4294967295 4\n1 3:1\n2 4:1\n",
            ": 4294967295 features are too many, expected at most 268435456; number those...",
        ),
        (
            "1 3:1\n2 4:1\n",
            ": libsvm without header does not say whether features are counted from 0 or 1; pass...",
        ),
    ] {
        let desk = Desk::empty();
        desk.write("rows.txt", rows);
        refuse(
            &desk,
            "train rows.txt -o model",
            BAD_DATA,
            &format!("rows.txt{message}"),
        );
    }
}

#[test]
fn label_numbers_must_count_in_their_file() {
    let desk = Desk::empty();
    desk.write("labels.txt", "Tides\nBees\n");
    desk.write("numbers.tsv", "0\tthe tide\n7\tthe sea\n");
    desk.write("raw.json", "{\"title\": \"tide\", \"content\": \"\", \"target_ind\": [0]}\n{\"title\": \"sea\", \"content\": \"\", \"target_ind\": [9]}\n");
    for (line, message) in [
        (
            "train numbers.tsv --labels-file labels.txt -o model",
            "numbers.tsv:2: unknown label number 7: labels.txt has 2 labels, counted from 0",
        ),
        (
            "train raw.json --labels-file labels.txt -o model",
            "raw.json:2: unknown label number 9: labels.txt has 2 labels, counted from 0",
        ),
        (
            "train numbers.tsv -o model",
            "numbers.tsv: the numbers before the tab are line numbers of a label file; name it...",
        ),
        (
            "train numbers.tsv --labels-file nowhere -o model",
            "nowhere: cannot read: No such file or directory (os error 2)",
        ),
    ] {
        refuse(&desk, line, BAD_DATA, message);
    }
}

#[test]
fn tables_and_vocabularies_are_named_with_their_line() {
    let desk = Desk::empty();
    desk.write("books.jsonl", &books());
    desk.write("wide.csv", "text,labels\ntide,Tides,Bees\n");
    desk.write("headless.csv", "text,labels\n");
    desk.write("words.txt", "the tide\nthe sea\n");
    desk.write(
        "broken.ttl",
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n<a> skos:\n",
    );
    desk.write("broken.json", "{\"Tides\": ");
    fs::write(desk.file("binary"), b"\0\x01").unwrap();
    for (line, message) in [
        (
            "train wide.csv -o model",
            "wide.csv:2: 3 columns, but the header has 2",
        ),
        (
            "train headless.csv -o model",
            "headless.csv: the file has no documents",
        ),
        (
            "train words.txt -o model",
            "words.txt:1: cannot tell the format of this file by its first lines. Pass --format...",
        ),
        (
            "train books.jsonl --vocabulary nowhere -o model",
            "nowhere: cannot read: No such file or directory (os error 2)",
        ),
        (
            "train books.jsonl --vocabulary binary -o model",
            "binary: a binary file; expected text, plain or as gz, xz, zst",
        ),
        (
            "train books.jsonl --vocabulary broken.ttl -o model",
            "broken.ttl:...",
        ),
        (
            "train books.jsonl --vocabulary broken.json -o model",
            "broken.json:...",
        ),
    ] {
        refuse(&desk, line, BAD_DATA, message);
    }
}

#[test]
fn filters_that_keep_nothing_say_what_there_is() {
    let desk = desk_with_model();
    let found = "books.jsonl: none of 40 rows has split=`trian` (found `test`, `train`)";
    for verb in ["train -o new", "eval model", "predict model", "check"] {
        refuse(
            &desk,
            &format!("{verb} books.jsonl --where split=trian"),
            BAD_DATA,
            found,
        );
    }
    let no_field = "books.jsonl: none of 40 rows has splt=`train`";
    refuse(
        &desk,
        "train -o new books.jsonl --where splt=train",
        BAD_DATA,
        no_field,
    );
}

#[test]
fn documents_must_be_of_the_kind_that_the_model_takes() {
    let desk = desk_with_model();
    desk.write("rows.txt", &features());
    desk.succeed(&["train", "rows.txt", "-o", "of-rows"]);
    let text = "books.jsonl: document `book-0` is a text, but the model was trained on features";
    let row = "rows.txt: document `1` has features, but the model was trained on texts";
    for (line, message) in [
        ("predict of-rows books.jsonl", text),
        ("predict of-rows books.jsonl -o out.jsonl", text),
        ("eval of-rows books.jsonl", text),
        ("predict model rows.txt", row),
        ("eval model rows.txt", row),
    ] {
        refuse(&desk, line, BAD_DATA, message);
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
