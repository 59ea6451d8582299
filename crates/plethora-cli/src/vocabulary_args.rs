//! The options that say what labels are called.

use std::path::PathBuf;

use clap::Args;
use plethora_core::corpus::{NameLanguages, VocabularyFile};

/// A file with names of labels; the words here are those of `--help`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct VocabularyArgs {
    /// File with names of the labels: TSV, CSV, JSON, or SKOS as Turtle or RDF/XML
    #[arg(long, value_name = "FILE")]
    vocabulary: Option<PathBuf>,

    /// Languages of the names to take from a vocabulary that has several, as de,en: labels are called by
    /// the first, names in the others are further names [default: English, or what there is]
    #[arg(
        long,
        value_name = "TAGS",
        requires = "vocabulary",
        hide_default_value = true
    )]
    #[arg(default_value = "")]
    vocabulary_languages: NameLanguages,
}

impl VocabularyArgs {
    /// The file, if one was given.
    pub(crate) fn file(&self) -> Option<VocabularyFile> {
        self.vocabulary.clone().map(|path| VocabularyFile {
            path,
            languages: self.vocabulary_languages.clone(),
        })
    }
}
