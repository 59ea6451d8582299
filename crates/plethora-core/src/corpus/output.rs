//! Files written under a temporary name and renamed once they are complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, Stdout, Write};
use std::path::{Path, PathBuf};

use super::hidden_file::create_beside;
use super::publication::{CompleteFile, finish_interrupted};
use super::source::is_standard_stream;
use crate::{Error, Result};

/// What `gzip` and `xz` use when not told otherwise.
const GZIP_LEVEL: u32 = 6;
const XZ_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

/// A file in the making, compressed as its suffix says. Dropped before its end, it leaves nothing.
pub struct Output {
    path: PathBuf,
    encoder: Option<Encoder>,
    /// The name until the file is complete; `None` for streams and devices.
    temporary: Option<PathBuf>,
}

impl Output {
    /// Starts a file, or standard output for `-`. A file that exists is an error unless it may be
    /// replaced.
    pub fn create(path: &Path, replace: bool) -> Result<Self> {
        if is_standard_stream(path) {
            let encoder = Encoder::new(Sink::Stdout(io::stdout()), Path::new(""));
            let encoder = encoder.map_err(Error::write(path))?;
            return Ok(Self {
                path: "<stdout>".into(),
                encoder: Some(encoder),
                temporary: None,
            });
        }
        finish_interrupted(path)?;
        let metadata = fs::metadata(path).ok();
        // A device or pipe is written to; replacing it by a file would destroy it.
        let is_special = metadata
            .as_ref()
            .is_some_and(|found| !found.is_file() && !found.is_dir());
        if metadata.is_some() && !is_special && !replace {
            return Err(Error::Exists {
                path: path.to_owned(),
            });
        }
        let (temporary, file) = if is_special {
            (None, File::create(path).map_err(Error::write(path))?)
        } else {
            let (hidden, file) = create_beside(path, "part")?;
            (Some(hidden), file)
        };
        let mut output = Self {
            path: path.to_owned(),
            encoder: None,
            temporary,
        };
        output.encoder = Some(Encoder::new(Sink::File(file), path).map_err(Error::write(path))?);
        Ok(output)
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let encoder = self
            .encoder
            .as_mut()
            .expect("an output is open until it is finished");
        encoder
            .writer()
            .write_all(bytes)
            .map_err(Error::write(&self.path))
    }

    /// Completes the file on the disk and gives it its name.
    pub fn finish(self) -> Result<()> {
        CompleteFile::publish(vec![self.complete()?])
    }

    /// Completes the file on the disk, to be published with others.
    pub fn complete(mut self) -> Result<CompleteFile> {
        let encoder = self.encoder.take().expect("an output is finished once");
        let file = encoder.finish().map_err(Error::write(&self.path))?;
        let temporary = self.temporary.take();
        Ok(CompleteFile::new(&self.path, temporary, file))
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Output")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Nobody can be told, and the error that led here is the one to show.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Lines kept aside until the header before them is known.
pub(super) struct Spool {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Spool {
    /// Starts a hidden file beside `path`, where there is room for the output too.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let beside = if is_standard_stream(path) {
            std::env::temp_dir().join("plethora-corpus")
        } else {
            path.to_owned()
        };
        let (path, file) = create_beside(&beside, "body")?;
        Ok(Self {
            path,
            file: BufWriter::new(file),
        })
    }

    /// Appends bytes.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(Error::write(&self.path))
    }

    /// Appends all to an output.
    pub(super) fn copy_to(mut self, output: &mut Output) -> Result<()> {
        self.file.flush().map_err(Error::write(&self.path))?;
        let file = self.file.get_mut();
        file.rewind().map_err(Error::read(&self.path))?;
        let mut block = vec![0; 256 * 1024];
        loop {
            match file.read(&mut block).map_err(Error::read(&self.path))? {
                0 => return Ok(()),
                num_bytes => output.write(&block[..num_bytes])?,
            }
        }
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Where bytes end up.
enum Sink {
    File(File),
    Stdout(Stdout),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Stdout(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Stdout(stdout) => stdout.flush(),
        }
    }
}

/// Compresses on the way to the sink.
enum Encoder {
    Plain(BufWriter<Sink>),
    Gzip(flate2::write::GzEncoder<BufWriter<Sink>>),
    Xz(liblzma::write::XzEncoder<BufWriter<Sink>>),
    Zstd(zstd::Encoder<'static, BufWriter<Sink>>),
}

impl Encoder {
    fn new(sink: Sink, path: &Path) -> io::Result<Self> {
        let sink = BufWriter::with_capacity(256 * 1024, sink);
        Ok(match path.extension().and_then(|suffix| suffix.to_str()) {
            Some("gz") => Self::Gzip(flate2::write::GzEncoder::new(
                sink,
                flate2::Compression::new(GZIP_LEVEL),
            )),
            Some("xz") => Self::Xz(liblzma::write::XzEncoder::new(sink, XZ_LEVEL)),
            Some("zst") => Self::Zstd(zstd::Encoder::new(sink, ZSTD_LEVEL)?),
            _ => Self::Plain(sink),
        })
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(writer) => writer,
            Self::Gzip(writer) => writer,
            Self::Xz(writer) => writer,
            Self::Zstd(writer) => writer,
        }
    }

    /// The file, if it is one, with everything on the disk.
    fn finish(self) -> io::Result<Option<File>> {
        let sink = match self {
            Self::Plain(writer) => writer,
            Self::Gzip(writer) => writer.finish()?,
            Self::Xz(writer) => writer.finish()?,
            Self::Zstd(writer) => writer.finish()?,
        };
        match sink.into_inner().map_err(io::IntoInnerError::into_error)? {
            // A device or a pipe has nothing to put on a disk and says so.
            Sink::File(file) => {
                if file.metadata()?.is_file() {
                    file.sync_all()?;
                }
                Ok(Some(file))
            }
            Sink::Stdout(mut stdout) => stdout.flush().map(|()| None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_file_appears_only_when_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("corpus.txt");
        let mut output = Output::create(&path, false).unwrap();
        output.write(b"text").unwrap();
        assert!(!path.exists());
        output.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"text");
        assert_eq!(entries(folder.path()), 1);
    }

    #[test]
    fn a_dropped_file_leaves_nothing_and_keeps_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("corpus.txt");
        fs::write(&path, "old").unwrap();
        assert!(matches!(
            Output::create(&path, false),
            Err(Error::Exists { .. })
        ));
        let mut output = Output::create(&path, true).unwrap();
        output.write(b"new").unwrap();
        drop(output);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(entries(folder.path()), 1);
    }

    #[test]
    fn a_device_is_not_replaced() {
        let mut output = Output::create(Path::new("/dev/null"), false).unwrap();
        output.write(b"text").unwrap();
        output.finish().unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn a_missing_folder_is_an_error_that_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("missing").join("corpus.txt");
        let error = Output::create(&path, false).err().unwrap();
        assert!(
            error.to_string().contains("corpus.txt: cannot write"),
            "{error}"
        );
    }
}
