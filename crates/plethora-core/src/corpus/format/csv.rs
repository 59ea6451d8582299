//! Comma-separated values with a header, quoted as in RFC 4180.

use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord};

use super::super::ReadOptions;
use super::super::bounds::{RowBytes, RowLength};
use super::super::source::{Origin, Source};
use super::table::Table;
use super::{Row, RowReader};
use crate::{Error, Message, Result};

/// Reads [`Format::Csv`](super::Format::Csv).
pub(super) struct Csv {
    reader: Reader<RowBytes>,
    row: RowLength,
    origin: Origin,
    table: Table,
    record: StringRecord,
    line: u64,
}

impl Csv {
    pub(super) fn open(source: Source, options: &ReadOptions) -> Result<Self> {
        let (bytes, origin) = source.into_reader();
        let (bytes, row) = RowBytes::new(bytes);
        let mut reader = ReaderBuilder::new().has_headers(false).from_reader(bytes);
        let mut record = StringRecord::new();
        read(&mut reader, &mut record, &origin)?;
        let columns: Vec<&str> = record.iter().collect();
        let table = Table::new(&columns, options).map_err(|message| origin.error(1, message))?;
        Ok(Self {
            reader,
            row,
            origin,
            table,
            record,
            line: 1,
        })
    }
}

impl RowReader for Csv {
    fn next_row(&mut self) -> Result<Option<Row>> {
        self.row.start();
        if !read(&mut self.reader, &mut self.record, &self.origin)? {
            return Ok(None);
        }
        self.line = self
            .record
            .position()
            .map_or(self.line, csv::Position::line);
        let cells: Vec<&str> = self.record.iter().collect();
        let row = self.table.row(&cells);
        row.map(Some)
            .map_err(|message| self.origin.error(self.line, message))
    }

    fn line(&self) -> u64 {
        self.line
    }

    fn has_other_fields(&self) -> bool {
        self.table.has_other_fields()
    }

    fn explain_filter(&self) -> Option<String> {
        self.table.explain_filter()
    }

    fn take_warnings(&mut self) -> Vec<Message> {
        self.table.take_warnings()
    }
}

/// Reads a record, all with as many cells as the first; false at the end.
fn read(reader: &mut Reader<RowBytes>, record: &mut StringRecord, origin: &Origin) -> Result<bool> {
    reader
        .read_record(record)
        .map_err(|error| explain(error, origin))
}

/// What a failed read means.
pub(in crate::corpus) fn explain(error: csv::Error, origin: &Origin) -> Error {
    let line = error.position().map(csv::Position::line);
    match error.into_kind() {
        ErrorKind::Io(source) => origin.read_error(source, line),
        ErrorKind::Utf8 { err, .. } => {
            let (column, byte) = (err.field() + 1, err.valid_up_to() + 1);
            origin.error(
                line,
                format!(
                    "byte {byte} of column {column} is not valid UTF-8; convert the file to UTF-8"
                ),
            )
        }
        ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => origin.error(
            line,
            format!("{len} columns, but the header has {expected_len}"),
        ),
        other => origin.error(line, format!("not valid CSV: {other:?}")),
    }
}
