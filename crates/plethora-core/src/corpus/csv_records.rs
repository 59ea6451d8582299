//! The records of a CSV file, quoted as in RFC 4180, with the lines that they begin on.
//!
//! Lines are counted here: a parser that ends records at `\r` and has not seen the `\n` yet is one line
//! behind, and one that skips blank lines is behind by those.

use std::path::Path;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::bounds::{MAX_ROW_BYTES, row_is_too_long};
use super::source::{ByteReader, Origin, Source};
use crate::{Argument, Message, Result};

/// Room for cells and columns to begin with.
const CELL_BYTES: usize = 4096;
const NUM_CELLS: usize = 16;

/// Hands out one record at a time; all have as many cells as the first.
pub(super) struct CsvRecords {
    bytes: ByteReader,
    origin: Origin,
    parser: Reader,
    /// The cells of the record, one after another.
    cells: Vec<u8>,
    /// Where each cell ends.
    ends: Vec<usize>,
    num_cells: usize,
    line: u64,
    num_columns: Option<usize>,
}

impl CsvRecords {
    /// The records of an opened file.
    pub(super) fn new(source: Source, delimiter: u8) -> Self {
        let (bytes, origin) = source.into_reader();
        Self {
            bytes,
            origin,
            parser: ReaderBuilder::new().delimiter(delimiter).build(),
            cells: vec![0; CELL_BYTES],
            ends: vec![0; NUM_CELLS],
            num_cells: 0,
            line: 1,
            num_columns: None,
        }
    }

    /// The records at the beginning of a file, up to one that is not whole.
    pub(super) fn of_sample(sample: &str, delimiter: u8, max_records: usize) -> Vec<Vec<String>> {
        let source = Source::in_memory(Path::new(""), sample.as_bytes());
        let mut records = Self::new(source, delimiter);
        let mut read = Vec::new();
        while let Ok(Some(record)) = records.next_record() {
            read.push(record.into_iter().map(str::to_owned).collect());
            if read.len() == max_records {
                break;
            }
        }
        read
    }

    /// Reads the next record; `None` at the end of the file.
    pub(super) fn next_record(&mut self) -> Result<Option<Vec<&str>>> {
        if !self.read()? {
            return Ok(None);
        }
        let num_columns = *self.num_columns.get_or_insert(self.num_cells);
        if self.num_cells != num_columns {
            return Err(self.error(format!(
                "{} columns, but the header has {num_columns}",
                self.num_cells
            )));
        }
        self.record().map(Some)
    }

    /// The line that the last record begins on, counted from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// An error in the last record.
    pub(super) fn error(&self, message: impl Into<Message>) -> crate::Error {
        self.origin.error(self.line, message)
    }

    #[expect(clippy::naive_bytecount, reason = "cells are short")]
    fn read(&mut self) -> Result<bool> {
        let (mut num_bytes, mut num_cells, mut num_read) = (0, 0, 0_u64);
        // Whether the last byte that was taken ended a line.
        let mut has_ended_line = false;
        loop {
            let line = self.parser.line();
            let input = match self.bytes.fill_buf() {
                Ok(input) => input,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.origin.read_error(error, line)),
            };
            let (result, num_taken, written, ended) = self.parser.read_record(
                input,
                &mut self.cells[num_bytes..],
                &mut self.ends[num_cells..],
            );
            has_ended_line = match input[..num_taken].last() {
                Some(&last) => last == b'\n',
                None => has_ended_line && !input.is_empty(),
            };
            self.bytes.consume(num_taken);
            num_read += num_taken as u64;
            num_bytes += written;
            num_cells += ended;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => self.cells.resize(self.cells.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::End => return Ok(false),
                ReadRecordResult::Record => {
                    self.num_cells = num_cells;
                    let cells = &self.cells[..num_bytes];
                    let inner_lines = cells.iter().filter(|&&byte| byte == b'\n').count() as u64;
                    self.line = self.parser.line() - u64::from(has_ended_line) - inner_lines;
                    return Ok(true);
                }
            }
            if num_read > MAX_ROW_BYTES {
                return Err(self.origin.error(line, row_is_too_long()));
            }
        }
    }

    fn record(&self) -> Result<Vec<&str>> {
        let mut start = 0;
        let mut record = Vec::with_capacity(self.num_cells);
        for &end in &self.ends[..self.num_cells] {
            match std::str::from_utf8(&self.cells[start..end]) {
                Ok(cell) => record.push(cell),
                Err(error) => {
                    let (column, byte) = (record.len() + 1, error.valid_up_to() + 1);
                    return Err(self.error(no_utf8(&format!("byte {byte} of column {column}"))));
                }
            }
            start = end;
        }
        Ok(record)
    }
}

/// What to say of a byte that is not UTF-8.
pub(super) fn no_utf8(place: &str) -> Message {
    Message::new(format!(
        "{place} is not valid UTF-8; if the file has another encoding, name it with "
    ))
    .hint(Argument::ENCODING)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(content: &[u8]) -> Vec<(u64, Vec<String>)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        std::fs::write(&path, content).unwrap();
        let mut records = CsvRecords::new(Source::open(&path).unwrap(), b',');
        let mut lines = Vec::new();
        while let Some(record) = records.next_record().unwrap() {
            let cells = record.iter().map(ToString::to_string).collect();
            lines.push((records.line(), cells));
        }
        lines
    }

    #[test]
    fn lines_are_right_for_all_line_ends_blank_lines_and_lines_in_cells() {
        for (end, has_last) in [("\n", true), ("\r\n", true), ("\r\n", false), ("\n", false)] {
            let mut content = format!("a,b{end}1,2{end}{end}\"x{end}y\",3{end}4,5");
            if has_last {
                content.push_str(end);
            }
            let lines = lines_of(content.as_bytes());
            let numbers: Vec<u64> = lines.iter().map(|(line, _)| *line).collect();
            assert_eq!(numbers, [1, 2, 4, 6], "{content:?}");
            assert_eq!(lines[2].1, [format!("x{end}y"), "3".to_owned()]);
        }
    }

    #[test]
    fn long_records_with_many_cells_are_whole() {
        let row: Vec<String> = (0..1000).map(|n| format!("{n:0100}")).collect();
        let content = format!("{0}\n{0}\n", row.join(","));
        assert_eq!(lines_of(content.as_bytes())[1], (2, row));
    }
}
