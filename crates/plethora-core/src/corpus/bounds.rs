//! How much of an input may be one thing: a few bytes of compressed data can become a line that no
//! memory holds.

use std::fmt;
use std::io::{self, BufRead, Read};

/// Longest row of a corpus: a library of books in one document, and far from all memory.
pub(crate) const MAX_ROW_BYTES: u64 = 256 << 20;

/// Why an input is refused while it is read, in the clothes of a failed read: that is what parsers of
/// others hand through.
#[derive(Debug)]
pub(crate) struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

impl Refused {
    /// A read that fails with a reason of ours.
    pub(super) fn error(message: impl Into<String>) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, Self(message.into()))
    }
}

/// What to say of a row that is too long.
pub(crate) fn row_is_too_long() -> String {
    format!(
        "the row is longer than {} MiB; expected one document per row",
        MAX_ROW_BYTES >> 20
    )
}

/// Reads a line with its end; false where it is too long.
pub(crate) fn read_row(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    let num_bytes = reader.take(MAX_ROW_BYTES + 1).read_until(b'\n', line)?;
    Ok(num_bytes as u64 <= MAX_ROW_BYTES)
}
