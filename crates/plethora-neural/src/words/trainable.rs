//! Training a system of words with the documents of a run.

use std::time::Instant;

use plethora_core::Result;
use plethora_core::artifact::WorkFolder;
use plethora_system::{
    DocumentStream, Effort, Estimate, RunContext, Trainable, Trained, TrainingSize,
};

use super::config::{OpenWordConfig, WordConfig};
use super::estimate::estimate;
use super::trainer::WordTrainer;
use super::training_set::WordReader;
use crate::device::open_device;
use crate::systems::reading::{check_validation, read_set, read_validation};
use crate::systems::run_settings::{begun_with, keep_settings};
use crate::systems::trained_facts::trained_facts;

impl Trainable for OpenWordConfig {
    fn check(&self, run: &RunContext<'_>) -> Result<()> {
        open_device(run.compute.device)?;
        self.vectors.check_file()?;
        check_validation(run)
    }

    fn estimate(&self, size: &TrainingSize) -> Estimate {
        estimate(&self.settled(size.num_documents as usize), size)
    }

    fn train(&self, documents: &mut dyn DocumentStream, run: &RunContext<'_>) -> Result<Trained> {
        let reader = WordReader::new(self)?;
        let (set, mut stages) = read_set(documents, run, &self.system, reader, |texts| {
            format!("{} words", texts.words.vocabulary().len())
        })?;
        let started = Instant::now();
        let words = &set.texts.words;
        let valid = match run.valid {
            Some(source) => Some(read_validation(source, run, &set.space, |texts| {
                words.sequences(texts)
            })?),
            None => None,
        };
        let fingerprint = set.fingerprint(self, valid.as_ref())?;
        let work = run.open_work(&fingerprint, self.resume_point())?;
        let num_documents = set.labels_of_documents.num_rows();
        let config = self.settle(num_documents, run, &work)?;
        let model = WordTrainer {
            set: &set,
            valid: valid.as_ref(),
            config: &config.with_epoch_share(run.epoch_share),
            device: run.compute.device,
        }
        .run(&work, run.progress)?;
        stages.end("training", started);
        let num_words = words.vocabulary().len() as u64;
        let facts = trained_facts(
            ("words", num_words),
            model.num_parameters(),
            run.compute.device,
        );
        Ok(Trained {
            ranker: Box::new(model),
            labels: set.space,
            num_documents: num_documents as u64,
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

impl OpenWordConfig {
    /// Makes the choices that are left, and says so; those that an interrupted run was begun with stay.
    fn settle(
        &self,
        num_documents: usize,
        run: &RunContext<'_>,
        work: &WorkFolder,
    ) -> Result<WordConfig> {
        let chosen = self.settled(num_documents);
        if !self.train.batch_size.is_auto() {
            return Ok(chosen);
        }
        if let Some(begun) = begun_with(work) {
            return Ok(begun);
        }
        keep_settings(work, &chosen)?;
        run.progress.start("settings", None);
        run.progress
            .finish(&format!("batches of {} documents", chosen.train.batch_size));
        Ok(chosen)
    }
}
