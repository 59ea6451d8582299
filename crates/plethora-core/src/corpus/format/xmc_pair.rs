//! Two sparse matrices with headers `rows columns`: features in one file, labels in the other.

use super::super::lines::Lines;
use super::super::source::Source;
use super::super::{Content, ReadOptions};
use super::svm_line::{IndexRange, parse_features, parse_header};
use super::{RawDocument, Row, RowReader, missing_labels_file};
use crate::{Result, SparseVector};

/// Reads [`Format::XmcPair`](super::Format::XmcPair).
pub(super) struct XmcPair {
    features: Matrix,
    labels: Matrix,
}

impl XmcPair {
    pub(super) fn open(lines: Lines, options: &ReadOptions) -> Result<Self> {
        let Some(path) = &options.labels_path else {
            let needs = "a feature matrix needs the matrix of its labels beside it";
            return Err(missing_labels_file(lines.origin(), needs));
        };
        let features = Matrix::open(lines, "feature")?;
        let labels = Matrix::open(Lines::new(Source::open(path)?), "label")?;
        if features.num_rows != labels.num_rows {
            let (path, count) = (features.lines.origin().path().display(), features.num_rows);
            return Err(labels.lines.error(format!(
                "the header promises {} rows, but that of {path} promises {count}",
                labels.num_rows
            )));
        }
        Ok(Self { features, labels })
    }
}

impl RowReader for XmcPair {
    fn next_row(&mut self) -> Result<Option<Row>> {
        let features = self.features.next_row()?;
        let labels = self.labels.next_row()?;
        // Both give as many rows as their headers promise, which are the same.
        let (Some(features), Some(labels)) = (features, labels) else {
            return Ok(None);
        };
        let labels = labels
            .as_row()
            .iter()
            .filter(|&(_, relevance)| relevance != 0.0)
            .map(|(label, _)| label.to_string())
            .collect();
        Ok(Some(Row::Document(RawDocument {
            id: None,
            content: Content::Features(features),
            labels,
        })))
    }

    fn line(&self) -> u64 {
        self.features.lines.number()
    }

    fn num_features(&self) -> Option<usize> {
        self.features.range.num_columns.map(|count| count as usize)
    }
}

/// A sparse matrix in a file.
struct Matrix {
    lines: Lines,
    range: IndexRange,
    num_rows: u64,
    num_read: u64,
}

impl Matrix {
    fn open(mut lines: Lines, noun: &'static str) -> Result<Self> {
        let header = lines.next_line()?.and_then(parse_header::<2>);
        let Some([num_rows, num_columns]) = header else {
            return Err(lines.error("expected a header of two numbers: rows columns"));
        };
        let num_columns = u32::try_from(num_columns)
            .map_err(|_| lines.error(format!("{num_columns} columns are more than fit")))?;
        let range = IndexRange {
            noun,
            base: 0,
            num_columns: Some(num_columns),
        };
        Ok(Self {
            lines,
            range,
            num_rows,
            num_read: 0,
        })
    }

    fn next_row(&mut self) -> Result<Option<SparseVector>> {
        let Self {
            num_rows, num_read, ..
        } = *self;
        let Some(line) = self.lines.next_line()? else {
            if num_read == num_rows {
                return Ok(None);
            }
            return Err(self.lines.error(format!(
                "the file ends after {num_read} rows, but its header promises {num_rows}"
            )));
        };
        if num_read == num_rows {
            if line.trim_ascii().is_empty() {
                return Ok(None);
            }
            return Err(self.lines.error(format!(
                "more rows than the {num_rows} that the header promises"
            )));
        }
        let row = parse_features(line, self.range);
        self.num_read += 1;
        row.map(Some).map_err(|message| self.lines.error(message))
    }
}
