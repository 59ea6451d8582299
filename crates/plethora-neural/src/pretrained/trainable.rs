//! From a stream of documents to a trained system of pieces.

use std::path::Path;
use std::time::Instant;

use plethora_core::Result;
use plethora_system::{
    DocumentStream, Effort, Estimate, RunContext, Trainable, Trained, TrainingSize,
};

use super::config::OpenPieceConfig;
use super::encoder_files::check_encoder;
use super::estimate::estimate;
use super::pieces::resolve_encoder;
use super::run::PieceTrainer;
use super::training_set::CutsTexts;
use crate::open_device;
use crate::systems::reading::{check_validation, read_set, read_validation};
use crate::systems::trained_facts::trained_facts;

impl Trainable for OpenPieceConfig {
    fn check(&self, run: &RunContext<'_>) -> Result<()> {
        open_device(run.compute.device)?;
        check_encoder(&self.with_encoder_folder(run.encoder_cache)?)?;
        check_validation(run)
    }

    fn estimate(&self, size: &TrainingSize) -> Estimate {
        estimate(self, size)
    }

    fn train(&self, documents: &mut dyn DocumentStream, run: &RunContext<'_>) -> Result<Trained> {
        let asked_for = self.with_encoder_folder(run.encoder_cache)?;
        let reader = CutsTexts::new(&asked_for, run.piece_cache)?;
        let (set, mut stages) = read_set(documents, run, &self.system, reader, |texts| {
            let rows = &texts.rows;
            let length = rows.num_items() as f64 / rows.num_rows().max(1) as f64;
            format!("{length:.0} pieces per document")
        })?;
        let started = Instant::now();
        let valid = match run.valid {
            Some(source) => Some(read_validation(source, run, &set.space, |texts| {
                set.texts.reader.sequences(texts)
            })?),
            None => None,
        };
        let fingerprint = set.fingerprint(&asked_for, valid.as_ref())?;
        let work = run.open_work(&fingerprint, self.resume_point())?;
        let device = run.compute.device;
        let choices = match set.settle_run(&asked_for, device, &work) {
            Ok(choices) => choices,
            Err(error) => {
                if !run.resumes {
                    work.remove()?;
                }
                return Err(error.into());
            }
        };
        run.progress.start("settings", None);
        run.progress.finish(&choices.summary);
        let model = PieceTrainer {
            set: &set,
            valid: valid.as_ref(),
            config: &choices.config.with_epoch_share(run.epoch_share),
            device,
        }
        .run(&work, run.progress)?;
        stages.end("training", started);
        let num_pieces = model.reader().pieces.vocab_size() as u64;
        Ok(Trained {
            facts: trained_facts(("pieces", num_pieces), model.num_parameters(), device),
            num_documents: set.labels_of_documents.num_rows() as u64,
            num_features: num_pieces,
            takes_text: true,
            labels: set.space,
            ranker: Box::new(model),
            work,
            stages,
        })
    }

    fn resume_point(&self) -> &'static str {
        "the last checkpoint"
    }

    fn effort(&self) -> Effort {
        Effort::Epochs(self.train.epochs.set())
    }
}

impl OpenPieceConfig {
    /// The settings with the folder of the encoder instead of its name.
    fn with_encoder_folder(&self, cache: Option<&Path>) -> Result<Self> {
        let folder = resolve_encoder(&self.encoder.folder, cache)?;
        let mut config = self.clone();
        config.encoder.folder = folder.to_string_lossy().into_owned();
        Ok(config)
    }
}
