//! From a stream of documents to a trained model.

use std::time::Instant;

use plethora_core::Result;
use plethora_system::{DocumentStream, Estimate, RunContext, Trainable, Trained, TrainingSize};

use super::config::{EncoderConfig, OpenDenseConfig};
use super::encoder::FrozenEncoder;
use super::estimate::estimate;
use super::model::DenseModel;
use super::pooling;
use super::text_vectors::TextVectors;
use super::trainer::DenseTrainer;
use super::training_set::{DenseSet, DenseValidation};
use crate::open_device;
use crate::precision::prediction_kind;
use crate::pretrained::{EncoderFiles, PieceReader, resolve_encoder, weight_files};
use crate::systems::reading::check_validation;
use crate::systems::trained_facts::trained_facts;

impl Trainable for OpenDenseConfig {
    fn check(&self, run: &RunContext<'_>) -> Result<()> {
        open_device(run.compute.device)?;
        self.load_encoder(run)?;
        check_validation(run)
    }

    fn estimate(&self, size: &TrainingSize) -> Estimate {
        estimate(self, size)
    }

    fn train(&self, documents: &mut dyn DocumentStream, run: &RunContext<'_>) -> Result<Trained> {
        let (encoder_config, encoder) = self.load_encoder(run)?;
        let (set, mut stages) = DenseSet::read(documents, run, self, &encoder)?;
        let started = Instant::now();
        let valid = match run.valid {
            Some(source) => Some(DenseValidation::read(source, run, &set.set, &encoder)?),
            None => None,
        };
        let fingerprint = set.fingerprint(self, valid.as_ref())?;
        let work = run.open_work(&fingerprint, self.resume_point())?;
        let config = DenseTrainer {
            set: &set,
            valid: valid.as_ref(),
            config: self,
            encoder: &encoder_config,
            fingerprint: &fingerprint,
            run,
        }
        .run(&work)?;
        stages.end("training", started);
        let set = set.set;
        let tfidf = set.tfidf.expect("documents are texts");
        let num_features = (tfidf.num_features() + encoder.encoder().width()) as u64;
        let device = run.compute.device;
        let facts = trained_facts(
            ("features", num_features),
            encoder.encoder().num_parameters(),
            device,
        );
        let model = DenseModel::open_unsaved(&work, config, encoder, tfidf, set.space.len())?;
        Ok(Trained {
            ranker: Box::new(model),
            num_documents: set.labels_of_documents.num_rows() as u64,
            labels: set.space,
            num_features,
            takes_text: true,
            facts,
            work,
            stages,
        })
    }

    fn resume_point(&self) -> &'static str {
        "the last complete tree"
    }
}

impl OpenDenseConfig {
    /// The encoder that the settings name.
    fn load_encoder(&self, run: &RunContext<'_>) -> crate::Result<(EncoderConfig, TextVectors)> {
        let folder = resolve_encoder(&self.encoder.folder, run.encoder_cache)?;
        let config = EncoderConfig {
            folder: folder.to_string_lossy().into_owned(),
            pooling: match self.encoder.pooling.set() {
                Some(pooling) => pooling,
                None => pooling::of_folder(&folder)?,
            },
        };
        let files = EncoderFiles::open(&config.transformer(), &self.document.max_length)?;
        let device = open_device(run.compute.device)?;
        let kind = prediction_kind(self.train.precision, device);
        let encoder = FrozenEncoder::load(files.architecture, &config, (device, kind))?;
        let reader = PieceReader {
            pieces: files.pieces,
            max_length: files.max_length,
        };
        let vectors = TextVectors::new(encoder, reader);
        let vectors = match run.piece_cache {
            Some(cache) => vectors.with_cache(cache, config.pooling, &weight_files(&folder))?,
            None => vectors,
        };
        Ok((config, vectors))
    }
}
