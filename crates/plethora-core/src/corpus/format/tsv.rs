//! Tab-separated values with a header, in which quotes have no meaning.

use super::super::ReadOptions;
use super::super::lines::Lines;
use super::table::Table;
use super::{Row, RowReader};
use crate::{Message, Result};

/// Reads [`Format::Tsv`](super::Format::Tsv).
pub(super) struct Tsv {
    lines: Lines,
    table: Table,
}

impl Tsv {
    pub(super) fn open(mut lines: Lines, options: &ReadOptions) -> Result<Self> {
        let header = lines.next_line()?.unwrap_or_default();
        let columns: Vec<&str> = header.split('\t').collect();
        match Table::new(&columns, options) {
            Ok(table) => Ok(Self { lines, table }),
            Err(message) => Err(lines.error(message)),
        }
    }
}

impl RowReader for Tsv {
    fn next_row(&mut self) -> Result<Option<Row>> {
        let Some(line) = self.lines.next_line()? else {
            return Ok(None);
        };
        if line.is_empty() {
            return Ok(Some(Row::Blank));
        }
        let cells: Vec<&str> = line.split('\t').collect();
        let num_columns = self.table.num_columns();
        let row = if cells.len() == num_columns {
            self.table.row(&cells)
        } else {
            let found = cells.len();
            Err(format!("{found} columns, but the header has {num_columns}").into())
        };
        row.map(Some).map_err(|message| self.lines.error(message))
    }

    fn line(&self) -> u64 {
        self.lines.number()
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
