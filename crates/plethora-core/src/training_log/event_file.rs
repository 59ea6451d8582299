//! The event file: `TFRecord`s, each an event between checksums.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::crc32c::masked_crc32c;
use super::event::{decode_step, encode_values, encode_version};
use super::log::cut;
use crate::{Error, Result};

/// `TensorBoard` takes every file with this in its name for an event file.
const PREFIX: &str = "events.out.tfevents.";
/// In place of the host name that others put here, which is nobody's business.
const SUFFIX: &str = ".plethora";

/// Length and its checksum.
const HEADER_SIZE: usize = 12;
/// Checksum of the event.
const FOOTER_SIZE: usize = 4;

/// True for the name of an event file of ours.
pub(super) fn is_event_file(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

/// The name of an event file whose events have no times.
pub(super) fn kept_name() -> String {
    format!("{PREFIX}{:010}{SUFFIX}", 0)
}

/// An event file that grows.
#[derive(Debug)]
pub(super) struct EventFile {
    path: PathBuf,
    file: File,
}

impl EventFile {
    /// Starts a file, in place of those that earlier logs left in the folder.
    pub(super) fn create(folder: &Path) -> Result<Self> {
        for earlier in files_in(folder)? {
            fs::remove_file(&earlier).map_err(Error::write(&earlier))?;
        }
        let now = wall_time();
        let path = folder.join(format!("{PREFIX}{:010}{SUFFIX}", now as u64));
        let file = File::create(&path).map_err(Error::write(&path))?;
        let mut events = Self { path, file };
        events.append(&encode_version(now))?;
        Ok(events)
    }

    /// Resumes the newest file of the folder, without its events after `step`.
    pub(super) fn resume(folder: &Path, step: u64) -> Result<Self> {
        let Some(path) = files_in(folder)?.pop() else {
            return Self::create(folder);
        };
        let source = File::open(&path).map_err(Error::read(&path))?;
        let length = kept_length(source, step).map_err(Error::read(&path))?;
        let file = cut(&path, length)?;
        let mut events = Self { path, file };
        if length == 0 {
            events.append(&encode_version(wall_time()))?;
        }
        Ok(events)
    }

    /// Appends the values of a step.
    pub(super) fn add(&mut self, step: u64, values: &[(&str, f64)]) -> Result<()> {
        self.append(&encode_values(wall_time(), step, values))
    }

    /// The file's name.
    pub(super) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    fn append(&mut self, event: &[u8]) -> Result<()> {
        (self.file.write_all(&framed(event))).map_err(Error::write(&self.path))
    }
}

fn wall_time() -> f64 {
    // A clock before 1970 is wrong, but no reason to stop training.
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs_f64()
}

/// Our event files, oldest first.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let list = || -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(PREFIX) && name.ends_with(SUFFIX) {
                files.push(path);
            }
        }
        files.sort_unstable();
        Ok(files)
    };
    list().map_err(Error::read(folder))
}

/// An event as a `TFRecord`.
pub(super) fn framed(event: &[u8]) -> Vec<u8> {
    let length = (event.len() as u64).to_le_bytes();
    let mut record = Vec::with_capacity(HEADER_SIZE + event.len() + FOOTER_SIZE);
    record.extend(length);
    record.extend(masked_crc32c(&length).to_le_bytes());
    record.extend_from_slice(event);
    record.extend(masked_crc32c(event).to_le_bytes());
    record
}

/// The bytes before the first event after `step`, or before the first that is damaged or torn.
fn kept_length(file: File, step: u64) -> io::Result<u64> {
    let mut source = BufReader::new(file);
    let mut length = 0;
    while let Some(event) = next_event(&mut source)? {
        if decode_step(&event).is_none_or(|found| found > step) {
            break;
        }
        length += (HEADER_SIZE + event.len() + FOOTER_SIZE) as u64;
    }
    Ok(length)
}

/// The next event; none at the end and at the first damage.
fn next_event(source: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let Some(header) = read_exactly(source, HEADER_SIZE as u64)? else {
        return Ok(None);
    };
    let (length, sum) = header.split_at(HEADER_SIZE - FOOTER_SIZE);
    if masked_crc32c(length).to_le_bytes() != sum {
        return Ok(None);
    }
    let length = length
        .iter()
        .rev()
        .fold(0, |length, &byte| length << 8 | u64::from(byte));
    let Some(event) = read_exactly(source, length)? else {
        return Ok(None);
    };
    let sum = read_exactly(source, FOOTER_SIZE as u64)?;
    Ok(sum
        .is_some_and(|sum| masked_crc32c(&event).to_le_bytes() == sum[..])
        .then_some(event))
}

/// So many bytes, or none where there are fewer; memory grows with what is there, not with what is
/// asked for.
fn read_exactly(source: &mut impl Read, length: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    source.take(length).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 == length).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Record = (f64, u64, Vec<(String, f64)>);

    fn testdata(name: &str) -> PathBuf {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/event_file");
        folder.join(name)
    }

    #[test]
    fn bytes_are_those_of_tensorboard_itself() {
        let text = fs::read_to_string(testdata("golden.json")).unwrap();
        let records: Vec<Record> = serde_json::from_str(&text).unwrap();
        let mut bytes = framed(&encode_version(1_700_000_000.0));
        for (wall_time, step, values) in &records {
            let values: Vec<(&str, f64)> = values
                .iter()
                .map(|(tag, value)| (tag.as_str(), *value))
                .collect();
            bytes.extend(framed(&encode_values(*wall_time, *step, &values)));
        }
        assert_eq!(bytes, fs::read(testdata("golden.tfevents")).unwrap());
    }

    #[test]
    fn events_are_kept_up_to_a_step_or_to_the_first_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let golden = fs::read(testdata("golden.tfevents")).unwrap();
        let kept = |bytes: &[u8], step| {
            fs::write(&path, bytes).unwrap();
            kept_length(File::open(&path).unwrap(), step).unwrap()
        };
        let all = kept(&golden, u64::MAX);
        assert_eq!(all, golden.len() as u64);
        let up_to_127 = kept(&golden, 127);
        assert!(up_to_127 < kept(&golden, 128) && kept(&golden, 128) < all);
        for end in 0..golden.len() {
            let length = kept(&golden[..end], u64::MAX);
            assert!(length <= end as u64);
            assert_eq!(kept(&golden[..length as usize], u64::MAX), length);
        }
        let mut damaged = golden;
        damaged[up_to_127 as usize + 20] ^= 1;
        assert_eq!(kept(&damaged, u64::MAX), up_to_127);
        damaged[up_to_127 as usize..][..8].fill(0xff);
        assert_eq!(kept(&damaged, u64::MAX), up_to_127);
    }
}
