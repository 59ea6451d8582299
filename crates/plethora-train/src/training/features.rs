//! What the systems whose documents are features share: linear ones and `knn`.

use plethora_core::Result;
use plethora_core::artifact::{ModelWriter, WorkFolder};
use plethora_core::metrics::Evaluation;
use plethora_linear::{FeatureSystem, ModelParts, TrainingSet};
use plethora_predict::{Predictor, System};

use super::family::Trained;
use super::job::{ReadCorpus, TrainingJob};
use super::report::{ModelSize, Seconds};
use crate::session::Session;

/// Says what was read, and gives the fields that texts came from.
pub(super) fn tell_of_set(
    job: &TrainingJob,
    read: &ReadCorpus,
    set: &TrainingSet,
    session: &Session,
) -> Vec<String> {
    job.tell(read, &set.space, set.num_without_labels);
    session.progress().finish(&format!(
        "{} documents, {} labels, {} features",
        read.num_documents,
        set.space.len(),
        set.features.num_columns()
    ));
    job.data.text_fields(read.reader.format())
}

/// A system of features that has been trained.
pub(super) struct TrainedFeatures {
    pub(super) system: System,
    pub(super) set: TrainingSet,
    /// Fields that the texts came from.
    pub(super) text_fields: Vec<String>,
    pub(super) work: WorkFolder,
    pub(super) seconds: Seconds,
}

impl TrainedFeatures {
    pub(super) fn finish(self, config: &impl FeatureSystem) -> Trained {
        let set = self.set;
        let details = ModelParts {
            config,
            space: &set.space,
            tfidf: set.tfidf.as_ref(),
            text_fields: &self.text_fields,
            num_features: set.features.num_columns(),
            num_documents: set.labels_of_documents.num_rows() as u64,
            evaluation: None,
        }
        .details();
        Trained {
            size: ModelSize::Linear {
                num_features: set.features.num_columns() as u64,
                num_feature_entries: set.features.num_entries() as u64,
            },
            num_without_labels: set.num_without_labels,
            predictor: Predictor::from_parts(self.system, set.space, set.tfidf, details),
            work: self.work,
            seconds: self.seconds,
        }
    }
}

/// Saves a system of features that has been trained.
pub(super) fn save_features(
    config: &impl FeatureSystem,
    trained: &Trained,
    evaluation: Option<(&Evaluation, &str)>,
    writer: ModelWriter,
) -> Result<()> {
    let details = trained.predictor.details();
    ModelParts {
        config,
        space: trained.predictor.labels(),
        tfidf: trained.predictor.tfidf(),
        text_fields: &details.text_fields,
        num_features: details.num_features as usize,
        num_documents: details.num_documents,
        evaluation,
    }
    .save(&trained.work, writer)
}
