//! Trials that other processes train, side by side.

use std::collections::BTreeMap;
use std::path::PathBuf;

use plethora_core::Result;
use plethora_core::artifact::WorkFolder;
use plethora_system::settings::Settings;
use serde::{Deserialize, Serialize};

use super::effort;
use super::job::SearchJob;
use super::plan::Step;
use crate::Session;
use crate::training::TrainingJob;

/// Has trials trained elsewhere. A search with one is the same as without: its trials are trained and
/// measured side by side, and taken in their order.
pub trait TrialRunner: Sync {
    /// Begins steps that do not need each other's results, each with a share of the effort.
    fn begin(&self, steps: &[(Step, f64)]) -> Result<()>;

    /// Waits for the end of a step that was begun.
    fn wait(&self, step: Step) -> Result<TrialResult>;
}

/// What came of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialResult {
    /// All metrics, where it was trained.
    pub metrics: BTreeMap<String, f64>,
    /// Why it was not.
    pub message: Option<String>,
    /// How long it took.
    pub seconds: f64,
}

impl SearchJob {
    /// Trains and measures a trial alone, as the search does; `work` is where it leaves its parts.
    pub fn run_trial(
        &self,
        trial: usize,
        share: f64,
        work: PathBuf,
        session: &Session,
    ) -> Result<BTreeMap<String, f64>> {
        let settings = self.space.settings(trial)?;
        settings.config()?;
        let resumes = WorkFolder::path_for(&work).exists();
        let job = TrainingJob {
            output: work,
            resumes,
            ..self.trial(settings, share)
        };
        job.check(session)?;
        let measured = job.try_out(&self.metric.evaluation, session, |_| None)?;
        let measured = measured.expect("a trial has documents to be measured on");
        Ok(measured.evaluation.values().iter().cloned().collect())
    }

    /// The training of a trial with a share of the effort.
    pub(super) fn trial(&self, settings: Settings, share: f64) -> TrainingJob {
        let (documents, epochs) = effort::shares(self.effort, share);
        TrainingJob {
            data: self.documents.train(documents),
            valid: Some(self.documents.valid()),
            settings,
            epoch_share: epochs,
            ..self.training.clone()
        }
    }
}
