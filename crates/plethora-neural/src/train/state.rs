//! Everything that a run carries from step to step.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tch::Device;

use super::adam::Adam;
use super::averaging::WeightAverage;
use super::checkpoint::{Checkpoint, CheckpointWriter, Layout};
use super::clipping::Clipping;
use super::config::TrainConfig;
use super::exact::{Exact, ExactValidation};
use super::selection::Selection;
use super::validation::Validation;
use crate::Result;
use crate::parameters::Parameters;

/// The state of a run beside the parameters. The order of documents and the random numbers of a step
/// follow from the seed and the step, so that this is enough to go on as if nothing had happened.
#[derive(Debug)]
pub(super) struct TrainingState {
    /// Steps taken.
    pub(super) step: u64,
    /// Time that they took.
    pub(super) train_seconds: f64,
    pub(super) adam: Adam,
    pub(super) clipping: Clipping,
    pub(super) average: Option<WeightAverage>,
    pub(super) selection: Selection,
}

/// The numbers of a [`TrainingState`] in a checkpoint.
#[derive(Serialize, Deserialize)]
struct SavedState {
    layout: Layout,
    step: u64,
    train_seconds: Exact,
    num_looks: u64,
    best: Option<ExactValidation>,
    best_step: u64,
    num_without_gain: u64,
    validated_step: u64,
}

impl TrainingState {
    /// The state before the first of `total` steps.
    pub(super) fn new(config: &TrainConfig, parameters: &Parameters, total: u64) -> Self {
        Self {
            step: 0,
            train_seconds: 0.0,
            adam: Adam::new(config, parameters),
            clipping: Clipping::new(config, parameters.dense.values().device()),
            average: WeightAverage::new(config, parameters, total),
            selection: Selection::default(),
        }
    }

    /// Writes state and parameters.
    pub(super) fn save(&self, mut writer: CheckpointWriter, parameters: &Parameters) -> Result<()> {
        writer.add_all("weights", &parameters.trained())?;
        for (name, moments) in self.adam.moments() {
            writer.add_all(name, moments)?;
        }
        writer.add("recent_norms", self.clipping.recent())?;
        let mut num_looks = 0;
        if let Some(average) = &self.average {
            let (values, looks) = average.average();
            writer.add_all("average", values)?;
            num_looks = looks;
        }
        if let Some(best) = &self.selection.weights {
            writer.add_all("best", best)?;
        }
        writer.finish(&SavedState {
            layout: parameters.layout(),
            step: self.step,
            train_seconds: self.train_seconds.into(),
            num_looks,
            best: self.selection.best.as_ref().map(ExactValidation::from),
            best_step: self.selection.best_step,
            num_without_gain: self.selection.num_without_gain,
            validated_step: self.selection.validated_step,
        })
    }

    /// Goes on from the file at `path`, which gives the parameters their values too.
    pub(super) fn load(&mut self, path: &Path, parameters: &Parameters) -> Result<()> {
        let checkpoint = Checkpoint::open(path)?;
        let saved: SavedState = checkpoint.state()?;
        checkpoint.check_layout(&saved.layout, &parameters.layout())?;
        checkpoint.read_all("weights", &parameters.trained())?;
        for (name, moments) in self.adam.moments() {
            checkpoint.read_all(name, moments)?;
        }
        checkpoint.read("recent_norms", self.clipping.recent())?;
        if let Some(average) = &mut self.average {
            checkpoint.read_all("average", average.average().0)?;
            average.set_num_looks(saved.num_looks);
        }
        if checkpoint.contains("best") {
            let best = parameters.trained().copy_to(Device::Cpu);
            checkpoint.read_all("best", &best)?;
            self.selection.weights = Some(best);
        }
        self.selection.best = saved.best.map(Validation::from);
        self.selection.best_step = saved.best_step;
        self.selection.num_without_gain = saved.num_without_gain;
        self.selection.validated_step = saved.validated_step;
        self.step = saved.step;
        self.train_seconds = saved.train_seconds.into();
        Ok(())
    }
}
