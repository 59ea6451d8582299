//! From a stream of documents to their pieces, label rows and the label space, in one pass.

use std::path::{Path, PathBuf};

use super::config::OpenPieceConfig;
use super::encoder_files::EncoderFiles;
use super::pieces::{PieceCorpusBuilder, PieceRows};
use super::reader::PieceReader;
use crate::Result;
use crate::systems::fingerprint::Fingerprint;
use crate::systems::{ReadsTexts, TextSet, TextSetBuilder, ValidationDocuments};
use crate::transformer::Architecture;

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
}

/// Cuts the texts of documents into pieces.
pub struct CutsTexts {
    corpus: PieceCorpusBuilder,
    architecture: Architecture,
    max_length: usize,
}

impl CutsTexts {
    /// For a system with these settings. Texts that `cache` has the pieces of are not cut again.
    pub fn new(config: &OpenPieceConfig, cache: Option<&Path>) -> Result<Self> {
        let files = EncoderFiles::open(&config.encoder, &config.document.max_length)?;
        Ok(Self {
            corpus: PieceCorpusBuilder::new(files.pieces, files.max_length, cache),
            architecture: files.architecture,
            max_length: files.max_length,
        })
    }
}

impl ReadsTexts for CutsTexts {
    type Read = PieceTexts;

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
        })
    }
}

impl PieceSet {
    /// Says which data, settings and seed a run has, so that only an equal one resumes it. `config` is
    /// what was asked for, with nothing chosen yet.
    pub fn fingerprint(
        &self,
        config: &OpenPieceConfig,
        valid: Option<&ValidationDocuments>,
    ) -> plethora_core::Result<String> {
        let mut fingerprint = Fingerprint::new(config, self.space.labels())?;
        let rows = &self.texts.rows;
        fingerprint.add_rows((0..rows.num_rows()).map(|document| rows.row(document)));
        fingerprint.add_rows(self.labels_of_documents.rows());
        if let Some(valid) = valid {
            fingerprint.add_validation(valid);
        }
        fingerprint.add_files(&weight_files(Path::new(&config.encoder.folder)))?;
        Ok(fingerprint.finish())
    }
}

/// The weights of an encoder, in whatever files its folder has them.
pub(crate) fn weight_files(folder: &Path) -> Vec<PathBuf> {
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
