//! The entry to training.

use std::path::PathBuf;

use plethora_core::artifact::WorkFolder;
use plethora_core::{Error as CoreError, Progress, SeedStream};

use super::batches::BatchPlan;
use super::config::TrainConfig;
use super::journal::TrainingJournal;
use super::label_shards;
use super::network::{BatchMaker, Network};
use super::outcome::{TrainingLength, TrainingOutcome};
use super::prefetch::prefetch;
use super::run::TrainingRun;
use super::state::TrainingState;
use super::together::Together;
use super::validation::Validator;
use crate::Result;

/// Trains a network, knowing nothing of what it computes.
pub struct Trainer<'a> {
    /// Settings.
    pub config: &'a TrainConfig,
    /// Draws the order of documents and what dropout leaves out.
    pub seed: SeedStream,
    /// Where checkpoints are kept.
    pub work: &'a WorkFolder,
    /// Name of the stage and of its files there, as `level-0`.
    pub name: &'a str,
    /// How long it trains, where that is not as many epochs as the settings say.
    pub length: Option<TrainingLength>,
    /// Shows how far it is and says when to stop.
    pub progress: &'a dyn Progress,
    /// Takes loss and metrics.
    pub journal: &'a mut dyn TrainingJournal,
}

impl Trainer<'_> {
    /// Trains to the end, from the stage's checkpoint where the work folder has one, and leaves the
    /// network with the weights of the best validation; without a validator with the averaged ones,
    /// or the last where nothing is averaged. A stage that is complete already gives its
    /// weights at once.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`](CoreError::Interrupted) once the progress is cancelled, with a
    /// checkpoint saved; [`Error::Diverged`](crate::Error::Diverged) when the loss is no number;
    /// [`Error::Write`](CoreError::Write) when a checkpoint cannot be written, with the one before
    /// still there; [`Error::Model`](CoreError::Model) when a checkpoint is damaged or that of
    /// another network; [`Error::Data`](CoreError::Data) without documents; and those of the
    /// network, the validator and the journal.
    pub fn run<N: Network, B: BatchMaker<Batch = N::Batch>>(
        self,
        network: &N,
        batches: &B,
        validator: Option<&mut dyn Validator<N>>,
    ) -> Result<TrainingOutcome> {
        let stage = format!("training {}", self.name);
        let progress = self.progress;
        let together = Together::of_process();
        if let Some(together) = together {
            let files = [self.weights_file(), self.checkpoint_file()];
            let run = format!("{} {:?}", self.work.fingerprint(), self.config);
            together.begin(&run, &files)?;
        }
        if self.weights_file().is_file() {
            let outcome = TrainingOutcome::load(&self.weights_file(), network.parameters())?;
            label_shards::to_device(network.parameters())?;
            self.journal.resume_at(outcome.steps)?;
            progress.start(&stage, Some(outcome.steps));
            progress.advance(outcome.steps);
            progress.finish(&format!("complete already: {}", outcome.summary()));
            return Ok(outcome);
        }
        if batches.num_documents() == 0 {
            return Err(CoreError::data("there are no documents to train on").into());
        }
        let plan = BatchPlan::new(self.config, batches.num_documents(), self.seed);
        let mut plan = plan.lasting(self.length);
        if let Some(together) = together {
            plan = plan.of_process(together.place());
            together.divide(network.parameters())?;
        }
        let mut state = TrainingState::new(self.config, network.parameters(), plan.num_steps());
        if self.checkpoint_file().is_file() {
            state.load(&self.checkpoint_file(), network.parameters())?;
            tracing::info!(
                stage = self.name,
                step = state.step,
                "going on from a checkpoint"
            );
        }
        self.journal.resume_at(state.step)?;
        progress.start(&stage, Some(plan.num_steps()));
        progress.advance(state.step);
        let first_step = state.step;
        let mut run = TrainingRun::new(self, network, plan, state, together);
        let stopped_early = prefetch(&plan, batches, first_step, |steps| {
            run.train(steps, validator)
        })?;
        let outcome = run.complete(stopped_early)?;
        progress.finish(&outcome.summary());
        Ok(outcome)
    }

    /// The state of the run while it lasts.
    pub(super) fn checkpoint_file(&self) -> PathBuf {
        self.work
            .path(&format!("{}.checkpoint.safetensors", self.name))
    }

    /// The weights that were kept, once it is over.
    pub(super) fn weights_file(&self) -> PathBuf {
        self.work
            .path(&format!("{}.weights.safetensors", self.name))
    }
}
