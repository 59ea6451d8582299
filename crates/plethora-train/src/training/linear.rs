//! Training of the linear systems.

use std::time::Instant;

use plethora_core::artifact::ModelWriter;
use plethora_core::metrics::Evaluation;
use plethora_core::{Error, Result, SparseMatrix};
use plethora_linear::{LinearConfig, LinearModel, LinearTrainer, TrainingSet, TrainingSetBuilder};
use plethora_predict::{Device, System};

use super::family::{Family, Trained};
use super::features::{TrainedFeatures, save_features, tell_of_set};
use super::job::TrainingJob;
use super::report::Seconds;
use crate::Session;
use crate::corpus_reading::in_file;

impl Family for LinearConfig {
    fn check(&self, job: &TrainingJob) -> Result<()> {
        warn_of_linear(&self.system, job.device);
        Ok(())
    }

    fn train(&self, job: &TrainingJob, session: &Session) -> Result<Trained> {
        let started = Instant::now();
        let (set, text_fields) = read(self, job, session)?;
        let mut seconds = Seconds::default();
        seconds.add("reading", started.elapsed().as_secs_f64() - set.features_s);
        seconds.add("features", set.features_s);
        let label_names = label_names(self, &set)?;
        let trainer = LinearTrainer {
            features: &set.features,
            labels_of_documents: &set.labels_of_documents,
            space: &set.space,
            label_names: label_names.as_ref(),
            config: self,
        };
        let work = job.open_work(&trainer.fingerprint()?, session)?;
        let times = trainer.run(&work, session.progress())?;
        seconds.add("trees", times.label_features_s + times.trees_s);
        seconds.add("classifiers", times.classifiers_s);
        let num_features = set.features.num_columns();
        let model = LinearModel::open_unsaved(&work, self.clone(), num_features, set.space.len())?;
        let trained = TrainedFeatures {
            system: System::Linear(model),
            set,
            text_fields,
            work,
            seconds,
        };
        Ok(trained.finish(self))
    }

    fn save(
        &self,
        trained: &Trained,
        evaluation: Option<(&Evaluation, &str)>,
        writer: ModelWriter,
    ) -> Result<()> {
        save_features(self, trained, evaluation, writer)
    }

    fn resume_point(&self) -> &'static str {
        "the last complete tree"
    }
}

/// Linear systems know the processor alone.
pub fn warn_of_linear(system: &str, device: Device) {
    if device != Device::Cpu {
        tracing::warn!("{system} computes on the processor, not on {device}");
    }
}

/// The training documents, and the fields that their texts came from.
fn read(
    config: &LinearConfig,
    job: &TrainingJob,
    session: &Session,
) -> Result<(TrainingSet, Vec<String>)> {
    let progress = session.progress();
    progress.start("reading", job.data.options.docs_limit);
    let mut builder = TrainingSetBuilder::new(config.text.clone())?;
    let read = job.read(session, |document| builder.add(document))?;
    let set = builder
        .finish(&read.labels, read.reader.num_features())
        .map_err(|error| in_file(error, &job.data.path))?;
    let text_fields = tell_of_set(job, &read, &set, session);
    Ok((set, text_fields))
}

/// Features of the labels' own names, where these shall shape the trees.
fn label_names(config: &LinearConfig, set: &TrainingSet) -> Result<Option<SparseMatrix>> {
    if config.tree.label_text_weight <= 0.0 {
        return Ok(None);
    }
    let Some(tfidf) = &set.tfidf else {
        return Err(Error::config(
            "tree.label_text_weight",
            "must be 0 where documents come as features: names have none",
        ));
    };
    let texts: Vec<String> = set
        .space
        .labels()
        .iter()
        .map(|label| format!("{} {}", label.name, label.alternatives.join(" ")))
        .collect();
    Ok(Some(tfidf.transform(&texts)))
}
