//! Values with a delimiter between them and a header, quoted as in RFC 4180.

use super::super::csv_records::CsvRecords;
use super::super::source::Source;
use super::super::{Delimiter, Label, ReadOptions};
use super::header;
use super::table::Table;
use super::{Row, RowReader};
use crate::{Message, Result};

/// Reads [`Format::Csv`](super::Format::Csv).
pub(super) struct Csv {
    records: CsvRecords,
    table: Table,
    delimiter: Delimiter,
}

impl Csv {
    pub(super) fn open(source: Source, options: &ReadOptions) -> Result<Self> {
        let sample = header::whole_lines(source.sample());
        let delimiter = header::delimiter(&sample, options);
        let examples = header::examples(&sample, delimiter);
        let mut records = CsvRecords::new(source, delimiter.byte());
        let columns: Vec<String> = (records.next_record()?.unwrap_or_default().into_iter())
            .map(str::to_owned)
            .collect();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let table = Table::open(&columns, &examples, options, |message| {
            records.error(message)
        })?;
        Ok(Self {
            records,
            table,
            delimiter,
        })
    }
}

impl RowReader for Csv {
    fn next_row(&mut self) -> Result<Option<Row>> {
        let Some(cells) = self.records.next_record()? else {
            return Ok(None);
        };
        let row = self.table.row(cells.as_slice());
        row.map(Some).map_err(|message| self.records.error(message))
    }

    fn line(&self) -> u64 {
        self.records.line()
    }

    fn has_other_fields(&self) -> bool {
        self.table.has_other_fields()
    }

    fn vocabulary(&self) -> &[Label] {
        self.table.vocabulary()
    }

    fn explain_filter(&self) -> Option<String> {
        self.table.explain_filter()
    }

    fn take_warnings(&mut self) -> Vec<Message> {
        self.table.take_warnings()
    }

    fn layout(&self) -> Vec<(&'static str, String)> {
        let mut layout = vec![("delimiter", self.delimiter.to_string())];
        layout.extend(self.table.layout());
        layout
    }
}
