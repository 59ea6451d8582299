//! `LibMultiLabel`'s columns: labels and text, or id, labels and text. Never guessed from content,
//! since nothing tells labels from text.

use super::super::ReadOptions;
use super::super::lines::Lines;
use super::label_text::{split_at, split_words};
use super::{Row, RowReader};
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
        self.lines.next_row(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            let expected = *self.num_columns.get_or_insert(cells.len());
            let (id, labels, text) = match cells.as_slice() {
                [labels, text] if expected == 2 => (None, labels, text),
                [id, labels, text] if expected == 3 => (Some(id.trim()), labels, text),
                _ => {
                    let num_columns = cells.len();
                    return Err(format!(
                        "{num_columns} columns; expected labels and text, or id, labels and text, \
                         the same on all lines"
                    ));
                }
            };
            let labels = match &self.separator {
                Some(separator) => split_at(labels, separator),
                None => split_words(labels),
            };
            Ok(Row::text(id, *text, labels))
        })
    }

    fn line(&self) -> u64 {
        self.lines.number()
    }
}
