//! `metrics.jsonl`: a JSON object per record.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use super::log::{LogRecord, cut};
use crate::{Error, Result};

/// The file's name.
pub(super) const METRICS_FILE: &str = "metrics.jsonl";

/// A file of records that grows.
#[derive(Debug)]
pub(super) struct MetricsFile {
    path: PathBuf,
    file: File,
}

/// What resuming needs to know of a line.
#[derive(Deserialize)]
struct Line {
    step: u64,
}

impl MetricsFile {
    /// Starts an empty file.
    pub(super) fn create(folder: &Path) -> Result<Self> {
        let path = folder.join(METRICS_FILE);
        let file = File::create(&path).map_err(Error::write(&path))?;
        Ok(Self { path, file })
    }

    /// Resumes the file, without its records after `step`.
    pub(super) fn resume(folder: &Path, step: u64) -> Result<Self> {
        let path = folder.join(METRICS_FILE);
        let source = match File::open(&path) {
            Ok(source) => source,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Self::create(folder),
            Err(error) => return Err(Error::read(&path)(error)),
        };
        let length = kept_length(source, step).map_err(Error::read(&path))?;
        let file = cut(&path, length)?;
        Ok(Self { path, file })
    }

    /// Appends a record.
    pub(super) fn add(&mut self, record: &LogRecord<'_>) -> Result<()> {
        let mut line = serde_json::to_vec(record)
            .map_err(|error| Error::write(&self.path)(io::Error::from(error)))?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(Error::write(&self.path))
    }
}

/// The bytes before the first record after `step`, or before the first line that is torn or no
/// record.
fn kept_length(file: File, step: u64) -> io::Result<u64> {
    let mut source = BufReader::new(file);
    let mut length = 0;
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        source.read_until(b'\n', &mut bytes)?;
        let is_kept = bytes.ends_with(b"\n")
            && serde_json::from_slice::<Line>(&bytes).is_ok_and(|line| line.step <= step);
        if !is_kept {
            return Ok(length);
        }
        length += bytes.len() as u64;
    }
}

impl Serialize for LogRecord<'_> {
    /// Values follow the step in one flat object; what is no number becomes null.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3 + self.values.len()))?;
        map.serialize_entry("step", &self.step)?;
        map.serialize_entry("epoch", &self.epoch)?;
        map.serialize_entry("seconds", &self.seconds)?;
        for (name, value) in self.values {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
