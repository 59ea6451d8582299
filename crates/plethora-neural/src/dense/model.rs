//! A trained model: an encoder, classifiers and training documents.

use std::sync::{Mutex, MutexGuard, PoisonError};

use plethora_core::artifact::{CONFIG_FILE, ModelReader, ModelWriter, WorkFolder};
use plethora_core::corpus::Document;
use plethora_core::text::TfIdf;
use plethora_core::training_log::TrainingLog;
use plethora_core::{LabelId, ScoredLabel, SparseMatrix};
use plethora_linear::trees::LinearModel;
use plethora_system::resources::cpu_seconds;
use plethora_system::{Compute, Embeddings, Explanation, Precision, RankOptions, Ranker, Rankings};
use rayon::prelude::*;

use super::blend::{Blend, CANDIDATES, Said};
use super::config::DenseConfig;
use super::encoder::FrozenEncoder;
use super::indexes::{Asked, DOCUMENTS_FILE, Indexes, TERMS_FILE, VECTORS_FILE};
use super::rows::side_by_side;
use super::text_vectors::TextVectors;
use crate::guard::guarded;
use crate::precision::frozen_numbers;
use crate::pretrained::{PieceReader, Pieces, check_fit};
use crate::systems::network_file::folder_of;
use crate::systems::reading::text_of;
use crate::transformer::trained_folder::ARCHITECTURE_FILE;
use crate::{Result, open_device};

/// An encoder, classifiers over its vectors and terms, and the training documents.
#[derive(Debug)]
pub struct DenseModel {
    pub(super) config: DenseConfig,
    /// Tensors are not made to be shared by threads; everything else is.
    encoder: Mutex<TextVectors>,
    pub(super) tfidf: TfIdf,
    pub(super) classifiers: LinearModel,
    pub(super) indexes: Indexes,
}

impl DenseModel {
    /// The model that training has left in `work`.
    pub(super) fn open_unsaved(
        work: &WorkFolder,
        config: DenseConfig,
        encoder: TextVectors,
        tfidf: TfIdf,
        num_labels: usize,
    ) -> plethora_core::Result<Self> {
        let (width, num_terms) = (encoder.encoder().width(), tfidf.num_features());
        let path_of = |name: &str| Ok(work.path(name));
        let indexes = Indexes::open(path_of, width, num_terms, num_labels)?;
        let num_features = num_features(&config, num_terms, width);
        let classifiers =
            LinearModel::open_unsaved(work, config.linear(), num_features, num_labels)?;
        Ok(Self {
            config,
            encoder: Mutex::new(encoder),
            tfidf,
            classifiers,
            indexes,
        })
    }

    /// Opens a model folder.
    pub fn open(folder: &ModelReader, num_labels: usize, compute: Compute) -> Result<Self> {
        let config: DenseConfig = folder.read_json(CONFIG_FILE)?;
        config.validate()?;
        let device = open_device(compute.device)?;
        // Vectors like those that the classifiers have learnt from, unless somebody says otherwise.
        let precision = match compute.precision {
            Precision::Auto => config.train.precision,
            said => said,
        };
        let numbers = frozen_numbers(precision, device);
        let encoder = guarded(|| FrozenEncoder::open(folder, &config.encoder, (device, numbers)))?;
        let reader = PieceReader {
            pieces: Pieces::load_from(folder.folder())?,
            max_length: config.document.max_length,
        };
        check_fit(
            &config.encoder.transformer(),
            &reader.max_length,
            (encoder.architecture(), &reader.pieces),
            &folder.path(ARCHITECTURE_FILE)?,
        )?;
        let tfidf = TfIdf::load_from(folder.folder())?;
        let (width, num_terms) = (encoder.width(), tfidf.num_features());
        let indexes = Indexes::open(|name| folder.path(name), width, num_terms, num_labels)?;
        let num_features = num_features(&config, num_terms, width);
        let classifiers = LinearModel::open(folder, config.linear(), num_features, num_labels)?;
        Ok(Self {
            encoder: Mutex::new(TextVectors::new(encoder, reader)),
            config,
            tfidf,
            classifiers,
            indexes,
        })
    }

    /// Encoding changes nothing in an encoder, so that a panic leaves it as it was.
    fn encoder(&self) -> MutexGuard<'_, TextVectors> {
        self.encoder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Texts as features and vectors.
    pub(super) fn asked(&self, texts: &[&str]) -> Result<Asked> {
        Ok(Asked {
            features: self.tfidf.transform(texts),
            vectors: self.encoder().of_texts(texts)?,
        })
    }

    /// Documents as the classifiers take them.
    pub(super) fn rows(&self, asked: &Asked) -> SparseMatrix {
        let weight = self.config.classifiers.vector_weight;
        side_by_side(&asked.features, &asked.vectors, weight)
    }

    /// What is said of documents.
    pub(super) fn said(&self, asked: &Asked, options: RankOptions) -> Vec<Said> {
        let limits = (self.config.voices()).map(|voice| match voice.weight {
            0.0 => 0,
            _ => voice.num_neighbours,
        });
        let deep = RankOptions {
            top_k: options.top_k.max(CANDIDATES),
            ..options
        };
        let rankings = self.classifiers.rank(&self.rows(asked), deep).into_iter();
        rankings
            .zip(self.indexes.nearest(asked, limits))
            .map(|(classifiers, neighbours)| Said {
                classifiers,
                neighbours,
            })
            .collect()
    }

    fn rank_asked(&self, asked: &Asked, options: RankOptions) -> Vec<Vec<ScoredLabel>> {
        let blend = Blend::from(&self.config);
        let documents = &self.indexes.documents;
        let rank = |said: &Said| blend.rank(said, documents, options.top_k);
        self.said(asked, options).par_iter().map(rank).collect()
    }

    fn write(&self, work: &WorkFolder, writer: &ModelWriter) -> Result<()> {
        let trees = LinearModel::file_names(self.classifiers.config());
        let indexes = [VECTORS_FILE, TERMS_FILE, DOCUMENTS_FILE].map(str::to_owned);
        for name in trees.into_iter().chain(indexes) {
            work.give(&name, writer)?;
        }
        let folder = folder_of(writer);
        self.tfidf.save_to(&folder)?;
        let encoder = self.encoder();
        encoder.reader().pieces.save_to(&folder)?;
        encoder.encoder().save(writer)?;
        writer.write_json(CONFIG_FILE, &self.config)?;
        if self.config.fine_tuning.is_some() {
            TrainingLog::copy(work.folder(), &folder)?;
        }
        Ok(())
    }
}

/// Features of a document, its vector's numbers among them.
fn num_features(config: &DenseConfig, num_terms: usize, width: usize) -> usize {
    if config.classifiers.vector_weight > 0.0 {
        num_terms + width
    } else {
        num_terms
    }
}

impl Ranker for DenseModel {
    fn rank(
        &self,
        documents: &[Document],
        options: RankOptions,
    ) -> plethora_core::Result<Rankings> {
        let started = cpu_seconds();
        let texts: Vec<&str> = (documents.iter())
            .map(text_of)
            .collect::<plethora_core::Result<_>>()?;
        let asked = self.asked(&texts)?;
        let features_s = cpu_seconds() - started;
        Ok(Rankings {
            labels: self.rank_asked(&asked, options),
            features_s,
        })
    }

    fn explain(&self, text: &str, label: LabelId) -> plethora_core::Result<Explanation> {
        Ok(self.explained(text, label)?)
    }

    fn embed(&self, texts: &[&str]) -> plethora_core::Result<Option<Embeddings>> {
        Ok(Some(Embeddings {
            width: self.indexes.vectors.width(),
            values: self.encoder().of_texts(texts)?.to_f32(),
        }))
    }

    fn save(&self, work: &WorkFolder, writer: &ModelWriter) -> plethora_core::Result<()> {
        Ok(self.write(work, writer)?)
    }
}
