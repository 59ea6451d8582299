//! A fitted [`TfIdf`] in the model folder.
//!
//! `text.json` holds the settings and counts, `vocabulary.txt` one term a line in the order of the
//! columns, and `document_frequencies.bin` for each term the number of training documents that
//! have it, as little-endian `u32`; the weights of terms follow from these.

use std::io;
use std::path::Path;

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::term_table::TermTable;
use super::tfidf::TfIdf;
use super::tfidf_config::TfIdfConfig;
use super::vocabulary::Vocabulary;
use crate::{Error, Result};

const SETTINGS_FILE: &str = "text.json";
const VOCABULARY_FILE: &str = "vocabulary.txt";
const FREQUENCIES_FILE: &str = "document_frequencies.bin";

/// The content of `text.json`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    num_documents: u64,
    num_terms: usize,
    tfidf: TfIdfConfig,
}

impl TfIdf {
    /// Writes the files of a model folder into the existing folder `dir` and returns their names.
    pub fn save_to(&self, dir: &Path) -> Result<Vec<String>> {
        let vocabulary = self.vocabulary();
        let settings = Settings {
            num_documents: vocabulary.num_documents(),
            num_terms: vocabulary.len(),
            tfidf: self.config().clone(),
        };
        let mut json = serde_json::to_vec_pretty(&settings)
            .map_err(|error| Error::write(&dir.join(SETTINGS_FILE))(error.into()))?;
        json.push(b'\n');
        let mut terms = String::new();
        for term in vocabulary.terms() {
            terms.push_str(term);
            terms.push('\n');
        }
        let frequencies = vocabulary.document_frequencies();
        let frequencies: Vec<u8> = frequencies.iter().flat_map(|df| df.to_le_bytes()).collect();
        let files = [
            (VOCABULARY_FILE, terms.as_bytes()),
            (FREQUENCIES_FILE, frequencies.as_slice()),
            (SETTINGS_FILE, json.as_slice()),
        ];
        for (name, content) in files {
            write(dir, name, content)?;
        }
        Ok(files.iter().map(|&(name, _)| name.to_owned()).collect())
    }

    /// Reads what [`save_to`](Self::save_to) wrote.
    ///
    /// # Errors
    /// [`Error::Model`] where a file is missing, damaged or does not fit the others.
    pub fn load_from(dir: &Path) -> Result<Self> {
        let settings = read_settings(dir)?;
        let terms = read_terms(dir, settings.num_terms)?;
        let frequencies = read_frequencies(dir, &settings)?;
        let vocabulary = Vocabulary::new(terms, frequencies, settings.num_documents);
        Ok(Self::new(settings.tfidf, vocabulary))
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
    fs::read(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::model(&path, "is missing from the model"),
        _ => Error::read(&path)(error),
    })
}

fn read_settings(dir: &Path) -> Result<Settings> {
    let path = dir.join(SETTINGS_FILE);
    let settings: Settings = serde_json::from_slice(&read(dir, SETTINGS_FILE)?)
        .map_err(|error| Error::model(&path, format!("is damaged: {error}")))?;
    settings
        .tfidf
        .validate()
        .map_err(|error| Error::model(&path, error.to_string()))?;
    Ok(settings)
}

fn read_terms(dir: &Path, num_terms: usize) -> Result<TermTable> {
    let damaged = |message: String| Error::model(&dir.join(VOCABULARY_FILE), message);
    let text = String::from_utf8(read(dir, VOCABULARY_FILE)?)
        .map_err(|_| damaged("is damaged: not UTF-8".into()))?;
    if !text.is_empty() && !text.ends_with('\n') {
        return Err(damaged("is damaged: its last line has no end".into()));
    }
    let num_lines = text.lines().count();
    if num_lines != num_terms {
        return Err(damaged(format!(
            "has {num_lines} terms, {SETTINGS_FILE} says {num_terms}"
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

fn read_frequencies(dir: &Path, settings: &Settings) -> Result<Vec<u32>> {
    let bytes = read(dir, FREQUENCIES_FILE)?;
    let damaged = |message: String| Error::model(&dir.join(FREQUENCIES_FILE), message);
    let (entries, rest) = bytes.as_chunks::<4>();
    if entries.len() != settings.num_terms || !rest.is_empty() {
        return Err(damaged(format!(
            "has {} bytes instead of 4 for each of {} terms",
            bytes.len(),
            settings.num_terms
        )));
    }
    let frequencies: Vec<u32> = entries
        .iter()
        .map(|&bytes| u32::from_le_bytes(bytes))
        .collect();
    let is_possible = |&df: &u32| df > 0 && u64::from(df) <= settings.num_documents;
    if !frequencies.iter().all(is_possible) {
        return Err(damaged(format!(
            "is damaged: a term occurs in none or in more than all of {} documents",
            settings.num_documents
        )));
    }
    Ok(frequencies)
}

#[cfg(test)]
mod tests {
    use super::super::TfIdfBuilder;
    use super::*;

    fn saved() -> (TfIdf, tempfile::TempDir) {
        let config = TfIdfConfig {
            max_ngram: 2,
            ..TfIdfConfig::default()
        };
        let mut builder = TfIdfBuilder::new(config).unwrap();
        builder.push_batch(&["über dem Meer", "am Meer über dem Tal", "Tal"]);
        let (tfidf, _) = builder.finish().unwrap();
        let dir = tempfile::tempdir().unwrap();
        tfidf.save_to(dir.path()).unwrap();
        (tfidf, dir)
    }

    #[test]
    fn loading_gives_back_what_was_saved() {
        let (tfidf, dir) = saved();
        let loaded = TfIdf::load_from(dir.path()).unwrap();
        assert_eq!(loaded.config(), tfidf.config());
        assert_eq!(loaded.idf(), tfidf.idf());
        let text = "Tal am Meer, über dem Tal";
        assert_eq!(loaded.transform_one(text), tfidf.transform_one(text));
        let mut names: Vec<_> = fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(
            names,
            ["document_frequencies.bin", "text.json", "vocabulary.txt"]
        );
    }

    #[test]
    fn damaged_files_are_refused() {
        type Damage = fn(Vec<u8>) -> Vec<u8>;
        let damages: [(&str, Damage); 8] = [
            (SETTINGS_FILE, |_| b"{".to_vec()),
            (SETTINGS_FILE, |json| {
                String::from_utf8(json)
                    .unwrap()
                    .replace("\"min_df\": 2", "\"min_df\": 0")
                    .into()
            }),
            (VOCABULARY_FILE, |mut text| text.split_off(4)),
            (VOCABULARY_FILE, |mut text| {
                text.pop();
                text
            }),
            (VOCABULARY_FILE, |text| {
                text.iter()
                    .map(|&b| if b == b'm' { 0xff } else { b })
                    .collect()
            }),
            (VOCABULARY_FILE, |text| {
                text.iter()
                    .map(|&b| if b == b'd' { b'x' } else { b })
                    .collect()
            }),
            (FREQUENCIES_FILE, |bytes| bytes[1..].to_vec()),
            (FREQUENCIES_FILE, |bytes| vec![0; bytes.len()]),
        ];
        for (name, damage) in damages {
            let (_, dir) = saved();
            let path = dir.path().join(name);
            fs::write(&path, damage(fs::read(&path).unwrap())).unwrap();
            let error = TfIdf::load_from(dir.path()).unwrap_err();
            assert!(matches!(error, Error::Model { .. }), "{name}: {error}");
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        for name in [SETTINGS_FILE, VOCABULARY_FILE, FREQUENCIES_FILE] {
            let (_, dir) = saved();
            fs::remove_file(dir.path().join(name)).unwrap();
            let message = TfIdf::load_from(dir.path()).unwrap_err().to_string();
            assert!(
                message.contains(name) && message.contains("missing"),
                "{message}"
            );
        }
    }
}
