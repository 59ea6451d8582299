//! What stands between the cells of a table.

use std::fmt;
use std::str::FromStr;

use crate::{Argument, Error, Result};

/// What stands between the cells of [`Format::Csv`](super::Format::Csv).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delimiter(u8);

impl Delimiter {
    /// Those that are told by content, the one that other text has least first.
    pub(super) const TOLD: [Self; 4] = [Self::TAB, Self(b'|'), Self(b';'), Self::COMMA];

    /// As in RFC 4180.
    pub(super) const COMMA: Self = Self(b',');

    /// As spreadsheets write text.
    pub(super) const TAB: Self = Self(b'\t');

    /// The delimiter as in files.
    pub(super) const fn byte(self) -> u8 {
        self.0
    }

    /// The delimiter as in files.
    pub(super) const fn char(self) -> char {
        self.0 as char
    }
}

impl FromStr for Delimiter {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match (text, text.as_bytes()) {
            ("tab" | "\\t", _) => Ok(Self::TAB),
            ("comma", _) => Ok(Self::COMMA),
            ("semicolon", _) => Ok(Self(b';')),
            ("pipe", _) => Ok(Self(b'|')),
            (_, &[byte]) if !matches!(byte, b'"' | b'\r' | b'\n' | 128..) => Ok(Self(byte)),
            _ => Err(Error::config(
                Argument::DELIMITER,
                format!("`{text}`: expected one ASCII character, or tab"),
            )),
        }
    }
}

impl fmt::Display for Delimiter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b'\t' => formatter.write_str("tab"),
            byte => write!(formatter, "{}", byte as char),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_and_names_are_read() {
        for (text, byte) in [(";", b';'), ("tab", b'\t'), ("\t", b'\t'), ("^", b'^')] {
            assert_eq!(text.parse::<Delimiter>().unwrap().byte(), byte);
        }
        for text in ["", ";;", "\"", "ü", "\n"] {
            let message = text.parse::<Delimiter>().unwrap_err().to_string();
            assert!(message.starts_with("delimiter: "), "{message}");
        }
    }
}
