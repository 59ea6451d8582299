//! What a finished run is remembered by.

use std::path::Path;

use plethora_core::grouped;
use serde::{Deserialize, Serialize};

use super::checkpoint::{Checkpoint, CheckpointWriter, Layout};
use super::exact::{Exact, ExactValidation};
use super::validation::Validation;
use crate::Result;
use crate::parameters::Parameters;

/// What came out of training.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingOutcome {
    /// Steps taken.
    pub steps: u64,
    /// Passes over the documents.
    pub epochs: f64,
    /// How long training took to the weights that were kept.
    pub kept: TrainingLength,
    /// The validation of the weights that were kept.
    pub best: Option<Validation>,
    /// True if validations without gain ended it.
    pub stopped_early: bool,
    /// Time that the steps took, without validations and checkpoints.
    pub train_seconds: f64,
}

/// How long a network is trained, as a share of passes over documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrainingLength {
    /// Steps.
    pub steps: u64,
    /// Steps of one pass.
    pub steps_per_epoch: u64,
}

/// A [`TrainingOutcome`] beside the final weights.
#[derive(Serialize, Deserialize)]
struct SavedOutcome {
    layout: Layout,
    steps: u64,
    epochs: Exact,
    kept: TrainingLength,
    best: Option<ExactValidation>,
    stopped_early: bool,
    train_seconds: Exact,
}

impl TrainingLength {
    /// Steps that are as many passes over documents that take so many steps, and at least one.
    pub(super) fn steps_at(self, steps_per_epoch: u64) -> u64 {
        let exact = u128::from(self.steps) * u128::from(steps_per_epoch);
        let divisor = u128::from(self.steps_per_epoch.max(1));
        let rounded = (exact + divisor / 2) / divisor;
        u64::try_from(rounded).unwrap_or(u64::MAX).max(1)
    }
}

impl TrainingOutcome {
    /// A few words for the end of a stage.
    pub(super) fn summary(&self) -> String {
        let mut summary = format!("{} steps, {:.1} epochs", grouped(self.steps), self.epochs);
        if let Some(best) = &self.best {
            summary.push_str(", best ");
            summary.push_str(&best.headline());
        }
        if self.stopped_early {
            summary.push_str(", stopped early");
        }
        summary
    }

    /// Writes it and the weights that were kept.
    pub(super) fn save(&self, mut writer: CheckpointWriter, parameters: &Parameters) -> Result<()> {
        writer.add_all("weights", &parameters.trained())?;
        writer.finish(&SavedOutcome {
            layout: parameters.layout(),
            steps: self.steps,
            epochs: self.epochs.into(),
            kept: self.kept,
            best: self.best.as_ref().map(ExactValidation::from),
            stopped_early: self.stopped_early,
            train_seconds: self.train_seconds.into(),
        })
    }

    /// Reads it from the file at `path`, which gives the parameters their values too.
    pub(super) fn load(path: &Path, parameters: &Parameters) -> Result<Self> {
        let checkpoint = Checkpoint::open(path)?;
        let saved: SavedOutcome = checkpoint.state()?;
        checkpoint.check_layout(&saved.layout, &parameters.layout())?;
        checkpoint.read_all("weights", &parameters.trained())?;
        Ok(Self {
            steps: saved.steps,
            epochs: saved.epochs.into(),
            kept: saved.kept,
            best: saved.best.map(Validation::from),
            stopped_early: saved.stopped_early,
            train_seconds: saved.train_seconds.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::TrainingLength;

    #[test]
    fn a_length_is_as_many_passes_over_more_documents() {
        let length = |steps| TrainingLength {
            steps,
            steps_per_epoch: 20,
        };
        assert_eq!(length(60).steps_at(21), 63);
        assert_eq!(length(50).steps_at(21), 53);
        assert_eq!(length(60).steps_at(20), 60);
        assert_eq!(length(1).steps_at(2), 1);
        assert_eq!(length(u64::MAX).steps_at(40), u64::MAX);
    }
}
