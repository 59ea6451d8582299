//! Vectors in word2vec's binary format.

use std::io::{BufRead, Read};

use super::collector::Collector;
use super::layout::Layout;
use crate::corpus::{ByteReader, Origin};
use crate::{Error, Result};

/// No word is longer; without a space in as many bytes the file is damaged.
const MAX_WORD_BYTES: u64 = 65_536;

/// Reads all words of a file into `collector`.
pub(super) fn read(
    reader: ByteReader,
    origin: &Origin,
    layout: Layout,
    collector: &mut Collector<'_>,
) -> Result<()> {
    let mut entries = Entries {
        reader,
        origin,
        position: 0,
        word: Vec::new(),
        numbers: Vec::new(),
    };
    entries.skip_header()?;
    let num_words = layout.num_words.unwrap_or(0);
    for number in 1..=num_words {
        if !entries.read_word()? || !entries.read_numbers(layout.width)? {
            let position = entries.position;
            return Err(entries.error(
                position,
                &format!("the file ends in word {number} of {num_words}, so a part is missing"),
            ));
        }
        if let Some(values) = collector.place(&entries.word) {
            entries.copy_numbers(values)?;
        }
    }
    entries.expect_end(num_words)
}

/// Walks through the words of a file.
struct Entries<'a> {
    reader: ByteReader,
    origin: &'a Origin,
    /// Bytes read so far, after decompression.
    position: u64,
    word: Vec<u8>,
    numbers: Vec<u8>,
}

impl Entries<'_> {
    fn error(&self, position: u64, message: &str) -> Error {
        self.origin
            .error(None, format!("byte {position}: {message}"))
    }

    fn skip_header(&mut self) -> Result<()> {
        let num_bytes = self.reader.skip_until(b'\n');
        self.position += num_bytes.map_err(|error| self.origin.read_error(error, None))? as u64;
        Ok(())
    }

    /// Reads a word and the space behind it; false at the end of the file.
    fn read_word(&mut self) -> Result<bool> {
        let start = self.position;
        self.word.clear();
        let num_bytes = (&mut self.reader)
            .take(MAX_WORD_BYTES)
            .read_until(b' ', &mut self.word)
            .map_err(|error| self.origin.read_error(error, None))?;
        self.position += num_bytes as u64;
        if self.word.pop_if(|byte| *byte == b' ').is_none() {
            if num_bytes as u64 == MAX_WORD_BYTES {
                return Err(self.error(start, "expected a word and a space"));
            }
            return Ok(false);
        }
        // Some programs end each vector with a line feed, which then stands before the next word.
        let num_feeds = self.word.iter().take_while(|&&byte| byte == b'\n').count();
        self.word.drain(..num_feeds);
        Ok(true)
    }

    /// Reads a vector; false where the file ends in it.
    fn read_numbers(&mut self, width: usize) -> Result<bool> {
        let num_bytes = (width * size_of::<f32>()) as u64;
        self.numbers.clear();
        // Unlike `read_exact`, this tells the end of the data from compressed data cut short.
        let num_read = (&mut self.reader)
            .take(num_bytes)
            .read_to_end(&mut self.numbers)
            .map_err(|error| self.origin.read_error(error, None))? as u64;
        self.position += num_read;
        Ok(num_read == num_bytes)
    }

    /// Decodes the vector read last.
    fn copy_numbers(&self, values: &mut [f32]) -> Result<()> {
        let (numbers, _) = self.numbers.as_chunks::<4>();
        let mut position = self.position - self.numbers.len() as u64;
        for (value, bytes) in values.iter_mut().zip(numbers) {
            *value = f32::from_le_bytes(*bytes);
            if !value.is_finite() {
                return Err(self.error(position, &format!("{value} is no finite number")));
            }
            position += bytes.len() as u64;
        }
        Ok(())
    }

    /// Refuses more words than the first line promised.
    fn expect_end(&mut self, num_words: u64) -> Result<()> {
        let mut rest = Vec::new();
        (&mut self.reader)
            .take(2)
            .read_to_end(&mut rest)
            .map_err(|error| self.origin.read_error(error, None))?;
        if matches!(rest.as_slice(), [] | [b'\n']) {
            return Ok(());
        }
        Err(self.error(
            self.position,
            &format!("continues after the {num_words} words that its first line promises"),
        ))
    }
}
