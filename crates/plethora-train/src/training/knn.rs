//! Training of the system `knn`.

use std::time::Instant;

use plethora_core::Result;
use plethora_core::artifact::ModelWriter;
use plethora_core::metrics::Evaluation;
use plethora_linear::knn::{KnnConfig, KnnModel, KnnSet, KnnSetBuilder, KnnTrainer};
use plethora_predict::System;

use super::family::{Family, Trained};
use super::features::{TrainedFeatures, save_features, tell_of_set};
use super::job::TrainingJob;
use super::linear::warn_of_linear;
use super::report::Seconds;
use crate::corpus_reading::in_file;
use crate::session::Session;

impl Family for KnnConfig {
    fn check(&self, job: &TrainingJob) -> Result<()> {
        warn_of_linear(&self.system, job.device);
        Ok(())
    }

    fn train(&self, job: &TrainingJob, session: &Session) -> Result<Trained> {
        let started = Instant::now();
        let (set, text_fields) = read(self, job, session)?;
        let mut seconds = Seconds::default();
        let features_s = set.set.features_s;
        seconds.add("reading", started.elapsed().as_secs_f64() - features_s);
        seconds.add("features", features_s);
        let trainer = KnnTrainer {
            set: &set,
            config: self,
        };
        let work = job.open_work(&trainer.fingerprint()?, session)?;
        let started = Instant::now();
        let config = trainer.run(&work, session.progress())?;
        seconds.add("index", started.elapsed().as_secs_f64());
        let set = set.set;
        let num_features = set.features.num_columns();
        let model = KnnModel::open_unsaved(&work, config.clone(), num_features, set.space.len())?;
        let trained = TrainedFeatures {
            system: System::Knn(model),
            set,
            text_fields,
            work,
            seconds,
        };
        Ok(trained.finish(&config))
    }

    fn save(
        &self,
        trained: &Trained,
        evaluation: Option<(&Evaluation, &str)>,
        writer: ModelWriter,
    ) -> Result<()> {
        // Training may have chosen a power.
        let System::Knn(model) = trained.predictor.system() else {
            unreachable!("what this family trains is a knn");
        };
        save_features(model.config(), trained, evaluation, writer)
    }

    fn resume_point(&self) -> &'static str {
        "the last complete part of the index"
    }
}

/// The training documents, and the fields that their texts came from.
fn read(config: &KnnConfig, job: &TrainingJob, session: &Session) -> Result<(KnnSet, Vec<String>)> {
    let progress = session.progress();
    progress.start("reading", job.data.options.docs_limit);
    let mut builder = KnnSetBuilder::new(config.text.clone())?;
    let read = job.read(session, |document| builder.add(document))?;
    let set = builder
        .finish(&read.labels, read.reader.num_features())
        .map_err(|error| in_file(error, &job.data.path))?;
    let text_fields = tell_of_set(job, &read, &set.set, session);
    Ok((set, text_fields))
}
