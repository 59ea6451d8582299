//! What scores mean to `predict` and `eval`.

use std::path::Path;

use clap::Args;
use plethora_core::{Error, Result};
use plethora_system::{Cutoff, Predictor, ScoreKind};

use crate::bounds;
use crate::choice::{Choice, one_of};
use crate::device_args::DeviceArgs;

const SCORE_KINDS: [Choice<ScoreKind>; 2] = [
    (
        "prob",
        ScoreKind::Prob,
        "Probabilities, where the model was calibrated; the model's own scores otherwise",
    ),
    (
        "raw",
        ScoreKind::Raw,
        "The model's own scores, whether it was calibrated or not",
    ),
];

/// Which scores, and from which on labels are assigned.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ScoreArgs {
    /// Kind of scores
    #[arg(long, value_name = "KIND", default_value = "prob", value_parser = one_of(&SCORE_KINDS))]
    pub(crate) scores: ScoreKind,

    /// Assign labels by the thresholds that `calibrate --thresholds` has tuned for F1
    #[arg(long, conflicts_with = "threshold")]
    pub(crate) tuned: bool,

    /// Rank with the first N trees or networks of the model alone; their scores are not calibrated
    #[arg(long, value_name = "N", value_parser = bounds::at_least_one())]
    #[arg(conflicts_with = "tuned")]
    pub(crate) members: Option<usize>,
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
        let predictor = match self.members {
            Some(num_members) => predictor.with_members(num_members)?,
            None => predictor,
        };
        if self.tuned && predictor.label_thresholds().is_none() {
            let message = "has no tuned thresholds; `plethora calibrate --thresholds` makes them";
            return Err(Error::model(model, message));
        }
        Ok(predictor)
    }

    /// What labels have to reach: tuned thresholds where they are asked for, else the one score.
    pub(crate) fn cutoff(self, predictor: &Predictor, score: Option<f32>) -> Option<Cutoff> {
        let tuned = self.tuned.then(|| predictor.label_thresholds()).flatten();
        tuned
            .map(|thresholds| Cutoff::PerLabel(thresholds.into()))
            .or_else(|| score.map(Cutoff::Score))
    }
}
