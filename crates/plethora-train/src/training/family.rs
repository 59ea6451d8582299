//! What differs between the families of systems.

use plethora_core::Result;
use plethora_core::artifact::{ModelWriter, WorkFolder};
use plethora_core::metrics::Evaluation;
use plethora_predict::Predictor;

use super::job::TrainingJob;
use super::report::{ModelSize, Seconds};
use crate::Session;
use crate::settings::SystemConfig;

/// The settings of a family's systems know how to train and save them.
pub(super) trait Family {
    /// Finds what is missing before hours are spent on the rest.
    fn check(&self, job: &TrainingJob) -> Result<()>;

    /// Reads the corpus and trains, or goes on with an interrupted run.
    fn train(&self, job: &TrainingJob, session: &Session) -> Result<Trained>;

    /// Completes the model of `writer`; `evaluation` says on which documents it was made.
    fn save(
        &self,
        trained: &Trained,
        evaluation: Option<(&Evaluation, &str)>,
        writer: ModelWriter,
    ) -> Result<()>;

    /// From where an interrupted run goes on.
    fn resume_point(&self) -> &'static str;
}

/// A model between training and saving; the training documents are forgotten.
pub(super) struct Trained {
    pub(super) predictor: Predictor,
    pub(super) work: WorkFolder,
    pub(super) num_without_labels: u64,
    pub(super) size: ModelSize,
    /// The stages so far.
    pub(super) seconds: Seconds,
}

impl SystemConfig {
    /// The family of the system.
    pub(super) fn family(&self) -> &dyn Family {
        match self {
            Self::Linear(config) => config.as_ref(),
            Self::Knn(config) => config.as_ref(),
            #[cfg(feature = "torch")]
            Self::Neural(config) => config.as_ref(),
        }
    }

    /// From where an interrupted run goes on, for messages.
    pub fn resume_point(&self) -> &'static str {
        self.family().resume_point()
    }
}
