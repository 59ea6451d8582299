//! Lines of an input, counted, checked to be UTF-8, without their ends.

use std::io::BufRead;

use super::bounds::{read_row, row_is_too_long};
use super::csv_records::no_utf8;
use super::format::Row;
use super::source::{Origin, Source};
use crate::{Error, Message, Result};

/// Hands out one line at a time from a buffer that is used again for the next.
pub(super) struct Lines {
    origin: Origin,
    reader: Box<dyn BufRead + Send>,
    buffer: Vec<u8>,
    number: u64,
}

impl Lines {
    /// The lines of an opened input.
    pub(super) fn new(source: Source) -> Self {
        let (reader, origin) = source.into_reader();
        Self {
            origin,
            reader,
            buffer: Vec::new(),
            number: 0,
        }
    }

    /// The next line, without `\n` or `\r\n`; `None` at the end of the file.
    pub(super) fn next_line(&mut self) -> Result<Option<&str>> {
        self.buffer.clear();
        let is_whole = read_row(&mut self.reader, &mut self.buffer)
            .map_err(|error| self.origin.read_error(error, self.number + 1))?;
        if self.buffer.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        if !is_whole {
            return Err(self.error(row_is_too_long()));
        }
        match std::str::from_utf8(without_end(&self.buffer)) {
            Ok(line) => Ok(Some(line)),
            Err(error) => {
                let column = error.valid_up_to() + 1;
                let message = no_utf8(&format!("byte {column} of the line"));
                Err(self.origin.error(self.number, message))
            }
        }
    }

    /// What `parse` makes of the next line; nothing of a line without anything in it. The error says what
    /// is wrong with the line.
    pub(super) fn next_row<M: Into<Message>>(
        &mut self,
        parse: impl FnOnce(&str) -> Result<Row, M>,
    ) -> Result<Option<Row>> {
        let row = match self.next_line()? {
            None => return Ok(None),
            Some(line) if line.trim_ascii().is_empty() => Ok(Row::Blank),
            Some(line) => parse(line),
        };
        row.map(Some).map_err(|message| self.error(message))
    }

    /// The line last handed out, which is UTF-8.
    pub(super) fn line(&self) -> &str {
        std::str::from_utf8(without_end(&self.buffer)).unwrap_or_default()
    }

    /// The number of the line last handed out, counted from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Where the lines come from.
    pub(super) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// An error in the line last handed out.
    pub(super) fn error(&self, message: impl Into<Message>) -> Error {
        self.origin.error(self.number, message)
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn lines(bytes: &[u8]) -> Lines {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("corpus.txt");
        std::fs::write(&path, bytes).unwrap();
        Lines::new(Source::open(&path).unwrap())
    }

    #[test]
    fn both_line_ends_and_none_at_the_end_are_fine() {
        let mut lines = lines(b"one\r\ntwo\n\nlast");
        let mut read = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            read.push(line.to_owned());
        }
        assert_eq!(read, ["one", "two", "", "last"]);
        assert_eq!(lines.number(), 4);
    }

    #[test]
    fn a_line_without_end_is_refused_before_it_fills_the_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("corpus.txt.zst");
        let file = std::fs::File::create(&path).unwrap();
        let mut encoder = zstd::Encoder::new(file, 1).unwrap();
        encoder.write_all(b"fine\n").unwrap();
        let endless = vec![b'a'; 1 << 20];
        for _ in 0..300 {
            encoder.write_all(&endless).unwrap();
        }
        encoder.finish().unwrap();
        let mut lines = Lines::new(Source::open(&path).unwrap());
        assert_eq!(lines.next_line().unwrap(), Some("fine"));
        let message = lines.next_line().unwrap_err().to_string();
        assert!(
            message.contains("corpus.txt.zst:2: the row is longer than 256 MiB"),
            "{message}"
        );
    }

    #[test]
    fn broken_utf8_names_line_and_byte() {
        let mut lines = lines(b"f\xc3\xbcr\nna\xefve\n");
        lines.next_line().unwrap();
        let message = lines.next_line().unwrap_err().to_string();
        assert!(
            message.contains("corpus.txt:2: byte 3 of the line is not valid UTF-8"),
            "{message}"
        );
    }
}
