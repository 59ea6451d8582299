//! Compressed files, told by their first bytes.

use std::io::{self, BufRead, BufReader, Read};

use super::source::{BUFFER_BYTES, ByteReader};

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    Gzip,
    Xz,
    Zstd,
}

impl Compression {
    /// The compression that a file begins with.
    pub(super) fn of(magic: &[u8]) -> Option<Self> {
        match magic {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// What the compressed bytes stand for.
    pub(super) fn decode(self, raw: impl BufRead + Send + 'static) -> io::Result<ByteReader> {
        Ok(match self {
            Self::Gzip => buffered(flate2::bufread::MultiGzDecoder::new(raw)),
            Self::Xz => buffered(liblzma::bufread::XzDecoder::new_multi_decoder(raw)),
            Self::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(raw)?;
                // What `zstd --long=31` writes needs more than the default window.
                decoder.window_log_max(31)?;
                buffered(decoder)
            }
        })
    }
}

/// Reads ahead.
pub(super) fn buffered(decoder: impl Read + Send + 'static) -> ByteReader {
    Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder))
}
