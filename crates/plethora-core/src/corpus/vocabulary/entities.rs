//! Entities of XML, kept to what vocabularies use them for: names for the beginnings of IRIs. Ten of them
//! that each name the one before ten times would be ten billion letters.

use std::io::{self, Read};

use super::super::bounds::Refused;

const DECLARATION: &[u8] = b"<!ENTITY";

/// Longest declaration: an IRI with room to spare. A file can thus become a hundred times as long.
const MAX_BYTES: usize = 512;

/// Stand for one letter.
const LETTERS: [&str; 6] = ["#", "lt;", "gt;", "amp;", "quot;", "apos;"];

/// Bytes of XML in which no entity is long or names another.
pub(super) struct ShortEntities<R> {
    reader: R,
    /// The declaration that is being read, or as much as may become one.
    declaration: Vec<u8>,
}

impl<R> ShortEntities<R> {
    /// Reads from `reader`.
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            declaration: Vec::new(),
        }
    }

    fn follow(&mut self, byte: u8) -> io::Result<()> {
        let length = self.declaration.len();
        if length < DECLARATION.len() {
            if byte == DECLARATION[length] {
                self.declaration.push(byte);
            } else {
                self.declaration.clear();
                if byte == DECLARATION[0] {
                    self.declaration.push(byte);
                }
            }
            return Ok(());
        }
        self.declaration.push(byte);
        if length > MAX_BYTES {
            let message = format!("an entity of XML is longer than {MAX_BYTES} bytes");
            return Err(Refused::error(message));
        }
        let num_quotes = (self.declaration.iter()).filter(|&&byte| byte == b'"');
        if byte == b'>' && num_quotes.count() != 1 {
            let declaration = std::mem::take(&mut self.declaration);
            let text = String::from_utf8_lossy(&declaration);
            let mut named = text.split('&').skip(1);
            let is_letter = |name: &str| LETTERS.iter().any(|letter| name.starts_with(letter));
            if !named.all(is_letter) {
                let message =
                    "an entity of XML names another; expected IRIs that stand for themselves";
                return Err(Refused::error(message));
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for ShortEntities<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let num_bytes = self.reader.read(buffer)?;
        let mut rest = &buffer[..num_bytes];
        while !rest.is_empty() {
            if self.declaration.is_empty() {
                let start = rest.iter().position(|&byte| byte == DECLARATION[0]);
                rest = &rest[start.unwrap_or(rest.len())..];
            }
            if let Some((&byte, after)) = rest.split_first() {
                self.follow(byte)?;
                rest = after;
            }
        }
        Ok(num_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out a byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.0.len().min(1);
            self.0.read(&mut buffer[..length])
        }
    }

    fn read(text: &str) -> Result<String, String> {
        let mut found = String::new();
        let whole = ShortEntities::new(text.as_bytes()).read_to_string(&mut found);
        let mut slow = String::new();
        let slowly = ShortEntities::new(Slow(text.as_bytes())).read_to_string(&mut slow);
        assert_eq!(whole.is_ok(), slowly.is_ok());
        whole.map(|_| found).map_err(|error| error.to_string())
    }

    #[test]
    fn iris_are_read_and_what_grows_is_not() {
        let fine =
            "<!DOCTYPE r [<!ENTITY a \"http://a/?b&amp;c&#38;\">\n<<!ENTITY b \"\">]><r>&a;</r>";
        assert_eq!(read(fine).as_deref(), Ok(fine));
        for nested in [
            "<!ENTITY a \"x\"><!ENTITY b \"&a;&a;\">",
            "<<!ENTITY b \">&a;\">",
        ] {
            assert!(
                read(nested).unwrap_err().contains("names another"),
                "{nested}"
            );
        }
        let long = format!("<!ENTITY a \"{}\">", "x".repeat(MAX_BYTES));
        assert!(read(&long).unwrap_err().contains("longer than"));
    }
}
