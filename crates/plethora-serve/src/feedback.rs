//! What people think of predictions, kept for the next training.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use plethora_core::{Error, Result};
use serde::Serialize;

/// As much of a half line as is read to see whether it is a whole one that only lacks its end.
const MAX_TAIL: u64 = 64 << 20;

/// A file of JSON lines that only grows. Each line has `text` and `labels`, so that `train` reads it as
/// it is.
#[derive(Debug)]
pub(crate) struct FeedbackFile {
    path: PathBuf,
    max_bytes: u64,
    file: Mutex<Option<File>>,
}

/// What became of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    /// It is in the file.
    Whole,
    /// The file has no room for it.
    Full,
}

impl FeedbackFile {
    /// Opens the file, and makes it where there is none. What an earlier server left of a line is cut off:
    /// nobody was told that it is stored.
    pub(crate) fn open(path: &Path, max_bytes: u64) -> Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            max_bytes,
            file: Mutex::new(Some(open(path).map_err(Error::write(path))?)),
        })
    }

    /// The most bytes that the file may have.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Appends a line, whole or not at all. A file that was moved away is begun anew.
    pub(crate) fn append(&self, entry: &impl Serialize) -> Result<Stored> {
        let mut line = serde_json::to_vec(entry).map_err(|error| Error::data(error.to_string()))?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let stored = self.append_line(&mut file, &line);
        stored.map_err(Error::write(&self.path))
    }

    fn append_line(&self, place: &mut Option<File>, line: &[u8]) -> io::Result<Stored> {
        let file = match place {
            Some(file) if is_at(file, &self.path)? => file,
            _ => place.insert(open(&self.path)?),
        };
        let length = file.metadata()?.len();
        if length.saturating_add(line.len() as u64) > self.max_bytes {
            return Ok(Stored::Full);
        }
        let outcome = match file.write(line) {
            Ok(written) if written == line.len() => return Ok(Stored::Whole),
            Ok(_) => Err(io::ErrorKind::StorageFull.into()),
            Err(error) => Err(error),
        };
        // The next line must not begin in the middle of this one; opening cuts it off.
        *place = open(&self.path).ok();
        outcome
    }
}

/// True while the open file is the one at this path.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (open.dev(), open.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options.create(true).append(true).open(path)?;
    if file.metadata()?.is_file() {
        let mut whole = OpenOptions::new().read(true).append(true).open(path)?;
        repair(&mut whole, path)?;
    }
    Ok(file)
}

/// Ends the last line: with a line feed where it is whole, else where it began.
fn repair(file: &mut File, path: &Path) -> io::Result<()> {
    let length = file.metadata()?.len();
    let start = length.saturating_sub(MAX_TAIL);
    file.seek(SeekFrom::Start(length.saturating_sub(1)))?;
    let mut last = Vec::new();
    file.read_to_end(&mut last)?;
    if last.last().is_none_or(|&last| last == b'\n') {
        return Ok(());
    }
    file.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    file.take(MAX_TAIL).read_to_end(&mut tail)?;
    let line = memchr::memrchr(b'\n', &tail).map_or(0, |end| end + 1);
    if serde_json::from_slice::<serde::de::IgnoredAny>(&tail[line..]).is_ok() {
        return file.write_all(b"\n");
    }
    let num_bytes = tail.len() - line;
    tracing::warn!(path = %path.display(), num_bytes, "a half line of feedback was cut off");
    file.set_len(start + line as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &Path) -> Vec<String> {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "{text}");
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_half_line_is_cut_off_and_a_whole_one_is_ended() {
        let desk = tempfile::tempdir().unwrap();
        let path = desk.path().join("feedback.jsonl");
        for (found, expected) in [
            ("", vec!["3"]),
            ("1\n2\n", vec!["1", "2", "3"]),
            ("1\n2", vec!["1", "2", "3"]),
            ("1\n{\"text\": \"ti", vec!["1", "3"]),
            ("{\"text\"", vec!["3"]),
        ] {
            std::fs::write(&path, found).unwrap();
            let file = FeedbackFile::open(&path, 100).unwrap();
            assert_eq!(file.append(&3).unwrap(), Stored::Whole);
            assert_eq!(lines(&path), expected, "{found:?}");
        }
    }

    #[test]
    fn a_file_that_was_moved_away_is_begun_anew() {
        let desk = tempfile::tempdir().unwrap();
        let path = desk.path().join("feedback.jsonl");
        let old = desk.path().join("feedback.1.jsonl");
        let file = FeedbackFile::open(&path, 100).unwrap();
        file.append(&1).unwrap();
        std::fs::rename(&path, &old).unwrap();
        file.append(&2).unwrap();
        std::fs::remove_file(&path).unwrap();
        file.append(&3).unwrap();
        assert_eq!(
            (lines(&old), lines(&path)),
            (vec!["1".into()], vec!["3".into()])
        );
    }

    #[test]
    fn a_line_that_would_pass_the_bound_is_refused_and_a_shorter_one_is_not() {
        let desk = tempfile::tempdir().unwrap();
        let path = desk.path().join("feedback.jsonl");
        let file = FeedbackFile::open(&path, 8).unwrap();
        assert_eq!(file.append(&"abc").unwrap(), Stored::Whole);
        assert_eq!(file.append(&"abc").unwrap(), Stored::Full);
        assert_eq!(file.append(&1).unwrap(), Stored::Whole);
        assert_eq!(lines(&path), ["\"abc\"", "1"]);
    }

    #[test]
    fn a_full_disk_is_told() {
        let file = FeedbackFile::open(Path::new("/dev/full"), 100).unwrap();
        assert!(file.append(&1).is_err());
    }
}
