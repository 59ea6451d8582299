//! A corpus as a training run reads it.

use std::path::PathBuf;

use plethora_core::Result;
use plethora_core::corpus::{CorpusReader, Format, ReadOptions};

use crate::figures::percent;

/// A corpus and how to read it.
#[derive(Debug, Clone)]
pub(crate) struct Corpus {
    pub(crate) path: PathBuf,
    pub(crate) options: ReadOptions,
}

impl Corpus {
    /// Opens the corpus.
    pub(crate) fn open(&self) -> Result<CorpusReader> {
        CorpusReader::open(&self.path, &self.options)
    }

    /// The fields that texts come from: those named, or those of the format.
    pub(super) fn text_fields(&self, format: Format) -> Vec<String> {
        match self.options.text_fields.as_slice() {
            [] => format
                .text_fields()
                .iter()
                .map(ToString::to_string)
                .collect(),
            named => named.to_vec(),
        }
    }

    /// The corpus as the model card names it: without folders, which differ from machine to
    /// machine.
    pub(super) fn shown_on_card(&self) -> String {
        let name = self
            .path
            .file_name()
            .map_or_else(|| "-".into(), |name| name.to_string_lossy());
        let filters = self.options.filters.iter().map(ToString::to_string);
        let sample = self.options.sample.as_ref();
        let share = sample.map(|sample| format!("{} % of it", percent(sample.share())));
        let parts: Vec<String> = filters.chain(share).collect();
        match parts.as_slice() {
            [] => name.into_owned(),
            parts => format!("{name} ({})", parts.join(", ")),
        }
    }
}
