//! From a stream of documents to their pieces, label rows and the label space, in one pass.

use std::path::{Path, PathBuf};

use plethora_core::neighbours::DocumentNames;
use plethora_core::text::{TfIdfBuilder, TfIdfConfig};
use plethora_core::{IndexRows, SparseMatrix};

use super::config::{ClustersBy, HeadForm, OpenPieceConfig};
use super::encoder_files::EncoderFiles;
use super::pieces::{PieceCorpusBuilder, PieceRows};
use super::reader::PieceReader;
use crate::Result;
use crate::systems::{HeldTexts, NamesFiles, ReadsTexts, TextSet, TextSetBuilder, Texts};
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
    /// TF-IDF of the words of each whole document, where labels are grouped by them.
    pub(super) words: Option<SparseMatrix>,
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
            words: None,
            names: DocumentNames::default(),
        }
    }
}

/// Cuts the texts of documents into pieces.
pub struct CutsTexts {
    corpus: PieceCorpusBuilder,
    architecture: Architecture,
    max_length: usize,
    words: Option<TfIdfBuilder>,
    remembers: bool,
    names: DocumentNames,
}

impl CutsTexts {
    /// For a system with these settings. Texts that `cache` has the pieces of are not cut again.
    pub fn new(config: &OpenPieceConfig, cache: Option<&Path>) -> Result<Self> {
        let files = EncoderFiles::open(&config.encoder, &config.document.max_length)?;
        let max_length = files.whole_length(config.document.windows);
        let pieces = if config.document.lowercase {
            files.pieces.lower_cased()?
        } else {
            files.pieces
        };
        Ok(Self {
            corpus: PieceCorpusBuilder::new(pieces, max_length, cache),
            architecture: files.architecture,
            max_length,
            words: if config.groups_words() {
                Some(TfIdfBuilder::new(TfIdfConfig::default())?)
            } else {
                None
            },
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
        if let Some(words) = &mut self.words {
            words.push_batch(texts);
        }
    }

    fn end(&mut self) {
        self.corpus.end();
    }

    fn finish(self) -> plethora_core::Result<PieceTexts> {
        let (pieces, rows) = self.corpus.finish();
        tracing::info!("{}", rows.summary());
        let words = self.words.map(TfIdfBuilder::finish).transpose()?;
        Ok(PieceTexts {
            words: words.map(|(_, words)| words),
            reader: PieceReader {
                pieces,
                max_length: self.max_length,
            },
            rows,
            architecture: self.architecture,
            names: self.names,
        })
    }

    /// An encoder knows its pieces before any text: they are all the same.
    fn finish_without(&self, held: &[u32]) -> plethora_core::Result<(PieceTexts, HeldTexts)> {
        let (pieces, rows) = self.corpus.ended();
        let all = 0..rows.num_rows() as u32;
        let others = all.filter(|document| held.binary_search(document).is_err());
        let words = self.words.as_ref();
        let words = words.map(|words| words.finish_without(held)).transpose()?;
        let texts = PieceTexts {
            words: words.map(|(_, words, _)| words),
            reader: PieceReader {
                pieces: pieces.clone(),
                max_length: self.max_length,
            },
            rows: rows.some(others),
            architecture: self.architecture.clone(),
            names: self.names.without(held),
        };
        let of_held = held.iter().map(|&document| rows.row(document as usize));
        let held = HeldTexts {
            sequences: of_held.map(|row| row.iter().copied()).collect(),
            features: Vec::new(),
        };
        Ok((texts, held))
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

impl OpenPieceConfig {
    /// Whether there may be groups of labels, by the words of documents.
    fn groups_words(&self) -> bool {
        let may_be_clustered = matches!(self.head.form.set(), None | Some(HeadForm::Clustered));
        may_be_clustered && self.head.clusters_by == ClustersBy::Words
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
