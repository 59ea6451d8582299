//! Corpora of any format as lists and arrays.

use std::path::PathBuf;

use numpy::{PyArray1, ToPyArray};
use plethora_core::corpus::{Content, Filter, ReadOptions};
use plethora_core::{Error, Result, SparseMatrix, SparseVector};
use plethora_jobs::training::Corpus;
use plethora_jobs::{Session, tell_warnings};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::errors::exception;
use crate::watch::{parse, watch};

/// Documents between two checks for Ctrl-C.
const DOCUMENTS_PER_STEP: u64 = 256;

/// What to read, as Python writes it.
#[derive(Debug, Deserialize)]
pub(crate) struct DataRequest {
    path: PathBuf,
    #[serde(default)]
    more_paths: Vec<PathBuf>,
    #[serde(default)]
    delimiter: Option<String>,
    #[serde(default)]
    encoding: Option<String>,
    #[serde(default)]
    label_columns: Vec<String>,
    #[serde(default)]
    group_rows: bool,
    format: Option<String>,
    text_fields: Vec<String>,
    label_field: Option<String>,
    id_field: Option<String>,
    filters: Vec<(String, String)>,
    labels_file: Option<PathBuf>,
    label_separator: Option<String>,
    docs_limit: Option<u64>,
}

/// A sparse matrix: row starts, columns, values and the number of columns.
type Matrix<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f32>>,
    usize,
);

/// Ids, texts, features where there are no texts, and labels.
type Dataset<'py> = (
    Vec<String>,
    Vec<String>,
    Option<Matrix<'py>>,
    Vec<Vec<String>>,
    Vec<(String, String)>,
);

#[derive(Default)]
struct Columns {
    ids: Vec<String>,
    texts: Vec<String>,
    rows: Vec<SparseVector>,
    labels: Vec<Vec<String>>,
    names: Vec<(String, String)>,
    num_features: Option<usize>,
}

/// Reads a corpus: ids, texts, features where there are no texts, labels, and the names of labels
/// where the corpus brings any.
#[pyfunction]
#[pyo3(signature = (request, listener=None))]
pub(crate) fn read_dataset<'py>(
    py: Python<'py>,
    request: &str,
    listener: Option<Py<PyAny>>,
) -> PyResult<Dataset<'py>> {
    let corpus = parse::<DataRequest>(request)?.corpus()?;
    let read = watch(py, 1, listener, |session| Columns::read(&corpus, session))?;
    let features = (!read.rows.is_empty()).then(|| {
        let matrix = matrix(&read.rows, read.num_features);
        let starts: Vec<i64> = matrix
            .row_starts()
            .iter()
            .map(|&start| start as i64)
            .collect();
        let (columns, values): (Vec<u32>, Vec<f32>) = matrix
            .rows()
            .flat_map(|row| row.columns.iter().copied().zip(row.values.iter().copied()))
            .unzip();
        (
            starts.to_pyarray(py),
            columns.to_pyarray(py),
            values.to_pyarray(py),
            matrix.num_columns(),
        )
    });
    Ok((read.ids, read.texts, features, read.labels, read.names))
}

impl DataRequest {
    /// The corpus.
    pub(crate) fn corpus(self) -> PyResult<Corpus> {
        let format = self.format.as_deref().map(str::parse).transpose();
        let delimiter = self.delimiter.as_deref().map(str::parse).transpose();
        let encoding = self.encoding.as_deref().map(str::parse).transpose();
        let options = ReadOptions {
            more_paths: self.more_paths,
            delimiter: delimiter.map_err(|error: Error| exception(&error))?,
            encoding: encoding.map_err(|error: Error| exception(&error))?,
            label_columns: self.label_columns,
            group_rows: self.group_rows,
            format: format.map_err(|error: Error| exception(&error))?,
            text_fields: self.text_fields,
            label_field: self.label_field,
            id_field: self.id_field,
            filters: (self.filters.into_iter())
                .map(|(field, value)| Filter { field, value })
                .collect(),
            labels_path: self.labels_file,
            label_separator: self.label_separator,
            docs_limit: self.docs_limit,
            ..ReadOptions::default()
        };
        Ok(Corpus::of_file(self.path, options))
    }
}

impl Columns {
    fn read(corpus: &Corpus, session: &Session) -> Result<Self> {
        let mut reader = corpus.open()?;
        let mut read = Self::default();
        let progress = session.progress();
        progress.start("reading", corpus.options.docs_limit);
        while let Some(document) = reader.next().transpose()? {
            read.ids.push(document.id);
            read.labels.push(document.labels);
            match document.content {
                Content::Text(text) => read.texts.push(text),
                Content::Features(row) => read.rows.push(row),
            }
            if (read.ids.len() as u64).is_multiple_of(DOCUMENTS_PER_STEP) {
                progress.advance(DOCUMENTS_PER_STEP);
                session.check_interrupt()?;
            }
        }
        if !read.texts.is_empty() && !read.rows.is_empty() {
            return Err(Error::input(
                &corpus.path,
                None,
                "some documents have text and others only features",
            ));
        }
        tell_warnings(&reader, progress);
        progress.finish(&format!("{} documents", read.ids.len()));
        let names = reader.vocabulary().iter();
        read.names = names
            .map(|label| (label.key.clone(), label.name.clone()))
            .collect();
        read.num_features = reader.num_features();
        Ok(read)
    }
}

fn matrix(rows: &[SparseVector], num_features: Option<usize>) -> SparseMatrix {
    let occurring = rows.iter().filter_map(|row| row.columns.last()).max();
    let needed = occurring.map_or(0, |&column| column as usize + 1);
    let mut builder = SparseMatrix::builder(num_features.unwrap_or(needed).max(needed));
    for row in rows {
        builder.push(row.as_row());
    }
    builder.finish()
}
