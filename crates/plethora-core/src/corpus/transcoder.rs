//! Bytes of any encoding as UTF-8, while they are read.

use std::io::{self, Read};

use encoding_rs::{Decoder, DecoderResult};

use super::bounds::Refused;
use super::encoding::{Encoding, SequenceCounts, is_no_character};
use super::source::ByteReader;

/// Bytes that are decoded at once.
const BLOCK_BYTES: usize = 64 * 1024;

/// Reads UTF-8 from bytes in another encoding; what is no character of it is an error.
pub(super) struct Transcoder {
    input: ByteReader,
    encoding: Encoding,
    decoder: Decoder,
    /// What tells that the encoding was judged wrong; absent where the caller named it.
    doubts: Option<SequenceCounts>,
    /// What is decoded already, and how much of it was taken.
    decoded: String,
    taken: usize,
    is_finished: bool,
}

impl Transcoder {
    /// Reads `input` in an encoding that was told by its beginning (`is_likely`) or is known.
    pub(super) fn new(input: ByteReader, encoding: Encoding, is_likely: bool) -> Self {
        Self {
            input,
            encoding,
            decoder: encoding.0.new_decoder_with_bom_removal(),
            doubts: (is_likely && encoding == Encoding::WINDOWS_1252).then(SequenceCounts::default),
            decoded: String::with_capacity(BLOCK_BYTES),
            taken: 0,
            is_finished: false,
        }
    }
}

/// An error where bytes show that a file is not in the encoding that its beginning is in.
fn check(counts: &mut SequenceCounts, input: &[u8]) -> io::Result<()> {
    if input.is_ascii() && !input.iter().any(|&byte| is_no_character(byte)) {
        return Ok(());
    }
    counts.add(input);
    if !counts.is_legacy() || input.iter().any(|&byte| is_no_character(byte)) {
        return Err(Refused::error(
            "the file begins in windows-1252 and goes on in another encoding; convert it to UTF-8",
        ));
    }
    Ok(())
}

impl Transcoder {
    /// Decodes the next bytes; nothing is left to take at the end of the input.
    fn fill(&mut self) -> io::Result<()> {
        self.taken = 0;
        self.decoded.clear();
        while self.decoded.is_empty() && !self.is_finished {
            let input = self.input.fill_buf()?;
            let is_last = input.is_empty();
            let (result, num_read) = (self.decoder).decode_to_string_without_replacement(
                input,
                &mut self.decoded,
                is_last,
            );
            if let Some(counts) = &mut self.doubts {
                check(counts, &input[..num_read])?;
            }
            self.input.consume(num_read);
            match result {
                DecoderResult::Malformed(..) => {
                    return Err(Refused::error(format!("not valid {}", self.encoding)));
                }
                DecoderResult::InputEmpty => self.is_finished = is_last,
                DecoderResult::OutputFull => {}
            }
        }
        Ok(())
    }
}

impl Read for Transcoder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.decoded.len() {
            self.fill()?;
        }
        let mut rest = &self.decoded.as_bytes()[self.taken..];
        let num_bytes = rest.read(buffer)?;
        self.taken += num_bytes;
        Ok(num_bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn decoded(bytes: Vec<u8>, encoding: Encoding, is_likely: bool) -> Result<String, String> {
        // Small blocks, so that characters are cut.
        let input = io::BufReader::with_capacity(5, Cursor::new(bytes));
        let transcoder = Transcoder::new(Box::new(input), encoding, is_likely);
        let mut text = String::new();
        io::BufReader::with_capacity(16, transcoder)
            .read_to_string(&mut text)
            .map(|_| text)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn characters_that_blocks_cut_are_whole() {
        let text = "Küste \u{1f30a} und Meer\n".repeat(9);
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decoded(bytes, Encoding::UTF_16BE, true), Ok(text));
    }

    #[test]
    fn broken_bytes_and_a_change_of_encoding_are_errors() {
        let error = decoded(vec![b'a', 0, 0, 0xd8, b'b', 0], Encoding::UTF_16LE, true);
        assert_eq!(error, Err("not valid UTF-16LE".into()));
        let mixed = b"na\xefve k\xfcste \xc3\xbc \xc3\xa4 \xc3\xb6".to_vec();
        let error = decoded(mixed.clone(), Encoding::WINDOWS_1252, true).unwrap_err();
        assert!(error.contains("goes on in another encoding"), "{error}");
        // Who names an encoding gets it.
        assert!(decoded(mixed, Encoding::WINDOWS_1252, false).is_ok());
    }
}
