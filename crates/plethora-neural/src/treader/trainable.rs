//! Training TReaderXML with the documents of a run.

use std::time::Instant;

use plethora_core::Result;
use plethora_system::{
    DocumentStream, Effort, Estimate, RunContext, Trainable, Trained, TrainingSize,
};

use super::config::TReaderConfig;
use super::estimate::estimate;
use super::trainer::TReaderTrainer;
use super::training_set::{TReaderReader, TReaderValidation};
use crate::device::open_device;
use crate::systems::reading::{check_validation, read_set, read_validation};
use crate::systems::trained_facts::trained_facts;

impl Trainable for TReaderConfig {
    fn check(&self, run: &RunContext<'_>) -> Result<()> {
        open_device(run.compute.device)?;
        self.vectors.check_file()?;
        check_validation(run)
    }

    fn estimate(&self, size: &TrainingSize) -> Estimate {
        estimate(self, size)
    }

    fn train(&self, documents: &mut dyn DocumentStream, run: &RunContext<'_>) -> Result<Trained> {
        let reader = TReaderReader::new(self)?;
        let (set, mut stages) = read_set(documents, run, &self.system, reader, |texts| {
            format!("{} words", texts.words.vocabulary().len())
        })?;
        let started = Instant::now();
        let valid = match run.valid {
            Some(source) => Some(TReaderValidation::read(&set.texts, |read| {
                read_validation(source, run, &set.space, read)
            })?),
            None => None,
        };
        let asked_for = TReaderTrainer {
            set: &set,
            valid: valid.as_ref(),
            config: self,
            device: run.compute.device,
        };
        let work = run.open_work(&asked_for.fingerprint()?, self.resume_point())?;
        let model = TReaderTrainer {
            config: &self.with_epoch_share(run.epoch_share),
            ..asked_for
        }
        .run(&work, run.progress)?;
        stages.end("training", started);
        let num_words = set.texts.words.vocabulary().len() as u64;
        let facts = trained_facts(
            ("words", num_words),
            model.num_parameters(),
            run.compute.device,
        );
        Ok(Trained {
            ranker: Box::new(model),
            num_documents: set.labels_of_documents.num_rows() as u64,
            labels: set.space,
            num_features: num_words,
            takes_text: true,
            facts,
            work,
            stages,
        })
    }

    fn resume_point(&self) -> &'static str {
        "the last checkpoint"
    }

    fn effort(&self) -> Effort {
        Effort::Epochs(Some(self.train.epochs))
    }
}
