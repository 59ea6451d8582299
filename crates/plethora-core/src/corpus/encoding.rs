//! How the characters of a file are written as bytes, and telling it by content.
//!
//! The rule, judged by the beginning of a file (64 KiB):
//!
//! 1. A byte order mark decides: UTF-8, UTF-16LE or UTF-16BE.
//! 2. Zero bytes that are all second bytes of pairs make it UTF-16LE, all first ones UTF-16BE, where at
//!    least every other pair has one; other zero bytes make it no text.
//! 3. Valid UTF-8 is UTF-8. What is wrong further down is an error there.
//! 4. Otherwise it is windows-1252, which contains Latin-1, if it is not JSON and that gives words: there is at most one valid
//!    UTF-8 sequence for ten bytes that are none, every byte is a character, and at most a third of the
//!    letters is beyond ASCII. So UTF-8 with a broken byte stays an error.

use std::fmt;
use std::str::FromStr;

use crate::{Argument, Error, Result};

pub(super) const UTF_8_MARK: &[u8] = b"\xef\xbb\xbf";
const UTF_16LE_MARK: &[u8] = b"\xff\xfe";
const UTF_16BE_MARK: &[u8] = b"\xfe\xff";

/// Bytes without a character in windows-1252.
const UNDEFINED: [u8; 5] = [0x81, 0x8d, 0x8f, 0x90, 0x9d];

/// An encoding by its name, as the Encoding Standard of the web has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoding(pub(super) &'static encoding_rs::Encoding);

impl Encoding {
    pub(super) const UTF_8: Self = Self(encoding_rs::UTF_8);
    pub(super) const UTF_16LE: Self = Self(encoding_rs::UTF_16LE);
    pub(super) const UTF_16BE: Self = Self(encoding_rs::UTF_16BE);
    pub(super) const WINDOWS_1252: Self = Self(encoding_rs::WINDOWS_1252);

    /// The name in messages.
    pub fn name(self) -> &'static str {
        self.0.name()
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Encoding {
    type Err = Error;

    /// Takes the names of the Encoding Standard, and Python's spelling of them.
    fn from_str(text: &str) -> Result<Self> {
        let plain = text.trim().to_ascii_lowercase().replace('_', "-");
        let label = match plain.as_str() {
            "utf16" | "utf-16" | "utf16le" | "utf-16-le" => "utf-16le",
            "utf16be" | "utf-16-be" => "utf-16be",
            "latin-1" => "latin1",
            "utf-8-sig" => "utf-8",
            "ansi" | "mbcs" => "windows-1252",
            other => other,
        };
        let known = encoding_rs::Encoding::for_label(label.as_bytes())
            .filter(|encoding| *encoding != encoding_rs::REPLACEMENT);
        known.map(Self).ok_or_else(|| {
            Error::config(
                Argument::ENCODING,
                format!(
                    "`{text}`: expected the name of an encoding, as utf-8, utf-16, windows-1252, \
                     latin1, windows-1250, shift_jis"
                ),
            )
        })
    }
}

/// What the beginning of a file says of its encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judgement {
    /// The encoding is clear; so many bytes in front are its mark.
    Clear(Encoding, usize),
    /// Not UTF-8, and so likely windows-1252 that it is read as such.
    Likely(Encoding),
    /// No text in any encoding that can be told.
    Binary,
}

/// Judges the beginning of a file, which may end within a character.
pub(super) fn judge(sample: &[u8]) -> Judgement {
    for (mark, encoding) in [
        (UTF_8_MARK, Encoding::UTF_8),
        (UTF_16LE_MARK, Encoding::UTF_16LE),
        (UTF_16BE_MARK, Encoding::UTF_16BE),
    ] {
        if sample.starts_with(mark) {
            return Judgement::Clear(encoding, mark.len());
        }
    }
    if sample.contains(&0) {
        return judge_zeros(sample);
    }
    let mut counts = SequenceCounts::default();
    counts.add(sample);
    // JSON is UTF-8 by its standard, so that a broken byte in it is a fault and no other encoding.
    let is_json = sample.trim_ascii_start().starts_with(b"{");
    if counts.num_broken > 0 && !is_json && counts.is_legacy() && is_windows_1252(sample) {
        return Judgement::Likely(Encoding::WINDOWS_1252);
    }
    Judgement::Clear(Encoding::UTF_8, 0)
}

fn judge_zeros(sample: &[u8]) -> Judgement {
    let zeros_at = |place: usize| {
        let bytes = sample.iter().skip(place).step_by(2);
        bytes.filter(|&&byte| byte == 0).count()
    };
    let num_pairs = sample.len() / 2;
    // Texts have no other control characters than the ends of lines and tabs.
    let has_controls = |of: fn([u8; 2]) -> u16| {
        let units = sample.as_chunks::<2>().0.iter().map(|&pair| of(pair));
        let mut controls = units.filter(|&unit| unit < u16::from(b' '));
        controls.any(|unit| !b"\t\n\r".contains(&(unit as u8)))
    };
    match (zeros_at(0), zeros_at(1)) {
        (0, zeros) if zeros * 2 >= num_pairs && !has_controls(u16::from_le_bytes) => {
            Judgement::Likely(Encoding::UTF_16LE)
        }
        (zeros, 0) if zeros * 2 >= num_pairs && !has_controls(u16::from_be_bytes) => {
            Judgement::Likely(Encoding::UTF_16BE)
        }
        _ => Judgement::Binary,
    }
}

/// How much of some bytes is UTF-8 beyond ASCII, and how much is none.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SequenceCounts {
    num_sequences: u64,
    num_broken: u64,
}

impl SequenceCounts {
    /// Counts in more bytes; what their end cuts off is left out.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        loop {
            match std::str::from_utf8(rest) {
                Ok(valid) => {
                    self.num_sequences += num_sequences(valid.as_bytes());
                    return;
                }
                Err(error) => {
                    self.num_sequences += num_sequences(&rest[..error.valid_up_to()]);
                    let Some(len) = error.error_len() else {
                        return;
                    };
                    self.num_broken += 1;
                    rest = &rest[error.valid_up_to() + len..];
                }
            }
        }
    }

    /// True where bytes are none of UTF-8 but for chance.
    pub(super) fn is_legacy(self) -> bool {
        self.num_sequences * 10 <= self.num_broken
    }
}

/// Characters beyond ASCII in valid UTF-8, but for those of a script (N'Ko) whose two bytes are `ß` before a
/// quotation mark in windows-1252.
fn num_sequences(valid: &[u8]) -> u64 {
    let is_start = |byte: u8| byte >= 0xc0 && byte != 0xdf;
    valid.iter().filter(|&&byte| is_start(byte)).count() as u64
}

fn is_windows_1252(sample: &[u8]) -> bool {
    let count = |is_wanted: fn(u8) -> bool| {
        let wanted = sample.iter().filter(|&&byte| is_wanted(byte));
        wanted.count()
    };
    let num_high = count(|byte| byte >= 0x80);
    let num_letters = num_high + count(|byte| byte.is_ascii_alphabetic());
    let is_text = !sample.iter().any(|&byte| is_no_character(byte));
    is_text && num_high * 3 <= num_letters
}

/// True for bytes that text in windows-1252 does not have.
pub(super) fn is_no_character(byte: u8) -> bool {
    UNDEFINED.contains(&byte) || (byte < 0x20 && !byte.is_ascii_whitespace() && byte != 0x0b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn legacy(text: &str) -> Vec<u8> {
        encoding_rs::WINDOWS_1252.encode(text).0.into_owned()
    }

    fn utf_16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn marks_and_zero_bytes_tell() {
        let text = "title,labels\nKüste,sea\n";
        let (little, big) = (
            utf_16(text, u16::to_le_bytes),
            utf_16(text, u16::to_be_bytes),
        );
        assert_eq!(judge(&little), Judgement::Likely(Encoding::UTF_16LE));
        assert_eq!(judge(&big), Judgement::Likely(Encoding::UTF_16BE));
        let marked = [UTF_16LE_MARK, &little].concat();
        assert_eq!(judge(&marked), Judgement::Clear(Encoding::UTF_16LE, 2));
        let marked = [UTF_8_MARK, text.as_bytes()].concat();
        assert_eq!(judge(&marked), Judgement::Clear(Encoding::UTF_8, 3));
        assert_eq!(judge(b"ab\0cd\n"), Judgement::Binary);
        assert_eq!(judge(b"\0\0\0\0"), Judgement::Binary);
    }

    #[test]
    fn words_with_accents_are_windows_1252() {
        for text in [
            "text,labels\nDer Hafen von Lübeck,Häfen\n",
            "L'été à la mer – c'est déjà fini",
            // ß and the closing quotation mark are two bytes that UTF-8 allows.
            "Müßiggang über Straßen: „Spaß“ für Ärzte, größer, höher, schöner, früher, später, blöd",
        ] {
            let judged = judge(&legacy(text));
            assert_eq!(judged, Judgement::Likely(Encoding::WINDOWS_1252), "{text}");
        }
    }

    #[test]
    fn utf_8_with_a_broken_byte_stays_utf_8() {
        let clear = Judgement::Clear(Encoding::UTF_8, 0);
        for bytes in [
            "Küste".as_bytes(),
            b"Harbours and the sea",
            // Cut within a character.
            b"K\xc3",
            b"K\xc3\xbcste and na\xefve\n",
            b"{\"text\": \"na\xefve\"}",
            // A control character, and a byte that no character has.
            b"broken \x01 na\xefve",
            b"broken \x81 bytes here",
        ] {
            assert_eq!(judge(bytes), clear, "{}", String::from_utf8_lossy(bytes));
        }
        let cyrillic = encoding_rs::WINDOWS_1251
            .encode("Море и корабли у берега")
            .0;
        assert_eq!(judge(&cyrillic), clear);
    }

    #[test]
    fn names_are_those_of_the_web_and_of_python() {
        for (name, expected) in [
            ("cp1252", "windows-1252"),
            ("latin-1", "windows-1252"),
            ("UTF_16", "UTF-16LE"),
            ("utf-8-sig", "UTF-8"),
            ("Shift_JIS", "Shift_JIS"),
        ] {
            assert_eq!(name.parse::<Encoding>().unwrap().name(), expected);
        }
        let message = "utf-9".parse::<Encoding>().unwrap_err().to_string();
        assert!(message.starts_with("encoding: `utf-9`: "), "{message}");
    }
}
