//! A fitted [`TfIdf`] in the model folder.
//!
//! `text.json` holds the settings and counts, `vocabulary.txt` one term per line in the order of
//! the columns, and `document_frequencies.bin` for each term the number of training documents that
//! have it, as little-endian `u32`; the weights of terms follow from these.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::tfidf::TfIdf;
use super::tfidf_config::TfIdfConfig;
use super::vocabulary_files::VocabularyFiles;
use crate::Result;

const FILES: VocabularyFiles = VocabularyFiles {
    settings: "text.json",
    terms: "vocabulary.txt",
    frequencies: "document_frequencies.bin",
};

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
        FILES.save(dir, vocabulary, &settings)
    }

    /// Reads what [`save_to`](Self::save_to) wrote.
    ///
    /// # Errors
    /// [`Error::Model`](crate::Error::Model) where a file is missing, damaged or does not fit the
    /// others.
    pub fn load_from(dir: &Path) -> Result<Self> {
        let settings = FILES.load_settings(dir, |settings: &Settings| settings.tfidf.validate())?;
        let Settings {
            num_documents,
            num_terms,
            tfidf,
        } = settings;
        let vocabulary = FILES.load_vocabulary(dir, num_terms, num_documents)?;
        Ok(Self::new(tfidf, vocabulary))
    }
}

#[cfg(test)]
mod tests {
    use fs_err as fs;

    use super::super::TfIdfBuilder;
    use super::*;
    use crate::Error;

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
            (FILES.settings, |_| b"{".to_vec()),
            (FILES.settings, |json| {
                String::from_utf8(json)
                    .unwrap()
                    .replace("\"min_df\": 2", "\"min_df\": 0")
                    .into()
            }),
            (FILES.terms, |mut text| text.split_off(4)),
            (FILES.terms, |mut text| {
                text.pop();
                text
            }),
            (FILES.terms, |text| {
                text.iter()
                    .map(|&b| if b == b'm' { 0xff } else { b })
                    .collect()
            }),
            (FILES.terms, |text| {
                text.iter()
                    .map(|&b| if b == b'd' { b'x' } else { b })
                    .collect()
            }),
            (FILES.frequencies, |bytes| bytes[1..].to_vec()),
            (FILES.frequencies, |bytes| vec![0; bytes.len()]),
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
        for name in [FILES.settings, FILES.terms, FILES.frequencies] {
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
