//! From a stream of documents to a trained model.

use std::time::Instant;

use plethora_core::Result;
use plethora_system::{
    DocumentStream, Effort, Estimate, RunContext, Trainable, Trained, TrainingSize,
};

use super::config::OpenDenseConfig;
use super::estimate::estimate;
use super::model::DenseModel;
use super::trainer::DenseTrainer;
use crate::open_device;
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
        let (encoder_config, prepared) = match &self.fine_tuning {
            None => self.read_frozen(documents, run)?,
            Some(tuning) => self.read_tuned(tuning, documents, run)?,
        };
        let started = Instant::now();
        let config = DenseTrainer {
            set: &prepared.set,
            valid: prepared.valid.as_ref(),
            config: self,
            encoder: &encoder_config,
            tuning: prepared.tuning.as_ref(),
            candidates: prepared.candidates.as_ref(),
            fingerprint: &prepared.fingerprint,
            run,
        }
        .run(&prepared.work)?;
        let (encoder, work) = (prepared.encoder, prepared.work);
        let mut stages = prepared.stages;
        stages.end("training", started);
        let set = prepared.set.set;
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
        match self.fine_tuning {
            None => "the last complete tree",
            Some(_) => "the last checkpoint of the network, or the last complete tree",
        }
    }

    fn effort(&self) -> Effort {
        match &self.fine_tuning {
            None => Effort::Documents,
            Some(tuning) => Effort::Epochs(tuning.epochs.set()),
        }
    }
}
