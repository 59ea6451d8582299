//! Settings of the vectors that words start with.

use std::fs::File;
use std::path::PathBuf;

use plethora_core::checks::{check, within};
use plethora_core::text::SkipGramConfig;
use plethora_core::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The vectors that words start with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VectorsConfig {
    /// A file with pretrained vectors (GloVe, word2vec or fastText); empty for none.
    #[serde(default)]
    pub file: String,
    /// Numbers per word.
    pub width: usize,
    /// What words start with that the file does not have, or all without a file.
    pub start: VectorStart,
    /// Whether training changes the vectors.
    pub trained: bool,
    /// How skip-gram vectors are trained, where they are the start.
    pub skip_gram: SkipGramConfig,
}

/// Vectors of words that no file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VectorStart {
    /// Normal numbers that spread as the file's do, or by 0.3.
    Random,
    /// Uniform numbers from -1 to 1, as the paper's program has it.
    Uniform,
    /// Skip-gram vectors trained on the corpus.
    SkipGram,
}

impl VectorsConfig {
    pub(crate) fn validate(&self) -> Result<()> {
        within("vectors.width", self.width, 1..=4096)?;
        check(
            self.start != VectorStart::SkipGram || self.skip_gram.width == self.width,
            "vectors.skip_gram.width",
            "must equal vectors.width",
        )?;
        self.skip_gram
            .validate()
            .map_err(|error| error.within("vectors"))
    }

    /// The file that vectors come from, where there is one.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let file = Some(&self.file).filter(|file| !file.is_empty());
        file.map(PathBuf::from).into_iter().collect()
    }

    /// Vectors that are asked for must be there.
    pub(crate) fn check_file(&self) -> Result<()> {
        for path in self.files() {
            File::open(&path).map_err(Error::read(&path))?;
        }
        Ok(())
    }
}
