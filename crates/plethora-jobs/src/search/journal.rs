//! `trials.jsonl`: a line per finished trial.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use plethora_core::{Error, Result};

use super::record::TrialRecord;

/// The file, which one search alone writes to.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// Held locked while the search lasts; a killed process lets go of it.
    file: File,
    records: Vec<TrialRecord>,
}

impl Journal {
    /// Opens the file, without reading it yet.
    ///
    /// # Errors
    /// [`Error::Model`] if another search writes to it.
    pub fn open(path: &Path) -> Result<Self> {
        let opened = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path);
        let file = opened.map_err(Error::write(path))?;
        match file.try_lock() {
            Ok(()) => Ok(Self {
                path: path.to_owned(),
                file,
                records: Vec::new(),
            }),
            Err(TryLockError::WouldBlock) => {
                Err(Error::model(path, "another search is writing to this file"))
            }
            Err(TryLockError::Error(source)) => Err(Error::write(path)(source)),
        }
    }

    /// Forgets all trials.
    pub fn clear(&mut self) -> Result<()> {
        self.records.clear();
        self.file.set_len(0).map_err(Error::write(&self.path))
    }

    /// Reads the trials that are there; a line that a killed search began is dropped.
    pub fn read(&mut self) -> Result<()> {
        let mut text = Vec::new();
        let read = self.file.rewind();
        read.and_then(|()| self.file.read_to_end(&mut text))
            .map_err(Error::read(&self.path))?;
        let end = text
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |place| place + 1);
        if end < text.len() {
            self.file
                .set_len(end as u64)
                .map_err(Error::write(&self.path))?;
        }
        let lines = text[..end].split(|&byte| byte == b'\n');
        for (index, line) in lines.enumerate().filter(|(_, line)| !line.is_empty()) {
            let record = serde_json::from_slice(line).map_err(|error| {
                let line = index as u64 + 1;
                Error::input(
                    &self.path,
                    line,
                    format!("expected a trial of a search: {error}"),
                )
            })?;
            self.records.push(record);
        }
        Ok(())
    }

    /// Adds a trial, in one piece and on the disk.
    pub fn append(&mut self, record: TrialRecord) -> Result<()> {
        let mut line =
            serde_json::to_vec(&record).map_err(|error| Error::write(&self.path)(error.into()))?;
        line.push(b'\n');
        let written = self.file.write_all(&line);
        written
            .and_then(|()| self.file.sync_data())
            .map_err(Error::write(&self.path))?;
        self.records.push(record);
        Ok(())
    }

    /// All trials, in the order in which they ended.
    pub fn records(&self) -> &[TrialRecord] {
        &self.records
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::Status;
    use super::*;

    fn record(trial: usize) -> TrialRecord {
        TrialRecord {
            trial,
            rung: 0,
            share: 1.0,
            settings: [("num_trees".to_owned(), 3.into())].into(),
            status: Status::Ok,
            message: None,
            metrics: [("P@1".to_owned(), 0.25)].into(),
            seconds: 1.5,
            same_as: None,
        }
    }

    #[test]
    fn trials_come_back_and_torn_lines_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.jsonl");
        let mut journal = Journal::open(&path).unwrap();
        journal.append(record(1)).unwrap();
        journal.append(record(2)).unwrap();
        let busy = Journal::open(&path).unwrap_err();
        assert!(busy.to_string().contains("another search"), "{busy}");
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 5]).unwrap();
        let mut journal = Journal::open(&path).unwrap();
        journal.read().unwrap();
        assert_eq!(journal.records(), [record(1)]);
        journal.append(record(2)).unwrap();
        drop(journal);
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        let mut journal = Journal::open(&path).unwrap();
        journal.clear().unwrap();
        journal.append(record(3)).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1);
    }

    #[test]
    fn other_lines_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.jsonl");
        let line = serde_json::to_string(&record(1)).unwrap();
        std::fs::write(&path, format!("{line}\nhello\n")).unwrap();
        let message = Journal::open(&path)
            .unwrap()
            .read()
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("trials.jsonl:2: expected a trial"),
            "{message}"
        );
    }
}
