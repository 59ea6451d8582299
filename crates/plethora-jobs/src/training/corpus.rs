//! A corpus as a training run reads it.

use std::path::PathBuf;

use plethora_core::Result;
use plethora_core::artifact::ModelDetails;
use plethora_core::corpus::{CorpusReader, DocumentList, Format, ReadOptions};

use crate::figures::percent;

/// A corpus and how to read it.
#[derive(Debug, Clone)]
pub struct Corpus {
    /// The file, or what messages call the documents.
    pub path: PathBuf,
    /// How to read the file.
    pub options: ReadOptions,
    /// The documents, where they are in memory and not in a file.
    documents: Option<DocumentList>,
}

impl Corpus {
    /// The corpus of a file.
    pub fn of_file(path: PathBuf, options: ReadOptions) -> Self {
        Self {
            path,
            options,
            documents: None,
        }
    }

    /// Documents in memory; messages call them `name`.
    pub fn of_documents(name: &str, documents: DocumentList) -> Self {
        Self {
            path: name.into(),
            options: ReadOptions::default(),
            documents: Some(documents),
        }
    }

    /// The same documents in memory, where they come from standard input, which is read once.
    pub fn kept(&self) -> Result<Self> {
        if self.path.as_os_str() != "-" {
            return Ok(self.clone());
        }
        let mut reader = self.open()?;
        let documents = reader.by_ref().collect::<Result<Vec<_>>>()?;
        let documents = DocumentList::new(documents, reader.num_features());
        Ok(Self {
            documents: Some(documents),
            ..self.clone()
        })
    }

    /// Opens the corpus.
    pub fn open(&self) -> Result<CorpusReader> {
        match &self.documents {
            Some(documents) => {
                let reader = CorpusReader::of_documents(&self.path, documents.clone());
                Ok(reader.sampled(self.options.sample.clone()))
            }
            None => CorpusReader::open(&self.path, &self.options),
        }
    }

    /// Opens the corpus for a model: where nobody names fields, texts come from those that it was
    /// trained on.
    pub fn open_for(&self, model: &ModelDetails) -> Result<CorpusReader> {
        let corpus = Self {
            options: ReadOptions {
                usual_text_fields: model.text_fields.clone(),
                ..self.options.clone()
            },
            ..self.clone()
        };
        corpus.open()
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
        let num_more = self.options.more_paths.len();
        let more = (num_more > 0).then(|| format!("and {num_more} more"));
        let sample = self.options.sample.as_ref();
        let share = sample.map(|sample| format!("{} % of it", percent(sample.share())));
        let parts: Vec<String> = more.into_iter().chain(filters).chain(share).collect();
        match parts.as_slice() {
            [] => name.into_owned(),
            parts => format!("{name} ({})", parts.join(", ")),
        }
    }
}
