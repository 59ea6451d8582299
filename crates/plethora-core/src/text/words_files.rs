//! Fitted [`Words`] in the model folder.
//!
//! `words.json` holds the settings and counts, `words.txt` one word per line in the order of the
//! rows, and `word_frequencies.bin` for each word the number of training documents that have it,
//! as little-endian `u32`.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::vocabulary_files::VocabularyFiles;
use super::words::Words;
use super::words_config::WordsConfig;
use crate::Result;

const FILES: VocabularyFiles = VocabularyFiles {
    settings: "words.json",
    terms: "words.txt",
    frequencies: "word_frequencies.bin",
};

/// The content of `words.json`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    num_documents: u64,
    num_words: usize,
    words: WordsConfig,
}

impl Words {
    /// Writes the files of a model folder into the existing folder `dir` and returns their names.
    pub fn save_to(&self, dir: &Path) -> Result<Vec<String>> {
        let vocabulary = self.vocabulary();
        let settings = Settings {
            num_documents: vocabulary.num_documents(),
            num_words: vocabulary.len(),
            words: self.config().clone(),
        };
        FILES.save(dir, vocabulary, &settings)
    }

    /// Reads what [`save_to`](Self::save_to) wrote.
    ///
    /// # Errors
    /// [`Error::Model`](crate::Error::Model) where a file is missing, damaged or does not fit the
    /// others.
    pub fn load_from(dir: &Path) -> Result<Self> {
        let settings = FILES.load_settings(dir, |settings: &Settings| settings.words.validate())?;
        let Settings {
            num_documents,
            num_words,
            words,
        } = settings;
        let vocabulary = FILES.load_vocabulary(dir, num_words, num_documents)?;
        Ok(Self::new(words, vocabulary))
    }
}

#[cfg(test)]
mod tests {
    use fs_err as fs;

    use super::super::{TokenizerConfig, WordsBuilder};
    use super::*;
    use crate::Error;

    fn saved() -> (Words, tempfile::TempDir) {
        let config = WordsConfig {
            tokenizer: TokenizerConfig::default(),
            max_vocabulary: 5,
            min_df: 1,
            max_length: 4,
            counts_whole_documents: None,
            separator: None,
        };
        let mut builder = WordsBuilder::new(config).unwrap();
        builder.push_batch(&["über dem Meer", "am Meer über dem Tal", "Tal"]);
        let (words, _) = builder.finish().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let names = words.save_to(dir.path()).unwrap();
        assert_eq!(names, ["words.txt", "word_frequencies.bin", "words.json"]);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
        (words, dir)
    }

    #[test]
    fn loading_gives_back_what_was_saved() {
        let (words, dir) = saved();
        let loaded = Words::load_from(dir.path()).unwrap();
        assert_eq!(loaded.config(), words.config());
        let terms = |words: &Words| -> Vec<String> {
            words.vocabulary().terms().map(str::to_owned).collect()
        };
        assert_eq!(terms(&loaded), terms(&words));
        assert_eq!(
            loaded.vocabulary().document_frequencies(),
            words.vocabulary().document_frequencies()
        );
        assert_eq!(loaded.vocabulary().num_documents(), 3);
        let text = "Tal am Meer, über dem Tal";
        assert_eq!(loaded.spans(text), words.spans(text));
    }

    #[test]
    fn damaged_and_missing_files_are_refused_by_name() {
        for name in [FILES.settings, FILES.terms, FILES.frequencies] {
            let (_, dir) = saved();
            let path = dir.path().join(name);
            let content = fs::read(&path).unwrap();
            fs::write(&path, &content[1..]).unwrap();
            let error = Words::load_from(dir.path()).unwrap_err();
            assert!(matches!(&error, Error::Model { path: named, .. } if *named == path));
            fs::remove_file(&path).unwrap();
            let message = Words::load_from(dir.path()).unwrap_err().to_string();
            assert!(
                message.contains(name) && message.ends_with("is missing from the model"),
                "{message}"
            );
        }
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        let (_, dir) = saved();
        let path = dir.path().join(FILES.settings);
        let json = fs::read_to_string(&path).unwrap();
        let json = json.replace("\"max_length\": 4", "\"max_length\": 0");
        fs::write(&path, json).unwrap();
        let message = Words::load_from(dir.path()).unwrap_err().to_string();
        assert!(
            message.ends_with("words.json: words.max_length: must be from 1 to 65536, found 0"),
            "{message}"
        );
    }
}
