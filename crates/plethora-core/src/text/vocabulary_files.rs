//! A vocabulary in the model folder, beside the settings that belong to it.

use std::io;
use std::path::Path;

use fs_err as fs;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::term_table::TermTable;
use super::vocabulary::Vocabulary;
use crate::artifact::read_regular;
use crate::{Error, Result};

/// The names of three files: settings as JSON, one term per line in the order of their numbers, and
/// for each term the number of training documents that have it, as little-endian `u32`.
#[derive(Debug, Clone, Copy)]
pub(super) struct VocabularyFiles {
    pub(super) settings: &'static str,
    pub(super) terms: &'static str,
    pub(super) frequencies: &'static str,
}

impl VocabularyFiles {
    /// Writes the files into the existing folder `dir` and returns their names.
    pub(super) fn save(
        &self,
        dir: &Path,
        vocabulary: &Vocabulary,
        settings: &impl Serialize,
    ) -> Result<Vec<String>> {
        let mut json = serde_json::to_vec_pretty(settings)
            .map_err(|error| Error::write(&dir.join(self.settings))(error.into()))?;
        json.push(b'\n');
        let mut terms = String::new();
        for term in vocabulary.terms() {
            terms.push_str(term);
            terms.push('\n');
        }
        let frequencies = vocabulary.document_frequencies();
        let frequencies: Vec<u8> = frequencies.iter().flat_map(|df| df.to_le_bytes()).collect();
        let files = [
            (self.terms, terms.as_bytes()),
            (self.frequencies, frequencies.as_slice()),
            (self.settings, json.as_slice()),
        ];
        for (name, content) in files {
            write(dir, name, content)?;
        }
        Ok(files.iter().map(|&(name, _)| name.to_owned()).collect())
    }

    /// Reads the settings; `validate` says whether their values can work.
    pub(super) fn load_settings<Settings: DeserializeOwned>(
        &self,
        dir: &Path,
        validate: impl FnOnce(&Settings) -> Result<()>,
    ) -> Result<Settings> {
        let path = dir.join(self.settings);
        let settings = serde_json::from_slice(&read(dir, self.settings)?)
            .map_err(|error| Error::model(&path, format!("is damaged: {error}")))?;
        validate(&settings).map_err(|error| Error::model(&path, error.to_string()))?;
        Ok(settings)
    }

    /// Reads the terms and their frequencies, of which the settings know the numbers.
    pub(super) fn load_vocabulary(
        &self,
        dir: &Path,
        num_terms: usize,
        num_documents: u64,
    ) -> Result<Vocabulary> {
        let terms = self.load_terms(dir, num_terms)?;
        let frequencies = self.load_frequencies(dir, num_terms, num_documents)?;
        Ok(Vocabulary::new(terms, frequencies, num_documents))
    }

    fn load_terms(&self, dir: &Path, num_terms: usize) -> Result<TermTable> {
        let damaged = |message: String| Error::model(&dir.join(self.terms), message);
        let text = String::from_utf8(read(dir, self.terms)?)
            .map_err(|_| damaged("is damaged: not UTF-8".into()))?;
        if !text.is_empty() && !text.ends_with('\n') {
            return Err(damaged("is damaged: its last line has no end".into()));
        }
        let num_lines = text.lines().count();
        if num_lines != num_terms {
            let settings = self.settings;
            return Err(damaged(format!(
                "has {num_lines} terms, {settings} says {num_terms}"
            )));
        }
        let mut previous = "";
        for (line, term) in (1..).zip(text.lines()) {
            if term <= previous {
                return Err(damaged(format!(
                    "line {line} is out of order, so the file is damaged"
                )));
            }
            previous = term;
        }
        Ok(TermTable::from_distinct(text.lines()))
    }

    fn load_frequencies(
        &self,
        dir: &Path,
        num_terms: usize,
        num_documents: u64,
    ) -> Result<Vec<u32>> {
        let bytes = read(dir, self.frequencies)?;
        let damaged = |message: String| Error::model(&dir.join(self.frequencies), message);
        let (entries, rest) = bytes.as_chunks::<4>();
        if entries.len() != num_terms || !rest.is_empty() {
            return Err(damaged(format!(
                "has {} bytes instead of 4 for each of {num_terms} terms",
                bytes.len()
            )));
        }
        let frequencies: Vec<u32> = entries
            .iter()
            .map(|&bytes| u32::from_le_bytes(bytes))
            .collect();
        let is_possible = |&df: &u32| df > 0 && u64::from(df) <= num_documents;
        if !frequencies.iter().all(is_possible) {
            return Err(damaged(format!(
                "is damaged: a term occurs in none or in more than all of {num_documents} documents"
            )));
        }
        Ok(frequencies)
    }
}

fn write(dir: &Path, name: &str, content: &[u8]) -> Result<()> {
    let path = dir.join(name);
    let partial = dir.join(format!("{name}.partial"));
    fs::write(&partial, content)
        .and_then(|()| fs::rename(&partial, &path))
        .map_err(Error::write(&path))
}

fn read(dir: &Path, name: &str) -> Result<Vec<u8>> {
    let path = dir.join(name);
    read_regular(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::model(&path, "is missing from the model"),
        _ => Error::read(&path)(error),
    })
}
