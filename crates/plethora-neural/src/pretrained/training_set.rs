//! From a stream of documents to their pieces, label rows and the label space, in one pass.

use std::path::{Path, PathBuf};

use plethora_core::IndexRows;
use plethora_core::neighbours::DocumentNames;

use super::config::OpenPieceConfig;
use super::encoder_files::EncoderFiles;
use super::pieces::{PieceCorpusBuilder, PieceRows};
use super::reader::PieceReader;
use crate::Result;
use crate::systems::{NamesFiles, ReadsTexts, TextSet, TextSetBuilder, Texts};
use crate::transformer::{Architecture, trained_folder};

/// What a system of pieces is trained on.
pub type PieceSet = TextSet<PieceTexts>;

/// Takes documents one by one; texts are cut into pieces in batches and then forgotten.
pub type PieceSetBuilder = TextSetBuilder<CutsTexts>;

/// The pieces of documents.
#[derive(Debug)]
pub struct PieceTexts {
    /// How texts become pieces.
    pub reader: PieceReader,
    /// The pieces of each document.
    pub rows: PieceRows,
    /// The encoder that they are for.
    pub architecture: Architecture,
    /// Who the documents are, where they are to be remembered.
    pub(super) names: DocumentNames,
}

impl PieceTexts {
    /// Texts in pieces, of which nobody has to know who they are.
    pub(crate) fn new(reader: PieceReader, rows: PieceRows, architecture: Architecture) -> Self {
        Self {
            reader,
            rows,
            architecture,
            names: DocumentNames::default(),
        }
    }
}

/// Cuts the texts of documents into pieces.
pub struct CutsTexts {
    corpus: PieceCorpusBuilder,
    architecture: Architecture,
    max_length: usize,
    remembers: bool,
    names: DocumentNames,
}

impl CutsTexts {
    /// For a system with these settings. Texts that `cache` has the pieces of are not cut again.
    pub fn new(config: &OpenPieceConfig, cache: Option<&Path>) -> Result<Self> {
        let files = EncoderFiles::open(&config.encoder, &config.document.max_length)?;
        let max_length = files.whole_length(config.document.windows);
        Ok(Self {
            corpus: PieceCorpusBuilder::new(files.pieces, max_length, cache),
            architecture: files.architecture,
            max_length,
            remembers: config.neighbours.vote(),
            names: DocumentNames::default(),
        })
    }
}

impl ReadsTexts for CutsTexts {
    type Read = PieceTexts;

    fn note(&mut self, id: &str, text: &str) {
        if self.remembers {
            self.names.push(id, Some(text));
        }
    }

    fn push_batch(&mut self, texts: &[String]) {
        self.corpus.push_batch(texts);
    }

    fn finish(self) -> plethora_core::Result<PieceTexts> {
        let (pieces, rows) = self.corpus.finish();
        tracing::info!("{}", rows.summary());
        Ok(PieceTexts {
            reader: PieceReader {
                pieces,
                max_length: self.max_length,
            },
            rows,
            architecture: self.architecture,
            names: self.names,
        })
    }
}

impl Texts for PieceTexts {
    fn known(&self) -> (&'static str, u64) {
        ("pieces", self.reader.pieces.vocab_size() as u64)
    }

    fn summary(&self) -> String {
        let length = self.rows.num_items() as f64 / self.rows.num_rows().max(1) as f64;
        format!("{length:.0} pieces per document")
    }

    fn sequence(&self, document: usize) -> &[u32] {
        self.rows.row(document)
    }

    fn sequences_of(&self, texts: &[String]) -> IndexRows {
        self.reader.sequences(texts)
    }
}

impl NamesFiles for OpenPieceConfig {
    fn files(&self) -> Vec<PathBuf> {
        weight_files(Path::new(&self.encoder.folder))
    }
}

/// The weights of an encoder, in whatever files its folder has them.
pub(crate) fn weight_files(folder: &Path) -> Vec<PathBuf> {
    if trained_folder::is_model(folder) {
        return vec![trained_folder::weight_file(folder)];
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension()
                .is_some_and(|suffix| suffix == "safetensors")
        })
        .collect();
    files.sort();
    files
}
