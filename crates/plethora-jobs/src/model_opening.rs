//! Opening models to rank with them.

use std::path::Path;

use plethora_core::{Error, Result};
use plethora_system::{Compute, Predictor, Registry, ScoreKind};

/// How models are opened.
#[derive(Debug, Clone, Copy)]
pub struct ModelOpening {
    /// The systems that they may be of.
    pub registry: &'static Registry,
    /// Where and with which numbers to compute.
    pub compute: Compute,
    /// Which scores they give.
    pub scores: ScoreKind,
    /// Rank with the first so many of their trees or networks alone, uncalibrated.
    pub members: Option<usize>,
}

impl ModelOpening {
    /// Opens a model, with the scores that are wanted, and with tuned thresholds where labels are
    /// going to be assigned by them.
    ///
    /// # Errors
    /// If it cannot be opened, or has no tuned thresholds where they are asked for.
    pub fn open(&self, model: &Path, is_tuned: bool) -> Result<Predictor> {
        if is_tuned && self.scores == ScoreKind::Raw {
            return Err(Error::usage(
                "--tuned: thresholds are tuned for calibrated scores, not for --scores raw",
            ));
        }
        let opened = self.registry.open_on(model, self.compute)?;
        let predictor = match self.scores {
            ScoreKind::Prob => opened,
            ScoreKind::Raw => opened.without_calibration(),
        };
        let predictor = match self.members {
            Some(num_members) => predictor.with_members(num_members)?,
            None => predictor,
        };
        if is_tuned && predictor.label_thresholds().is_none() {
            let message = "has no tuned thresholds; `plethora calibrate --thresholds` makes them";
            return Err(Error::model(model, message));
        }
        Ok(predictor)
    }
}
