//! `LibMultiLabel`'s columns: labels and text, or id, labels and text. Never guessed from content,
//! since nothing tells labels from text.

use super::super::lines::Lines;
use super::super::{Content, ReadOptions};
use super::label_text::{split_at, split_words};
use super::{RawDocument, Row, RowReader};
use crate::Result;

/// Reads [`Format::LibMultiLabelTsv`](super::Format::LibMultiLabelTsv).
pub(super) struct LibMultiLabelTsv {
    lines: Lines,
    separator: Option<String>,
    /// Columns of the first row, which all others must have.
    num_columns: Option<usize>,
}

impl LibMultiLabelTsv {
    pub(super) fn new(lines: Lines, options: &ReadOptions) -> Self {
        Self {
            lines,
            separator: options.label_separator.clone(),
            num_columns: None,
        }
    }
}

impl RowReader for LibMultiLabelTsv {
    fn next_row(&mut self) -> Result<Option<Row>> {
        let Some(line) = self.lines.next_line()? else {
            return Ok(None);
        };
        if line.trim_ascii().is_empty() {
            return Ok(Some(Row::Blank));
        }
        let cells: Vec<&str> = line.split('\t').collect();
        let expected = *self.num_columns.get_or_insert(cells.len());
        let (id, labels, text) = match cells.as_slice() {
            [labels, text] if expected == 2 => (None, labels, text),
            [id, labels, text] if expected == 3 => (Some(*id), labels, text),
            _ => {
                let num_columns = cells.len();
                return Err(self.lines.error(format!(
                    "{num_columns} columns; expected labels and text, or id, labels and text, \
                     the same on all lines"
                )));
            }
        };
        let labels = match &self.separator {
            Some(separator) => split_at(labels, separator),
            None => split_words(labels),
        };
        Ok(Some(Row::Document(RawDocument {
            id: id.map(|id| id.trim().to_owned()),
            content: Content::Text((*text).to_owned()),
            labels,
        })))
    }

    fn line(&self) -> u64 {
        self.lines.number()
    }
}
