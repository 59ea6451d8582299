//! One document from several rows: tables with a row for each label of a document.

use super::super::source::Origin;
use super::super::{Content, Label};
use super::{RawDocument, Row, RowReader};
use crate::{Argument, Message, Result};

/// Rows in which the first pair of equal neighbours makes a table one of rows per label.
const NUM_TELLING_ROWS: u64 = 100;

/// Puts the labels of neighbouring rows with the same id together, or with the same text where rows have
/// no ids.
pub(super) struct Grouped {
    rows: Box<dyn RowReader>,
    origin: Origin,
    state: State,
    /// The document that the next row may belong to, and its line.
    pending: Option<(RawDocument, u64)>,
    /// What came after the last document and is no document itself.
    passed: Option<Result<Row>>,
    passed_line: u64,
    num_rows: u64,
    line: u64,
    warnings: Vec<Message>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// As the caller says, or as rows have shown.
    Grouping,
    /// No row has shown anything yet.
    Telling,
    /// Each row is a document.
    Apart,
}

impl Grouped {
    /// Groups the rows of a reader; only where rows show that they belong together if `is_told`.
    pub(super) fn new(rows: Box<dyn RowReader>, origin: Origin, is_told: bool) -> Self {
        Self {
            rows,
            origin,
            state: if is_told {
                State::Telling
            } else {
                State::Grouping
            },
            pending: None,
            passed: None,
            passed_line: 0,
            num_rows: 0,
            line: 0,
            warnings: Vec::new(),
        }
    }

    /// True if a row is about the pending document; an error text where it says something else of it.
    fn joins(&self, pending: &RawDocument, line: u64, next: &RawDocument) -> Result<bool, Message> {
        let is_same_text = pending.content == next.content;
        match (&pending.id, &next.id) {
            (Some(id), Some(next_id)) if id == next_id => match self.state {
                State::Apart => Ok(false),
                State::Telling => Ok(is_same_text && pending.labels != next.labels),
                State::Grouping if is_same_text || is_empty(next) => Ok(true),
                State::Grouping => {
                    Err(format!("another text than line {line} has for the id `{id}`").into())
                }
            },
            (None, None) => Ok(self.state == State::Grouping && is_same_text),
            _ => Ok(false),
        }
    }
}

fn is_empty(document: &RawDocument) -> bool {
    matches!(&document.content, Content::Text(text) if text.is_empty())
}

impl RowReader for Grouped {
    fn next_row(&mut self) -> Result<Option<Row>> {
        if let Some(row) = self.passed.take() {
            self.line = self.passed_line.max(self.line);
            return row.map(Some);
        }
        loop {
            if self.state == State::Apart && self.pending.is_none() {
                let row = self.rows.next_row();
                self.line = self.rows.line();
                return row;
            }
            let row = match (self.rows.next_row(), self.pending.take()) {
                // The document before a broken row is whole.
                (Err(error), Some((document, line))) => {
                    self.line = line;
                    self.passed = Some(Err(error));
                    return Ok(Some(Row::Document(document)));
                }
                (row, pending) => {
                    self.pending = pending;
                    row?
                }
            };
            self.num_rows += 1;
            let line = self.rows.line();
            let next = match row {
                Some(Row::Document(document)) => document,
                other => {
                    // Rows that filters leave out do not part others.
                    if self.state == State::Grouping && other.is_some() {
                        continue;
                    }
                    let Some((document, line)) = self.pending.take() else {
                        return Ok(other);
                    };
                    self.line = line;
                    self.passed = other.map(Ok);
                    return Ok(Some(Row::Document(document)));
                }
            };
            let Some((mut pending, first_line)) = self.pending.take() else {
                self.pending = Some((next, line));
                continue;
            };
            let joins = (self.joins(&pending, first_line, &next))
                .map_err(|message| self.origin.error(line, message))?;
            if joins && (self.state == State::Grouping || self.num_rows <= NUM_TELLING_ROWS) {
                if self.state == State::Telling {
                    self.state = State::Grouping;
                    self.warnings.push(
                        Message::new("rows with the same id and text are one document; ")
                            .hint(Argument::ALLOW_DUPLICATE_IDS.on())
                            .text(" keeps them apart"),
                    );
                }
                pending.labels.extend(next.labels);
                self.pending = Some((pending, first_line));
                continue;
            }
            if self.state == State::Telling && self.num_rows > NUM_TELLING_ROWS {
                self.state = State::Apart;
            }
            self.line = first_line;
            if self.state == State::Apart {
                self.passed_line = line;
                self.passed = Some(Ok(Row::Document(next)));
            } else {
                self.pending = Some((next, line));
            }
            return Ok(Some(Row::Document(pending)));
        }
    }

    fn line(&self) -> u64 {
        self.line
    }

    fn has_other_fields(&self) -> bool {
        self.rows.has_other_fields()
    }

    fn vocabulary(&self) -> &[Label] {
        self.rows.vocabulary()
    }

    fn explain_filter(&self) -> Option<String> {
        self.rows.explain_filter()
    }

    fn take_warnings(&mut self) -> Vec<Message> {
        let mut warnings = self.rows.take_warnings();
        warnings.append(&mut self.warnings);
        warnings
    }

    fn layout(&self) -> Vec<(&'static str, String)> {
        self.rows.layout()
    }
}
