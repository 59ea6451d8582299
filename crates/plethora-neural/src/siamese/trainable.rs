//! From a stream of documents to a trained model.

use std::time::Instant;

use plethora_core::Result;
use plethora_system::{
    DocumentStream, Effort, Estimate, RunContext, Trainable, Trained, TrainingSize,
};

use super::config::{Choices, OpenSiameseConfig, SiameseConfig};
use super::estimate::estimate;
use super::model::SiameseModel;
use super::projection::Projection;
use super::trainer::{SiameseTrainer, USUAL_CENTROID};
use super::training_set::{SiameseSet, ValidationSet};
use crate::dense::encoder::FrozenEncoder;
use crate::dense::pooling;
use crate::dense::text_vectors::TextVectors;
use crate::guard::guarded;
use crate::open_device;
use crate::precision::{compute_kind, prediction_numbers};
use crate::pretrained::{EncoderFiles, PieceReader, resolve_encoder, weight_files};
use crate::systems::reading::check_validation;
use crate::systems::trained_facts::trained_facts;

impl Trainable for OpenSiameseConfig {
    fn check(&self, run: &RunContext<'_>) -> Result<()> {
        open_device(run.compute.device)?;
        self.load_encoder(run)?;
        check_validation(run)
    }

    fn estimate(&self, size: &TrainingSize) -> Estimate {
        estimate(self, size)
    }

    fn train(&self, documents: &mut dyn DocumentStream, run: &RunContext<'_>) -> Result<Trained> {
        let (config, encoder) = self.load_encoder(run)?;
        let (set, mut stages) = SiameseSet::read(documents, run, &config, &encoder)?;
        let started = Instant::now();
        let trains_encoder = config.encoder.trained;
        let valid = match run.valid {
            Some(source) => {
                let valid = ValidationSet::read(source, run, &set.space, &encoder, trains_encoder)?;
                Some(valid)
            }
            None => None,
        };
        let fingerprint = set.fingerprint(&config, valid.as_ref())?;
        let work = run.open_work(&fingerprint, self.resume_point())?;
        let trainer = SiameseTrainer {
            set: &set,
            valid: valid.as_ref(),
            open: self,
            config: &config,
            run,
            fingerprint: &fingerprint,
        };
        let (config, encoder) = guarded(|| trainer.run(encoder, &work))?;
        stages.end("training", started);
        let num_documents = set.labels_of_documents.num_rows() as u64;
        let model = SiameseModel::open_unsaved(&work, config, encoder, set.space.len())?;
        let num_pieces = model.encoder().reader().pieces.vocab_size() as u64;
        let of_projection = model.projection.as_ref().map_or(0, Projection::len);
        let num_parameters = model.encoder().encoder().num_parameters() + of_projection as u64;
        let facts = trained_facts(("pieces", num_pieces), num_parameters, run.compute.device);
        Ok(Trained {
            ranker: Box::new(model),
            num_documents,
            labels: set.space,
            num_features: num_pieces,
            takes_text: true,
            facts,
            work,
            stages,
        })
    }

    fn trains_together(&self) -> bool {
        true
    }

    fn resume_point(&self) -> &'static str {
        "the last checkpoint"
    }

    fn needs_labels(&self) -> bool {
        false
    }

    fn effort(&self) -> Effort {
        Effort::Epochs(Some(self.train.epochs))
    }
}

impl OpenSiameseConfig {
    /// The encoder that the settings name, and the settings with what was chosen.
    pub(super) fn load_encoder(
        &self,
        run: &RunContext<'_>,
    ) -> crate::Result<(SiameseConfig, TextVectors)> {
        let folder = resolve_encoder(&self.encoder.folder, run.encoder_cache)?;
        let device = open_device(run.compute.device)?;
        let pooling = match self.encoder.pooling.set() {
            Some(pooling) => pooling,
            None => pooling::of_folder(&folder)?,
        };
        let on_gpu = || device != tch::Device::Cpu;
        let choices = Choices {
            pooling,
            // Without training there is nothing that an encoder could learn.
            trains_encoder: self.encoder.trained.unwrap_or_else(on_gpu) && self.train.epochs > 0,
        };
        let path = folder.to_string_lossy().into_owned();
        let centroid = self.labels.centroid.unwrap_or_else(|| USUAL_CENTROID);
        let config = self.settled(path, choices, centroid);
        let files = EncoderFiles::open(&config.transformer(), &self.document.max_length)?;
        let reader = PieceReader {
            pieces: files.pieces,
            max_length: files.max_length,
        };
        if choices.trains_encoder {
            let kind = compute_kind(self.train.precision, device);
            let settings = config.transformer();
            let encoder =
                FrozenEncoder::load_to_train(files.architecture, &settings, (device, kind))?;
            return Ok((config, TextVectors::new(encoder, reader)));
        }
        let numbers = prediction_numbers(self.train.precision, device);
        let encoder = FrozenEncoder::load(files.architecture, &config.frozen(), (device, numbers))?;
        let vectors = TextVectors::new(encoder, reader);
        let vectors = match run.piece_cache {
            Some(cache) => vectors.with_cache(cache, pooling, &weight_files(&folder))?,
            None => vectors,
        };
        Ok((config, vectors))
    }
}
