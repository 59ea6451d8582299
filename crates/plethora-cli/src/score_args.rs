//! What scores mean to `predict` and `eval`.

use std::path::Path;

use clap::{Args, ValueEnum};
use plethora_core::{Error, Result};
use plethora_system::Predictor;

use crate::device_args::DeviceArgs;

/// Kinds of scores; the words here are those of `--help`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScoreKind {
    /// Probabilities, where the model was calibrated; the model's own scores otherwise
    Prob,
    /// The model's own scores, whether it was calibrated or not
    Raw,
}

/// Which scores, and from which on labels are assigned.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ScoreArgs {
    /// Kind of scores
    #[arg(long, value_name = "KIND", default_value = "prob")]
    pub(crate) scores: ScoreKind,

    /// Assign labels by the thresholds that `calibrate --thresholds` has tuned for F1
    #[arg(long, conflicts_with = "threshold")]
    pub(crate) tuned: bool,
}

impl From<ScoreKind> for plethora_system::ScoreKind {
    fn from(kind: ScoreKind) -> Self {
        match kind {
            ScoreKind::Prob => Self::Prob,
            ScoreKind::Raw => Self::Raw,
        }
    }
}

impl ScoreArgs {
    /// Refuses what contradicts itself.
    pub(crate) fn check(self) -> Result<(), Error> {
        if self.tuned && self.scores == ScoreKind::Raw {
            return Err(Error::usage(
                "--tuned: thresholds are tuned for calibrated scores, not for --scores raw",
            ));
        }
        Ok(())
    }

    /// Opens a model, with the scores that are wanted.
    ///
    /// # Errors
    /// If it cannot be opened, or has no tuned thresholds where they are asked for.
    pub(crate) fn open(self, model: &Path, device: DeviceArgs) -> Result<Predictor> {
        let predictor = match self.scores {
            ScoreKind::Prob => device.open(model)?,
            ScoreKind::Raw => device.open(model)?.without_calibration(),
        };
        if self.tuned && predictor.label_thresholds().is_none() {
            let message = "has no tuned thresholds; `plethora calibrate --thresholds` makes them";
            return Err(Error::model(model, message));
        }
        Ok(predictor)
    }

    /// The thresholds of all labels, where tuned ones are asked for.
    pub(crate) fn thresholds(self, predictor: &Predictor) -> Option<Vec<f32>> {
        self.tuned.then(|| predictor.label_thresholds()).flatten()
    }
}
