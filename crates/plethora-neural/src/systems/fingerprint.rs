//! Which data, settings and seed a run has, so that only an equal one resumes it.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use plethora_core::corpus::Label;
use plethora_core::{Error, Result, SparseRow, SparseVector};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::validation_documents::ValidationDocuments;

/// A hash of all that decides what training gives. The device is left out, and so are choices that
/// follow from it where the settings are those that were asked for: a run may move.
pub(crate) struct Fingerprint(Sha256);

impl Fingerprint {
    /// Begins with the settings and the labels.
    pub(crate) fn new(config: &impl Serialize, labels: &[Label]) -> Result<Self> {
        let mut hasher = Sha256::new();
        let settings = serde_json::to_vec(&(env!("CARGO_PKG_VERSION"), config, labels))
            .map_err(|error| Error::data(error.to_string()))?;
        hasher.update(settings);
        Ok(Self(hasher))
    }

    /// Adds rows of numbers: words, pieces or labels of documents.
    pub(crate) fn add_rows<'a>(&mut self, rows: impl Iterator<Item = &'a [u32]>) {
        let mut bytes = Vec::new();
        for row in rows {
            self.0.update((row.len() as u64).to_le_bytes());
            bytes.clear();
            bytes.extend(row.iter().flat_map(|number| number.to_le_bytes()));
            self.0.update(&bytes);
        }
    }

    /// Adds rows of features.
    pub(crate) fn add_features<'a>(&mut self, rows: impl Iterator<Item = SparseRow<'a>>) {
        for row in rows {
            self.0.update((row.len() as u64).to_le_bytes());
            for (column, value) in row.iter() {
                self.0.update((column as u64).to_le_bytes());
                self.0.update(value.to_le_bytes());
            }
        }
    }

    /// Adds numbers of half precision, as bits.
    pub(crate) fn add_halves(&mut self, bits: &[u16]) {
        self.0.update((bits.len() as u64).to_le_bytes());
        for bits in bits.chunks(1 << 16) {
            let bytes: Vec<u8> = bits
                .iter()
                .flat_map(|number| number.to_le_bytes())
                .collect();
            self.0.update(bytes);
        }
    }

    /// Adds documents that weights are chosen by.
    pub(crate) fn add_validation(&mut self, valid: &ValidationDocuments) {
        self.add_rows(valid.sequences.rows());
        self.add_rows(valid.labels.rows());
        self.add_features(valid.features.iter().map(SparseVector::as_row));
    }

    /// Adds what files hold: vectors or weights under the same name may be others.
    pub(crate) fn add_files(&mut self, paths: &[PathBuf]) -> Result<()> {
        for path in paths {
            self.add_file(path).map_err(Error::read(path))?;
        }
        Ok(())
    }

    fn add_file(&mut self, path: &Path) -> io::Result<()> {
        let mut file = File::open(path)?;
        let mut buffer = vec![0; 1 << 20];
        loop {
            let count = file.read(&mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            self.0.update(&buffer[..count]);
        }
    }

    /// The hash in hexadecimal digits.
    pub(crate) fn finish(self) -> String {
        let mut text = String::new();
        for byte in self.0.finalize() {
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}
