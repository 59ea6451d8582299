//! Training of the system `knn`.

use std::time::Instant;

use plethora_core::Result;
use plethora_core::artifact::ModelWriter;
use plethora_core::metrics::Evaluation;
use plethora_linear::knn::{KnnConfig, KnnModel, KnnParts, KnnSet, KnnSetBuilder, KnnTrainer};
use plethora_predict::{Predictor, System};

use super::family::{Family, Trained};
use super::job::TrainingJob;
use super::linear::warn_of_linear;
use super::report::{ModelSize, Seconds};
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
        trainer.run(&work, session.progress())?;
        seconds.add("index", started.elapsed().as_secs_f64());
        let set = set.set;
        let num_features = set.features.num_columns();
        let model = KnnModel::open_unsaved(&work, self.clone(), num_features, set.space.len())?;
        let details = KnnParts {
            config: self,
            space: &set.space,
            tfidf: set.tfidf.as_ref(),
            text_fields: &text_fields,
            num_features,
            num_documents: set.labels_of_documents.num_rows() as u64,
            evaluation: None,
        }
        .details();
        Ok(Trained {
            size: ModelSize::Linear {
                num_features: num_features as u64,
                num_feature_entries: set.features.num_entries() as u64,
            },
            num_without_labels: set.num_without_labels,
            predictor: Predictor::from_parts(System::Knn(model), set.space, set.tfidf, details),
            work,
            seconds,
        })
    }

    fn save(
        &self,
        trained: &Trained,
        evaluation: Option<(&Evaluation, &str)>,
        writer: ModelWriter,
    ) -> Result<()> {
        let details = trained.predictor.details();
        KnnParts {
            config: self,
            space: trained.predictor.labels(),
            tfidf: trained.predictor.tfidf(),
            text_fields: &details.text_fields,
            num_features: details.num_features as usize,
            num_documents: details.num_documents,
            evaluation,
        }
        .save(&trained.work, writer)
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
    job.tell(&read, &set.set.space, set.set.num_without_labels);
    progress.finish(&format!(
        "{} documents, {} labels, {} features",
        read.num_documents,
        set.set.space.len(),
        set.set.features.num_columns()
    ));
    Ok((set, job.data.text_fields(read.reader.format())))
}
