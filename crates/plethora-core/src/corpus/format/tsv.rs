//! Tab-separated values with a header, in which quotes have no meaning.

use super::super::lines::Lines;
use super::super::source::Source;
use super::super::{Label, ReadOptions};
use super::header;
use super::table::Table;
use super::{Row, RowReader};
use crate::{Argument, Message, Result};

/// Rows to look at before reading.
const MAX_EXAMPLES: usize = 64;

/// Reads [`Format::Tsv`](super::Format::Tsv).
pub(super) struct Tsv {
    lines: Lines,
    table: Table,
    warnings: Vec<Message>,
}

impl Tsv {
    pub(super) fn open(source: Source, options: &ReadOptions) -> Result<Self> {
        let sample = header::whole_lines(source.sample());
        let mut lines = Lines::new(source);
        let header = lines.next_line()?.unwrap_or_default().to_owned();
        let columns: Vec<&str> = header.split('\t').collect();
        let examples: Vec<Vec<String>> = (sample.lines().skip(1))
            .map(|line| line.split('\t').map(str::to_owned).collect())
            .filter(|cells: &Vec<String>| cells.len() == columns.len())
            .take(MAX_EXAMPLES)
            .collect();
        let mut warnings = Vec::new();
        if (columns.iter().copied())
            .chain(examples.iter().flatten().map(String::as_str))
            .any(is_quoted)
        {
            warnings.push(
                Message::new("cells keep the quotes around them; ")
                    .hint(Argument::DELIMITER.value("tab"))
                    .text(" reads cells in quotes"),
            );
        }
        let table = Table::open(&columns, &examples, options, |message| lines.error(message))?;
        Ok(Self {
            lines,
            table,
            warnings,
        })
    }
}

/// True for cells as programs quote them: around all of it, and with quotes inside doubled.
fn is_quoted(cell: &str) -> bool {
    let inner = cell
        .strip_prefix('"')
        .and_then(|cell| cell.strip_suffix('"'));
    inner.is_some_and(|inner| !inner.replace("\"\"", "").contains('"'))
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
            self.table.row(cells.as_slice())
        } else {
            let found = cells.len();
            let message = format!("{found} columns, but the header has {num_columns}; ");
            Err(Message::new(message)
                .hint(Argument::DELIMITER.value("tab"))
                .text(" reads cells in quotes, which may hold line ends"))
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
        let mut warnings = std::mem::take(&mut self.warnings);
        warnings.extend(self.table.take_warnings());
        warnings
    }

    fn vocabulary(&self) -> &[Label] {
        self.table.vocabulary()
    }

    fn layout(&self) -> Vec<(&'static str, String)> {
        self.table.layout()
    }
}
