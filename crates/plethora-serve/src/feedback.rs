//! What people think of predictions, kept for the next training.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use plethora_core::{Error, Result};
use serde::Serialize;

/// A file of JSON lines that only grows. Each line has `text` and `labels`, so that `train` reads it as
/// it is.
#[derive(Debug)]
pub(crate) struct FeedbackFile {
    path: PathBuf,
    file: Mutex<File>,
}

impl FeedbackFile {
    /// Opens the file, and makes it where there is none.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        Ok(Self {
            path: path.to_owned(),
            file: Mutex::new(file.map_err(Error::write(path))?),
        })
    }

    /// Appends a line, whole or not at all as far as other writers can see.
    pub(crate) fn append(&self, entry: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(entry).map_err(|error| Error::data(error.to_string()))?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&line).map_err(Error::write(&self.path))
    }
}
