//! Opens input files: plain or compressed, told apart by their first bytes and never by their name.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use super::bounds::Refused;
use super::publication::finish_interrupted;
use crate::{Error, Message, Result};

/// The path that stands for standard input, and for standard output when writing.
pub(super) const STANDARD_STREAM: &str = "-";

/// Large enough that system calls do not show in a profile.
const BUFFER_BYTES: usize = 256 * 1024;

/// Lines to sample before guessing a format; more come along when the first block has them.
const SAMPLE_LINES: usize = 16;

/// A sample with at least one whole line never grows beyond this.
const SAMPLE_BYTES: usize = 64 * 1024;

/// A single line longer than this is judged by its beginning.
const SAMPLE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The longest prefix that tells kinds of files apart.
const MAGIC_BYTES: usize = 6;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Bytes to read, from anywhere.
pub(crate) type ByteReader = Box<dyn BufRead + Send>;

/// An open, decompressed input with its first lines at hand.
pub(crate) struct Source {
    origin: Origin,
    sample: Vec<u8>,
    rest: ByteReader,
}

/// Where bytes come from, to name it in errors.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    path: PathBuf,
    is_compressed: bool,
}

impl Source {
    /// Opens a text file, or standard input for `-`, and reads enough of it to guess its format.
    pub(super) fn open(path: &Path) -> Result<Self> {
        Self::open_binary(path)?.refuse_binary()
    }

    /// Opens like [`open`](Self::open) a file that need not be text.
    pub(crate) fn open_binary(path: &Path) -> Result<Self> {
        let raw = open_raw(path)?;
        let shown = if is_standard_stream(path) {
            Path::new("<stdin>")
        } else {
            path
        };
        Self::from_reader(raw, shown)
    }

    fn from_reader(mut raw: ByteReader, path: &Path) -> Result<Self> {
        let mut magic = Vec::with_capacity(MAGIC_BYTES);
        (&mut raw)
            .take(MAGIC_BYTES as u64)
            .read_to_end(&mut magic)
            .map_err(Error::read(path))?;
        let refusal = foreign_kind(&magic);
        let compression = Compression::of(&magic);
        let origin = Origin {
            path: path.to_owned(),
            is_compressed: compression.is_some(),
        };
        if let Some(kind) = refusal {
            return Err(origin.error(
                None,
                format!("{kind}; expected text, plain or as gz, xz, zst"),
            ));
        }
        let whole = Box::new(Cursor::new(magic).chain(raw));
        let mut rest = match compression {
            None => whole,
            Some(compression) => compression.decode(whole).map_err(Error::read(path))?,
        };
        let mut sample = take_sample(&mut rest).map_err(|error| origin.read_error(error, None))?;
        if sample.starts_with(BYTE_ORDER_MARK) {
            sample.drain(..BYTE_ORDER_MARK.len());
        }
        if sample.is_empty() {
            return Err(origin.error(None, "the file is empty"));
        }
        Ok(Self {
            origin,
            sample,
            rest,
        })
    }

    fn refuse_binary(self) -> Result<Self> {
        if self.sample.contains(&0) {
            return Err(self.origin.error(
                None,
                "a binary file; expected text, plain or as gz, xz, zst",
            ));
        }
        Ok(self)
    }

    /// The first bytes of the content, at least one whole line where lines are not enormous.
    pub(crate) fn sample(&self) -> &[u8] {
        &self.sample
    }

    /// Where the bytes come from.
    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// All of the content, from its beginning, and where it comes from.
    pub(crate) fn into_reader(self) -> (ByteReader, Origin) {
        (
            Box::new(Cursor::new(self.sample).chain(self.rest)),
            self.origin,
        )
    }
}

impl Origin {
    /// Something that is not a file.
    pub(super) fn in_memory(name: &Path) -> Self {
        Self {
            path: name.to_owned(),
            is_compressed: false,
        }
    }

    /// The file's path, or `<stdin>`.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// An [`Error::Input`] in this file.
    pub(crate) fn error(&self, line: impl Into<Option<u64>>, message: impl Into<Message>) -> Error {
        Error::input(&self.path, line, message)
    }

    /// What a failed read means: damaged compressed data, or a failing system.
    pub(crate) fn read_error(&self, source: io::Error, line: impl Into<Option<u64>>) -> Error {
        if let Some(refused) = source
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<Refused>())
        {
            return self.error(line, refused.to_string());
        }
        // Decoders make their own errors; the system's come with a number.
        if !self.is_compressed || source.raw_os_error().is_some() {
            return Error::Read {
                path: self.path.clone(),
                source,
            };
        }
        if source.kind() == io::ErrorKind::UnexpectedEof {
            self.error(line, "the file ends in the middle of compressed data")
        } else {
            self.error(line, format!("the compressed data is damaged ({source})"))
        }
    }
}

/// True for `-`.
pub(super) fn is_standard_stream(path: &Path) -> bool {
    path.as_os_str() == STANDARD_STREAM
}

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compression {
    Gzip,
    Xz,
    Zstd,
}

impl Compression {
    fn of(magic: &[u8]) -> Option<Self> {
        match magic {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0] => Some(Self::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    fn decode(self, raw: impl BufRead + Send + 'static) -> io::Result<ByteReader> {
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

fn buffered(decoder: impl Read + Send + 'static) -> ByteReader {
    Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder))
}

fn open_raw(path: &Path) -> Result<ByteReader> {
    if is_standard_stream(path) {
        return Ok(Box::new(BufReader::with_capacity(
            BUFFER_BYTES,
            io::stdin(),
        )));
    }
    finish_interrupted(path)?;
    let metadata = fs::metadata(path).map_err(Error::read(path))?;
    if metadata.is_dir() {
        return Err(Error::input(path, None, "a directory; expected a file"));
    }
    let file = File::open(path).map_err(Error::read(path))?;
    Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, file)))
}

/// Kinds of files that users try, and that are no text.
fn foreign_kind(magic: &[u8]) -> Option<&'static str> {
    match magic {
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some("a bzip2 file"),
        [b'P', b'K', 3, 4, ..] => Some("a zip or npz file"),
        [0xba, 0x16, 0x4f, 0x2f, ..] => Some("a fastText .bin model"),
        [0x93, b'N', b'U', b'M', b'P', b'Y'] => Some("a NumPy file"),
        [b'P', b'A', b'R', b'1', ..] => Some("a Parquet file"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("text in UTF-16, not in UTF-8"),
        _ => None,
    }
}

fn take_sample(reader: &mut ByteReader) -> io::Result<Vec<u8>> {
    let mut sample = Vec::new();
    let mut num_lines = 0;
    loop {
        let block = match reader.fill_buf() {
            Ok(block) => block,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if block.is_empty() {
            return Ok(sample);
        }
        num_lines += block
            .iter()
            .map(|&byte| usize::from(byte == b'\n'))
            .sum::<usize>();
        sample.extend_from_slice(block);
        let num_bytes = block.len();
        reader.consume(num_bytes);
        let is_long = sample.len() >= SAMPLE_BYTES && num_lines > 0;
        if num_lines >= SAMPLE_LINES || is_long || sample.len() >= SAMPLE_BYTES_MAX {
            return Ok(sample);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const TEXT: &[u8] = b"one line\nand another\n";

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn xz(text: &[u8]) -> Vec<u8> {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn source(bytes: Vec<u8>) -> Result<Source> {
        Source::from_reader(Box::new(Cursor::new(bytes)), Path::new("corpus"))?.refuse_binary()
    }

    fn content(bytes: Vec<u8>) -> Result<Vec<u8>> {
        let (mut reader, origin) = source(bytes)?.into_reader();
        let mut all = Vec::new();
        reader
            .read_to_end(&mut all)
            .map_err(|error| origin.read_error(error, None))?;
        Ok(all)
    }

    fn noise(num_bytes: usize) -> Vec<u8> {
        (0..num_bytes as u64)
            .map(|index| b'a' + (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60) as u8)
            .collect()
    }

    #[test]
    fn compression_is_told_by_content() {
        let zstd = zstd::encode_all(TEXT, 1).unwrap();
        for bytes in [TEXT.to_vec(), gzip(TEXT), xz(TEXT), zstd] {
            assert_eq!(content(bytes).unwrap(), TEXT);
        }
    }

    #[test]
    fn files_of_several_compressed_parts_are_read_to_their_end() {
        let zstd = zstd::encode_all(TEXT, 1).unwrap();
        for part in [gzip(TEXT), xz(TEXT), zstd] {
            assert_eq!(
                content([part.clone(), part].concat()).unwrap(),
                [TEXT, TEXT].concat()
            );
        }
    }

    #[test]
    fn truncated_compressed_data_is_named() {
        let text = noise(500_000);
        for whole in [gzip(&text), xz(&text), zstd::encode_all(&*text, 1).unwrap()] {
            for kept in [whole.len() / 2, whole.len() - 3] {
                let message = content(whole[..kept].to_vec()).unwrap_err().to_string();
                assert_eq!(
                    message,
                    "corpus: the file ends in the middle of compressed data"
                );
            }
        }
    }

    #[test]
    fn damaged_compressed_data_is_named() {
        let mut bytes = gzip(&noise(500_000));
        let middle = bytes.len() / 2;
        bytes[middle..middle + 64].fill(0xff);
        let message = content(bytes).unwrap_err().to_string();
        assert!(
            message.starts_with("corpus: the compressed data is damaged"),
            "{message}"
        );
    }

    #[test]
    fn a_byte_order_mark_is_left_out() {
        assert_eq!(content([BYTE_ORDER_MARK, TEXT].concat()).unwrap(), TEXT);
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let cases: [(&[u8], &str); 7] = [
            (b"", "corpus: the file is empty"),
            (BYTE_ORDER_MARK, "corpus: the file is empty"),
            (
                b"ab\0cd\n",
                "corpus: a binary file; expected text, plain or as gz, xz, zst",
            ),
            (
                b"PK\x03\x04....",
                "corpus: a zip or npz file; expected text, plain or as gz, xz, zst",
            ),
            (
                b"BZh91AY",
                "corpus: a bzip2 file; expected text, plain or as gz, xz, zst",
            ),
            (
                b"PAR1....",
                "corpus: a Parquet file; expected text, plain or as gz, xz, zst",
            ),
            (
                b"\xff\xfea\0",
                "corpus: text in UTF-16, not in UTF-8; expected text, plain or as gz, xz, zst",
            ),
        ];
        for (bytes, expected) in cases {
            assert_eq!(source(bytes.to_vec()).err().unwrap().to_string(), expected);
        }
        assert_eq!(
            source(gzip(b"")).err().unwrap().to_string(),
            "corpus: the file is empty"
        );
    }

    #[test]
    fn directories_and_missing_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let message = Source::open(folder.path()).err().unwrap().to_string();
        assert!(
            message.ends_with(": a directory; expected a file"),
            "{message}"
        );
        let missing = folder.path().join("missing.jsonl");
        let error = Source::open(&missing).err().unwrap();
        assert!(
            matches!(&error, Error::Read { path, .. } if *path == missing),
            "{error}"
        );
    }
}
