//! Opens input files: plain or compressed, told apart by their first bytes and never by their name.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use super::compression::{Compression, buffered};
use super::encoding::{self, Encoding, Judgement};
use super::foreign_file::foreign_kind;
use super::publication::finish_interrupted;
use super::transcoder::Transcoder;
use crate::{Argument, Error, Message, Result};

/// The path that stands for standard input, and for standard output when writing.
pub(super) const STANDARD_STREAM: &str = "-";

/// What messages call standard input.
pub(super) const STANDARD_INPUT: &str = "<stdin>";

/// Large enough that system calls do not show in a profile.
pub(super) const BUFFER_BYTES: usize = 256 * 1024;

/// Lines to sample before guessing a format; more come along when the first block has them.
const SAMPLE_LINES: usize = 16;

/// A sample with at least one whole line never grows beyond this.
const SAMPLE_BYTES: usize = 64 * 1024;

/// A single line longer than this is judged by its beginning.
const SAMPLE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The longest prefix that tells kinds of files apart: a zip file with the name of its first part.
const MAGIC_BYTES: usize = 96;

pub(crate) use super::origin::Origin;

/// Bytes to read, from anywhere.
pub(crate) type ByteReader = Box<dyn BufRead + Send>;

/// An open, decompressed input with its first lines at hand.
pub(crate) struct Source {
    origin: Origin,
    sample: Vec<u8>,
    rest: ByteReader,
    encoding: Encoding,
    /// True if the encoding is one that the content makes likely, and no more than that.
    is_likely: bool,
}

impl Source {
    /// Opens a text file, or standard input for `-`, and reads enough of it to guess its format. An
    /// encoding that is not clear is told to the log.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let source = Self::open_as(path, None)?.refuse_empty()?;
        if let Some(notice) = source.notice() {
            tracing::warn!("{}: {notice}", source.origin.path.display());
        }
        Ok(source)
    }

    /// Opens like [`open`](Self::open) a text file in a named encoding, or in the one that its content tells. It
    /// may be empty.
    pub(super) fn open_as(path: &Path, encoding: Option<Encoding>) -> Result<Self> {
        Self::from_raw(open_raw(path)?, path)?.decoded(encoding)
    }

    /// Opens like [`open`](Self::open) a file that need not be text.
    pub(crate) fn open_binary(path: &Path) -> Result<Self> {
        let mut source = Self::from_raw(open_raw(path)?, path)?.refuse_empty()?;
        if source.sample.starts_with(encoding::UTF_8_MARK) {
            source.sample.drain(..encoding::UTF_8_MARK.len());
        }
        source.refuse_empty()
    }

    /// Text that a program has already.
    pub(super) fn in_memory(name: &Path, text: &[u8]) -> Self {
        Self {
            origin: Origin::in_memory(name),
            sample: text.to_vec(),
            rest: Box::new(io::empty()),
            encoding: Encoding::UTF_8,
            is_likely: false,
        }
    }

    fn from_raw(mut raw: ByteReader, path: &Path) -> Result<Self> {
        let shown = shown_path(path);
        let mut magic = Vec::with_capacity(MAGIC_BYTES);
        (&mut raw)
            .take(MAGIC_BYTES as u64)
            .read_to_end(&mut magic)
            .map_err(Error::read(shown))?;
        let compression = Compression::of(&magic);
        let origin = Origin {
            path: shown.to_owned(),
            is_compressed: compression.is_some(),
        };
        if let Some(kind) = foreign_kind(&magic) {
            return Err(origin.error(None, kind));
        }
        let whole = Box::new(Cursor::new(magic).chain(raw));
        let mut rest = match compression {
            None => whole,
            Some(compression) => compression.decode(whole).map_err(Error::read(shown))?,
        };
        // What comes through a pipe is not waited for longer than needed.
        let min_bytes = if is_standard_stream(path) {
            0
        } else {
            SAMPLE_BYTES
        };
        let sample =
            take_sample(&mut rest, min_bytes).map_err(|error| origin.read_error(error, None))?;
        Ok(Self {
            origin,
            sample,
            rest,
            encoding: Encoding::UTF_8,
            is_likely: false,
        })
    }

    /// The same text as UTF-8 without a mark in front.
    fn decoded(mut self, named: Option<Encoding>) -> Result<Self> {
        let judged = &self.sample[..self.sample.len().min(SAMPLE_BYTES)];
        let (encoding, is_likely, num_mark_bytes) = match (named, encoding::judge(judged)) {
            (Some(encoding), Judgement::Clear(judged, num_bytes)) if judged == encoding => {
                (encoding, false, num_bytes)
            }
            (Some(encoding), _) => (encoding, false, 0),
            (None, Judgement::Clear(encoding, num_bytes)) => (encoding, false, num_bytes),
            (None, Judgement::Likely(encoding)) => (encoding, true, 0),
            (None, Judgement::Binary) => {
                return Err(self.origin.error(
                    None,
                    "a binary file; expected text, plain or as gz, xz, zst",
                ));
            }
        };
        self.encoding = encoding;
        self.is_likely = is_likely;
        self.sample.drain(..num_mark_bytes);
        if encoding != Encoding::UTF_8 {
            let bytes = Box::new(Cursor::new(self.sample).chain(self.rest));
            let transcoder = Transcoder::new(bytes, encoding, is_likely);
            self.rest = buffered(transcoder);
            self.sample = take_sample(&mut self.rest, 0)
                .map_err(|error| self.origin.read_error(error, None))?;
        }
        if self.sample.contains(&0) {
            return Err(self.origin.error(
                None,
                "a binary file; expected text, plain or as gz, xz, zst",
            ));
        }
        Ok(self)
    }

    /// An error where there is nothing to read.
    pub(super) fn refuse_empty(self) -> Result<Self> {
        if self.sample.is_empty() {
            return Err(self.origin.error(None, "the file is empty"));
        }
        Ok(self)
    }

    /// What to say of an encoding that is likely and no more.
    pub(super) fn notice(&self) -> Option<Message> {
        let name = self.encoding;
        self.is_likely.then(|| {
            Message::new(format!("not in UTF-8, so read as {name}; "))
                .hint(Argument::ENCODING)
                .text(" names another encoding")
        })
    }

    /// The encoding, as named or as told.
    pub(super) fn encoding(&self) -> Encoding {
        self.encoding
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

/// What messages call a path.
pub(super) fn shown_path(path: &Path) -> &Path {
    if is_standard_stream(path) {
        Path::new(STANDARD_INPUT)
    } else {
        path
    }
}

/// True for `-`.
pub(super) fn is_standard_stream(path: &Path) -> bool {
    path.as_os_str() == STANDARD_STREAM
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

/// Takes some lines, and so many bytes where there are more.
fn take_sample(reader: &mut ByteReader, min_bytes: usize) -> io::Result<Vec<u8>> {
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
        if sample.len() < min_bytes {
            continue;
        }
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
        Source::from_raw(Box::new(Cursor::new(bytes)), Path::new("corpus"))?
            .decoded(None)?
            .refuse_empty()
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
        assert_eq!(content([b"\xef\xbb\xbf", TEXT].concat()).unwrap(), TEXT);
    }

    #[test]
    fn other_encodings_come_out_as_utf_8_compressed_or_not() {
        let text = "Küste,Häfen\r\nLübeck,„Spaß“\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let marked = [b"\xff\xfe".as_slice(), &little].concat();
        let legacy = encoding_rs::WINDOWS_1252.encode(text).0.into_owned();
        for (bytes, has_notice) in [(little, true), (marked, false), (legacy, true)] {
            assert_eq!(content(gzip(&bytes)).unwrap(), text.as_bytes());
            assert_eq!(
                source(bytes.clone()).unwrap().notice().is_some(),
                has_notice
            );
            assert_eq!(content(bytes).unwrap(), text.as_bytes());
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let cases: [(&[u8], &str); 3] = [
            (b"", "corpus: the file is empty"),
            (b"\xef\xbb\xbf", "corpus: the file is empty"),
            (
                b"ab\0cd\n",
                "corpus: a binary file; expected text, plain or as gz, xz, zst",
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
