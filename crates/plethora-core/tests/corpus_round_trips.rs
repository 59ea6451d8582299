//! What is written is read back the same. Belongs here: `CorpusWriter` against `CorpusReader`, for
//! every format, and what a format refuses to hold.

#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]

use std::path::{Path, PathBuf};

use plethora_core::corpus::{
    Content, CorpusReader, CorpusWriter, Document, Format, ReadOptions, WriteOptions,
};
use plethora_core::{Error, Result, SparseVector};
use proptest::prelude::*;

fn text_document(id: &str, text: &str, labels: &[&str]) -> Document {
    Document {
        id: id.into(),
        content: Content::Text(text.into()),
        labels: labels.iter().map(ToString::to_string).collect(),
    }
}

fn write(
    path: &Path,
    format: Format,
    options: &WriteOptions,
    documents: &[Document],
) -> Result<()> {
    let mut writer = CorpusWriter::create(path, format, options)?;
    for document in documents {
        writer.write(document)?;
    }
    writer.finish()
}

/// Writes and reads back. Only what [`holds_ids`] keeps its ids; others get their positions.
fn round_trip(documents: &[Document], format: Format, name: &str) -> Result<Vec<Document>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let labels_path: Option<PathBuf> = format
        .takes_labels_file()
        .then(|| folder.path().join("labels"));
    let index_base = (format == Format::Libsvm).then_some(1);
    let label_separator = matches!(format, Format::Csv | Format::Tsv).then(|| "|".to_owned());
    let options = WriteOptions {
        labels_path: labels_path.clone(),
        index_base,
        label_separator: label_separator.clone(),
        ..WriteOptions::default()
    };
    write(&path, format, &options, documents)?;
    let options = ReadOptions {
        labels_path,
        index_base,
        label_separator,
        format: Some(format),
        ..ReadOptions::default()
    };
    CorpusReader::open(&path, &options)?.collect()
}

fn holds_ids(format: Format) -> bool {
    matches!(
        format,
        Format::Jsonl | Format::Csv | Format::Tsv | Format::XmcRaw | Format::LibMultiLabelTsv
    )
}

fn with_positions(documents: &[Document]) -> Vec<Document> {
    let renumber = |(position, document): (usize, &Document)| Document {
        id: (position + 1).to_string(),
        ..document.clone()
    };
    documents.iter().enumerate().map(renumber).collect()
}

/// Documents with unique ids, texts as `text` and labels as `label` make them.
fn documents(text: &'static str, label: &'static str) -> impl Strategy<Value = Vec<Document>> {
    let row = (text, prop::collection::btree_set(label, 0..4));
    prop::collection::vec(row, 1..12).prop_map(|rows| {
        (0..)
            .zip(rows)
            .map(|(index, (text, labels)): (usize, _)| Document {
                id: format!("d{index}"),
                content: Content::Text(text),
                labels: labels.into_iter().collect(),
            })
            // A corpus without any label has no label file.
            .chain([text_document("last", "The end", &["end"])])
            .collect()
    })
}

fn feature_documents() -> impl Strategy<Value = Vec<Document>> {
    let features = prop::collection::btree_map(0_u32..50, -1e3_f32..1e3, 1..6);
    let row = (features, prop::collection::btree_set(0_u32..10, 1..4));
    prop::collection::vec(row, 1..12).prop_map(|rows| {
        (1..)
            .zip(rows)
            .map(|(position, (features, labels)): (usize, _)| {
                let (columns, values) = features.into_iter().unzip();
                Document {
                    id: position.to_string(),
                    content: Content::Features(SparseVector { columns, values }),
                    labels: labels.iter().map(ToString::to_string).collect(),
                }
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn json_and_csv_hold_any_text(rows in documents("\\PC*[\n\r\t\"\\\\,;]{0,3}\\PC*", "[a-zä,;\"' ]{0,5}[a-z]")) {
        for format in [Format::Jsonl, Format::XmcRaw] {
            prop_assert_eq!(&round_trip(&rows, format, "corpus").unwrap(), &rows, "{}", format);
        }
        let trimmed: Vec<Document> = rows
            .iter()
            .map(|row| {
                let mut labels: Vec<String> =
                    row.labels.iter().map(|label| label.trim().to_owned()).collect();
                labels.sort();
                labels.dedup();
                Document { labels, ..row.clone() }
            })
            .collect();
        prop_assert_eq!(round_trip(&trimmed, Format::Csv, "corpus").unwrap(), trimmed);
    }

    #[test]
    fn line_formats_hold_plain_text(rows in documents("[a-zA-Zäöü.,:'\" ]{0,20}[a-z.]", "[a-z0-9:/_-]{1,6}")) {
        let formats = (Format::ALL.into_iter())
            .filter(|format| format.is_written() && !format.has_features());
        for format in formats {
            // fastText lines are trimmed.
            let text = |row: &Document| row.text().unwrap().trim().to_owned();
            let rows: Vec<Document> = rows
                .iter()
                .map(|row| Document { content: Content::Text(text(row)), ..row.clone() })
                .collect();
            let expected = if holds_ids(format) { rows.clone() } else { with_positions(&rows) };
            prop_assert_eq!(round_trip(&rows, format, "corpus").unwrap(), expected, "{}", format);
        }
    }

    #[test]
    fn sparse_formats_hold_features(rows in feature_documents()) {
        for format in [Format::Libsvm, Format::XmcLibsvm] {
            prop_assert_eq!(&round_trip(&rows, format, "corpus").unwrap(), &rows, "{}", format);
        }
        let mut by_number = rows.clone();
        for row in &mut by_number {
            row.labels.sort_by_key(|label| label.parse::<u32>().unwrap());
        }
        prop_assert_eq!(round_trip(&rows, Format::XmcPair, "corpus").unwrap(), by_number);
    }
}

#[test]
fn compression_follows_the_suffix() {
    let rows = [
        text_document("a", "The sea", &["sea"]),
        text_document("b", "Air", &[]),
    ];
    for (suffix, magic) in [("gz", b"\x1f\x8b"), ("xz", b"\xfd7"), ("zst", b"\x28\xb5")] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("corpus.jsonl.{suffix}"));
        write(&path, Format::Jsonl, &WriteOptions::default(), &rows).unwrap();
        assert!(std::fs::read(&path).unwrap().starts_with(magic));
        let renamed = folder.path().join("no suffix");
        std::fs::rename(&path, &renamed).unwrap();
        let read: Result<Vec<Document>> = CorpusReader::open(&renamed, &ReadOptions::default())
            .unwrap()
            .collect();
        assert_eq!(read.unwrap(), rows);
    }
}

#[test]
fn headers_come_first_and_count_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("corpus.txt");
    let features = SparseVector {
        columns: vec![0, 7],
        values: vec![0.5, 1.0],
    };
    let row = Document {
        id: "1".into(),
        content: Content::Features(features),
        labels: vec!["3".into(), "1".into()],
    };
    write(
        &path,
        Format::XmcLibsvm,
        &WriteOptions::default(),
        &[row.clone(), row.clone()],
    )
    .unwrap();
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "2 8 4\n3,1 0:0.5 7:1\n3,1 0:0.5 7:1\n"
    );
    let options = WriteOptions {
        num_features: Some(5),
        replace: true,
        ..WriteOptions::default()
    };
    let message = write(&path, Format::XmcLibsvm, &options, &[row])
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("feature 7 is beyond the header's number"),
        "{message}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_given_list_of_labels_does_not_grow() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("corpus.txt");
    let options = WriteOptions {
        label_keys: vec!["air".into(), "sea".into()],
        ..WriteOptions::default()
    };
    let rows = [text_document("a", "The sea", &["sea"])];
    write(&path, Format::Text2Text, &options, &rows).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "1\tThe sea\n");
    let options = WriteOptions {
        replace: true,
        ..options
    };
    let rows = [text_document("a", "Fire", &["fire"])];
    let message = write(&path, Format::Text2Text, &options, &rows)
        .unwrap_err()
        .to_string();
    assert!(
        message.ends_with("the label `fire` is not in the list of labels"),
        "{message}"
    );
}

#[test]
fn what_a_format_cannot_hold_is_refused() {
    let cases = [
        (
            Format::FastText,
            "The sea",
            "open sea",
            "the label `open sea` has a blank",
        ),
        (
            Format::FastText,
            "The\nsea",
            "sea",
            "its text has line ends; flatten replaces them",
        ),
        (
            Format::FastText,
            "a __label__b",
            "sea",
            "its text has a word that starts with `__label__`",
        ),
        (
            Format::TextPair,
            "The sea",
            "open sea",
            "the label `open sea` has a blank, and blanks",
        ),
        (
            Format::AnnifTsv,
            "The\tsea",
            "sea",
            "its text has line ends or tabs",
        ),
        (
            Format::AnnifTsv,
            "The sea",
            "open sea",
            "the label `open sea` has blanks or brackets",
        ),
        (
            Format::Tsv,
            "The\tsea",
            "sea",
            "its text has line ends or tabs",
        ),
        (
            Format::Csv,
            "The sea",
            "sea;air",
            "the label `sea;air` cannot stand between `;`",
        ),
        (
            Format::Csv,
            "The sea",
            "['sea']",
            "the labels `['sea']` would be read as a list",
        ),
        (
            Format::Libsvm,
            "The sea",
            "sea",
            "it has text, and the format holds features",
        ),
    ];
    for (format, text, label, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("corpus");
        let options = WriteOptions {
            labels_path: format
                .takes_labels_file()
                .then(|| folder.path().join("labels")),
            index_base: Some(0),
            ..WriteOptions::default()
        };
        let rows = [text_document("x", text, &[label])];
        let message = write(&path, format, &options, &rows)
            .unwrap_err()
            .to_string();
        let prefix = format!("document `x` cannot be written as {format}: {expected}");
        assert!(message.starts_with(&prefix), "{message}");
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            0,
            "nothing half-written"
        );
    }
}

#[test]
fn flattening_makes_texts_fit_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("corpus.txt");
    let options = WriteOptions {
        flatten_text: true,
        ..WriteOptions::default()
    };
    let rows = [text_document("x", "The\nopen\tsea", &["sea"])];
    write(&path, Format::FastText, &options, &rows).unwrap();
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "__label__sea The open\tsea\n"
    );
}

#[test]
fn a_label_file_without_labels_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("corpus.txt");
    let labels_path = Some(folder.path().join("labels"));
    let options = WriteOptions {
        labels_path,
        ..WriteOptions::default()
    };
    let rows = [text_document("a", "The sea", &[])];
    let message = write(&path, Format::Text2Text, &options, &rows)
        .unwrap_err()
        .to_string();
    assert_eq!(
        message,
        "no document has labels, so there is nothing to put in the label file"
    );
}

#[test]
fn missing_choices_and_existing_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("corpus.txt");
    let create =
        |format, options: &WriteOptions| CorpusWriter::create(&path, format, options).unwrap_err();
    let defaults = WriteOptions::default();
    assert!(
        create(Format::TextPair, &defaults)
            .to_string()
            .starts_with("labels_file: ")
    );
    assert!(
        create(Format::Libsvm, &defaults)
            .to_string()
            .starts_with("index_base: ")
    );
    std::fs::write(&path, "mine").unwrap();
    assert!(matches!(
        create(Format::Jsonl, &defaults),
        Error::Exists { .. }
    ));
}
