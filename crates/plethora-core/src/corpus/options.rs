//! What a caller may say about a corpus to read or to write.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Delimiter, Encoding, Feedback, Filter, Format, Sample};

/// The prefix that fastText gives to labels unless told otherwise.
const FASTTEXT_PREFIX: &str = "__label__";

/// How to read a corpus; the default reads what the content itself makes clear.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// More files, patterns or folders of the same corpus, read after the first.
    pub more_paths: Vec<PathBuf>,
    /// The format; told by content where not given.
    pub format: Option<Format>,
    /// What stands between the cells of [`Format::Csv`]; told by the header where not given.
    pub delimiter: Option<Delimiter>,
    /// How characters are written as bytes; told by content where not given.
    pub encoding: Option<Encoding>,
    /// Fields whose text is joined with newlines, in this order.
    pub text_fields: Vec<String>,
    /// Fields to take where `text_fields` is empty, as those a model was trained on. A row without
    /// any of them has the fields of its format ([`Format::text_fields`]).
    pub usual_text_fields: Vec<String>,
    /// Field of the labels.
    pub label_field: Option<String>,
    /// Columns of 0 and 1 that each stand for a label: names, `FIRST..LAST`, or `*` for all that are
    /// nothing else.
    pub label_columns: Vec<String>,
    /// One document per group of neighbouring rows with the same id, or the same text where there are no ids; told by
    /// content in tables where not given.
    pub group_rows: bool,
    /// Field of the document's id.
    pub id_field: Option<String>,
    /// Which rows to keep.
    pub filters: Vec<Filter>,
    /// The second file: label lines of [`Format::TextPair`], label matrix of [`Format::XmcPair`],
    /// and for label numbers of any format the file they count in.
    pub labels_path: Option<PathBuf>,
    /// What stands between the labels of one field or line.
    pub label_separator: Option<String>,
    /// What marks a label in fastText files.
    pub label_prefix: String,
    /// The number of the first feature in [`Format::Libsvm`]: 0 or 1.
    pub index_base: Option<u8>,
    /// Stop after so many documents.
    pub docs_limit: Option<u64>,
    /// Keep these documents alone, of those that are read.
    pub sample: Option<Sample>,
    /// Accept documents that share an id.
    pub allow_duplicate_ids: bool,
    /// Judgements that correct the labels of documents and add documents.
    pub feedback: Option<Arc<Feedback>>,
    /// Labels are of no interest: lines of no known format are texts, one per line, label numbers
    /// need no label file, and nothing is said about missing labels.
    pub texts_only: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            more_paths: Vec::new(),
            format: None,
            delimiter: None,
            encoding: None,
            text_fields: Vec::new(),
            usual_text_fields: Vec::new(),
            label_field: None,
            label_columns: Vec::new(),
            group_rows: false,
            id_field: None,
            filters: Vec::new(),
            labels_path: None,
            label_separator: None,
            label_prefix: FASTTEXT_PREFIX.into(),
            index_base: None,
            docs_limit: None,
            sample: None,
            allow_duplicate_ids: false,
            feedback: None,
            texts_only: false,
        }
    }
}

/// How to write a corpus.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// The second file, as [`ReadOptions::labels_path`].
    pub labels_path: Option<PathBuf>,
    /// What to put between the labels of one field or line; each format has its default.
    pub label_separator: Option<String>,
    /// What marks a label in fastText files.
    pub label_prefix: String,
    /// The number of the first feature in [`Format::Libsvm`]: 0 or 1.
    pub index_base: Option<u8>,
    /// Number of feature columns for headers; the largest one written where not given.
    pub num_features: Option<usize>,
    /// Keys of the labels in the order of their numbers, for formats with label numbers. Where
    /// empty, labels are numbered in the order they come; otherwise other labels are an error.
    pub label_keys: Vec<String>,
    /// Replace line ends and tabs in texts with blanks where the format cannot hold them.
    pub flatten_text: bool,
    /// Replace files that exist.
    pub replace: bool,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            labels_path: None,
            label_separator: None,
            label_prefix: FASTTEXT_PREFIX.into(),
            index_base: None,
            num_features: None,
            label_keys: Vec::new(),
            flatten_text: false,
            replace: false,
        }
    }
}
