//! Files that pandas, pyarrow, polars and Hugging Face datasets wrote: each has the documents of
//! `testdata/formats/documents.jsonl`.

#![expect(clippy::unwrap_used, reason = "a failed set-up fails the test")]
#![cfg(feature = "arrow")]

use std::path::{Path, PathBuf};

use plethora_core::Result;
use plethora_core::corpus::{CorpusReader, Document, ReadOptions};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/formats")
        .join(name)
}

fn read(name: &str, options: &ReadOptions) -> Vec<Document> {
    let reader = CorpusReader::open(&golden(name), options).unwrap();
    reader.collect::<Result<_>>().unwrap()
}

fn expected() -> Vec<Document> {
    read("documents.jsonl", &ReadOptions::default())
}

#[test]
fn files_of_all_programs_have_the_same_documents() {
    let defaults = ReadOptions::default();
    for name in [
        "pandas_lists.csv",
        "pandas_semicolons.csv",
        "pandas_tab.csv",
        "pandas_json_cells.csv",
        "pandas_cp1252.csv",
        "pandas_utf16.csv",
        "pandas_flags.csv",
        "pandas_rows_per_label.csv",
        "pandas.jsonl.gz",
        "pandas.parquet",
        "pandas_flags.parquet",
        "pandas.feather",
        "pyarrow_lz4.arrow",
        "pyarrow_dictionary.parquet",
        "pyarrow_large.parquet",
        "polars.parquet",
        "polars.arrow",
        "polars.ndjson",
        "pandas_parts",
        "hugging_face",
        "hugging_face_names.parquet",
    ] {
        let options = match name {
            "pandas_tab.csv" => ReadOptions {
                delimiter: Some("tab".parse().unwrap()),
                ..defaults.clone()
            },
            // A label with a comma, alone in its cell, could be two.
            "pandas_rows_per_label.csv" => ReadOptions {
                label_separator: Some(";".into()),
                ..defaults.clone()
            },
            _ => defaults.clone(),
        };
        assert_eq!(read(name, &options), expected(), "{name}");
    }
}

#[test]
fn folders_of_annif_have_the_same_texts_and_labels() {
    let read = read("annif", &ReadOptions::default());
    assert_eq!(read.len(), expected().len());
    for (document, expected) in read.iter().zip(expected()) {
        assert_eq!(document.text(), expected.text());
        assert_eq!(document.labels, expected.labels);
        assert_eq!(document.id, format!("{}.txt", expected.id));
    }
}

#[test]
fn several_files_of_several_programs_are_one_corpus() {
    let options = ReadOptions {
        more_paths: vec![golden("polars.arrow"), golden("pandas_semicolons.csv")],
        allow_duplicate_ids: true,
        ..ReadOptions::default()
    };
    let expected = expected();
    let all = [&expected[..], &expected, &expected].concat();
    assert_eq!(read("pandas.parquet", &options), all);
}

#[test]
fn filters_and_fields_hold_for_columns() {
    let options = ReadOptions {
        filters: vec!["id=d2".parse().unwrap()],
        text_fields: vec!["id".into(), "text".into()],
        ..ReadOptions::default()
    };
    let documents = read("pandas.parquet", &options);
    assert_eq!(documents.len(), 1);
    let text = expected()[1].text().unwrap().to_owned();
    assert_eq!(documents[0].text().unwrap(), format!("d2\n{text}"));
    let options = ReadOptions {
        text_fields: vec!["labels".into()],
        ..ReadOptions::default()
    };
    let error = CorpusReader::open(&golden("pandas.parquet"), &options)
        .unwrap()
        .next()
        .unwrap();
    let message = error.unwrap_err().to_string();
    assert!(
        message.contains("pandas.parquet:1: column `labels` is of type List"),
        "{message}"
    );
}

#[test]
fn a_truncated_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["pandas.parquet", "pandas.feather", "polars.arrow"] {
        let whole = std::fs::read(golden(name)).unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, &whole[..whole.len() * 2 / 3]).unwrap();
        let read = CorpusReader::open(&path, &ReadOptions::default())
            .and_then(std::iter::Iterator::collect::<Result<Vec<_>>>);
        let message = read.unwrap_err().to_string();
        assert!(message.contains("the file cannot be read: "), "{message}");
    }
}
