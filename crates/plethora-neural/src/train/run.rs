//! The training loop.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::time::Instant;

use plethora_core::Error as CoreError;
use rand::Rng;
use tch::Tensor;

use super::batches::BatchPlan;
use super::checkpoint::CheckpointWriter;
use super::label_shards;
use super::memory;
use super::meter::{Meter, Reading};
use super::momentum::MomentumStep;
use super::network::{Network, StepPart};
use super::outcome::{TrainingLength, TrainingOutcome};
use super::prefetch::Step;
use super::row_gradients::RowGradients;
use super::schedule::RateSchedule;
use super::state::TrainingState;
use super::together::{Summed, Together};
use super::trainer::Trainer;
use super::validation::Validator;
use crate::{Error, Result};
use plethora_system::Device;

/// A run from its first step, or from a checkpoint, to its end.
pub(super) struct TrainingRun<'t, 'n, N> {
    trainer: Trainer<'t>,
    network: &'n N,
    plan: BatchPlan,
    state: TrainingState,
    /// The other processes that take the same steps, where there are any.
    together: Option<Together>,
    /// Whether each of them has labels of its own.
    is_divided: bool,
    /// What they have agreed on in the last step.
    agreed: Summed,
    meter: Meter,
    last_checkpoint: Instant,
}

impl<'t, 'n, N: Network> TrainingRun<'t, 'n, N> {
    pub(super) fn new(
        trainer: Trainer<'t>,
        network: &'n N,
        plan: BatchPlan,
        state: TrainingState,
        together: Option<Together>,
    ) -> Self {
        let dense = &network.parameters().dense;
        dense.clear_gradients();
        Self {
            meter: Meter::new(dense.values().device()),
            last_checkpoint: Instant::now(),
            trainer,
            network,
            is_divided: network.parameters().is_divided(),
            plan,
            state,
            together,
            agreed: Summed::default(),
        }
    }

    /// Takes all steps that are left. True if validations without gain ended it.
    pub(super) fn train(
        &mut self,
        steps: &Receiver<Step<N::Batch>>,
        mut validator: Option<&mut dyn Validator<N>>,
    ) -> Result<bool> {
        self.meter.restart();
        loop {
            if let Some(validator) = &mut validator
                && self.needs_validation()
            {
                self.validate(*validator)?;
                if self
                    .state
                    .selection
                    .is_exhausted(self.trainer.config.patience)
                {
                    return Ok(true);
                }
            }
            if self.state.step == self.plan.num_steps() {
                self.report()?;
                return Ok(false);
            }
            if self.needs_checkpoint() {
                self.save()?;
            }
            let Ok(step) = steps.recv() else {
                // The thread that makes batches has panicked, which whoever joins it will see.
                return Err(CoreError::Interrupted.into());
            };
            self.step(&step)?;
            let ends = match self.together {
                None => self.trainer.progress.is_cancelled(),
                Some(_) => self.agreed.ends,
            };
            if ends {
                self.save()?;
                return Err(CoreError::Interrupted.into());
            }
            if self.meter.is_due() {
                self.report()?;
            } else if self.meter.is_quiet()
                && let Some(reading) = self.meter.glance()
            {
                self.show(reading)?;
            }
        }
    }

    fn step(&mut self, own_part: &Step<N::Batch>) -> Result<()> {
        let (batches, num_rounds) = (&own_part.batches, own_part.num_rounds);
        let seed = self.step_seed();
        // Other random numbers in each process.
        let first = batches.first().map_or(0, |batch| batch.number);
        tch::manual_seed(seed.wrapping_add(first as i64));
        let (step, rate) = (self.state.step, self.learning_rate(self.state.step));
        let mut gathered = Vec::new();
        let mut own = Summed {
            saves: self.is_checkpoint_due(),
            ends: self.trainer.progress.is_cancelled(),
            ..Summed::default()
        };
        for round in 0..num_rounds {
            let momenta = self.state.adam.momenta();
            let rate_factor = rate / self.trainer.config.learning_rate;
            let (scale, number) = match batches.get(round) {
                Some(part) => (part.share, part.number),
                None => (0.0, 0),
            };
            let place = StepPart {
                scale,
                // Smaller numbers, so that a network can count on from it.
                seed: seed.wrapping_add((number as i64) << 32) >> 2,
                epoch_progress: self.plan.epochs_at(step).fract(),
                momentum: MomentumStep::new(momenta, rate_factor, (round, num_rounds)),
            };
            let Some(part) = batches.get(round) else {
                own.loss += self.network.assist(&place)?;
                continue;
            };
            let learnt = self.network.learn(&part.batch, &place)?;
            if self.together.is_none() {
                self.meter.add_batch(&learnt.loss, part.num_documents);
            } else {
                own.loss += learnt.loss.double_value(&[]) * part.share;
                own.num_documents += part.num_documents;
            }
            gathered.extend(learnt.rows);
        }
        let _no_grad = tch::no_grad_guard();
        let parameters = self.network.parameters();
        let mut rows = RowGradients::collect(gathered);
        if let Some(together) = self.together {
            let all = together.add_up(parameters, &mut rows, own)?;
            let loss = Tensor::from(all.loss as f32).to_device(parameters.dense.values().device());
            self.meter.add_batch(&loss, all.num_documents);
            self.agreed = all;
        }
        self.meter.end_step();
        let mut gradients: Vec<&Tensor> = vec![parameters.dense.gradients()];
        gradients.extend(rows.iter().map(|part| &part.gradient));
        self.state.clipping.clip(&gradients);
        self.state.adam.update(parameters, &rows, step, rate);
        self.state.step += 1;
        if let Some(average) = &mut self.state.average {
            average.look(parameters, self.state.step);
        }
        self.trainer.progress.advance(1);
        Ok(())
    }

    /// Every step has random numbers of its own, so that no generator is carried from step to step.
    fn step_seed(&self) -> i64 {
        let stream = self.trainer.seed.named("dropout").child(self.state.step);
        stream.rng().next_u64() as i64
    }

    /// The step size of a step, counted from 0.
    fn learning_rate(&self, step: u64) -> f64 {
        let config = self.trainer.config;
        let schedule = RateSchedule {
            schedule: config.schedule,
            warm_up: config.warm_up,
        };
        config.learning_rate * schedule.factor(step, self.plan.num_steps())
    }

    /// Shows and records what the steps since the last time gave.
    fn report(&mut self) -> Result<()> {
        let Some(reading) = self.meter.read() else {
            return Ok(());
        };
        let step = self.state.step;
        self.state.train_seconds += reading.seconds;
        let gpu_gib = self.show(reading)?;
        let mut values = vec![
            ("loss", reading.loss),
            ("learning_rate", self.learning_rate(step - 1)),
            ("documents_per_s", reading.documents_per_s),
            ("step_ms", reading.step_ms),
        ];
        values.extend(gpu_gib.map(|gibibytes| ("gpu_gib", gibibytes)));
        let epoch = self.plan.epochs_at(step);
        self.trainer.journal.record(step, epoch, &values)
    }

    /// Shows figures; returns those of the GPU's memory.
    fn show(&mut self, reading: Reading) -> Result<Option<f64>> {
        if !reading.loss.is_finite() {
            let step = self.state.step;
            return Err(Error::Diverged { step });
        }
        let mut figures = format!(
            "loss {}, {:.0} documents/s",
            significant(reading.loss),
            reading.documents_per_s
        );
        if let Some(best) = &self.state.selection.best {
            figures.push_str(", best ");
            figures.push_str(&best.headline());
        }
        let gpu_gib = (self.gpu_memory()).map(|used| used as f64 / f64::from(1 << 30));
        if let Some(gibibytes) = gpu_gib {
            let _ = write!(figures, ", {gibibytes:.1} GiB of the GPU");
        }
        self.trainer.progress.show(&figures);
        Ok(gpu_gib)
    }

    /// Bytes of the GPU's memory that are in use; none on a processor.
    fn gpu_memory(&self) -> Option<u64> {
        let device = match self.network.parameters().dense.values().device() {
            tch::Device::Cuda(index) => Device::Cuda(index),
            _ => Device::Cpu,
        };
        memory::used_bytes(device)
    }

    /// True where a validation is due that has not been made, also by the run before this one.
    fn needs_validation(&self) -> bool {
        let step = self.state.step;
        if step == 0 || step == self.state.selection.validated_step {
            return false;
        }
        let every = self.trainer.config.validate_every;
        // Rounding must not put off a validation at a whole number.
        let count = |step: u64| (self.plan.epochs_at(step) / every + 1e-9).floor();
        step == self.plan.num_steps() || count(step) > count(step - 1)
    }

    fn validate(&mut self, validator: &mut dyn Validator<N>) -> Result<()> {
        self.report()?;
        let _no_grad = tch::no_grad_guard();
        let (network, step) = (self.network, self.state.step);
        let (together, is_divided) = (self.together, self.is_divided);
        let parameters = network.parameters();
        let selection = &mut self.state.selection;
        let mut work = || {
            let validation = match together {
                None => validator.validate(network)?,
                Some(together) => together.agree(is_divided, || validator.validate(network))?,
            };
            selection.add(step, &validation, parameters);
            Ok(validation)
        };
        let validated = match &self.state.average {
            Some(average) if average.has_begun() => average.in_place(parameters, work),
            _ => work(),
        };
        if let Err(Error::Core(CoreError::Interrupted)) = validated
            && !self.is_divided
        {
            self.save()?;
        }
        let validation = validated?;
        tracing::debug!(
            stage = self.trainer.name,
            step,
            score = validation.score,
            "validated"
        );
        let names: Vec<String> = validation
            .values
            .iter()
            .map(|(name, _)| format!("valid/{name}"))
            .collect();
        let values: Vec<(&str, f64)> = names
            .iter()
            .zip(&validation.values)
            .map(|(name, (_, value))| (name.as_str(), *value))
            .collect();
        let epoch = self.plan.epochs_at(step);
        self.trainer.journal.record(step, epoch, &values)?;
        self.meter.restart();
        Ok(())
    }

    fn needs_checkpoint(&mut self) -> bool {
        // All ranks have something to save, and so all have to do it after the same step.
        if self.is_divided {
            return std::mem::take(&mut self.agreed.saves);
        }
        self.is_checkpoint_due()
    }

    fn is_checkpoint_due(&self) -> bool {
        // The others begin with that of the first one.
        if !self.together.is_none_or(Together::is_first) {
            return false;
        }
        let seconds = self.trainer.config.checkpoint_minutes * 60.0;
        self.last_checkpoint.elapsed().as_secs_f64() >= seconds
    }

    /// Saves a checkpoint, but none of a run that has diverged.
    fn save(&mut self) -> Result<()> {
        if !self.is_divided && !self.together.is_none_or(Together::is_first) {
            return Ok(());
        }
        // A glance and no record: when checkpoints are due, the clock decides.
        let before = self.state.train_seconds;
        if let Some(reading) = self.meter.glance() {
            self.show(reading)?;
            self.state.train_seconds += reading.seconds;
        }
        self.meter.pause();
        let writer = self.writer(&self.trainer.checkpoint_file())?;
        self.state.save(writer, self.network.parameters())?;
        // The next reading counts these seconds.
        self.state.train_seconds = before;
        self.last_checkpoint = Instant::now();
        self.meter.restart();
        Ok(())
    }

    fn writer(&self, path: &Path) -> Result<CheckpointWriter> {
        match self.together {
            Some(together) => together.writer(path),
            None => CheckpointWriter::create(path),
        }
    }

    /// Gives the network its best weights and leaves them for runs to come.
    pub(super) fn complete(self, stopped_early: bool) -> Result<TrainingOutcome> {
        let parameters = self.network.parameters();
        match (&self.state.selection.best, &self.state.average) {
            (None, Some(average)) if average.has_begun() => {
                parameters.trained().copy_from(average.average().0);
            }
            _ => self.state.selection.restore(parameters),
        }
        let writer = self.writer(&self.trainer.weights_file())?;
        let selection = &self.state.selection;
        let outcome = TrainingOutcome {
            steps: self.state.step,
            epochs: self.plan.epochs_at(self.state.step),
            kept: TrainingLength {
                steps: (selection.best.as_ref()).map_or(self.state.step, |_| selection.best_step),
                steps_per_epoch: self.plan.steps_per_epoch(),
            },
            best: self.state.selection.best,
            stopped_early,
            train_seconds: self.state.train_seconds,
        };
        outcome.save(writer, parameters)?;
        if let Some(together) = self.together {
            together.note_weights(self.trainer.name, parameters)?;
        }
        if self.is_divided {
            label_shards::join(parameters)?;
        }
        // Of no use any more; where it cannot go, it does no harm.
        let _ = std::fs::remove_file(self.trainer.checkpoint_file());
        Ok(outcome)
    }
}

/// Four digits that count, for losses of any size.
fn significant(value: f64) -> String {
    let decimals = 3.0 - value.abs().max(1e-9).log10().floor();
    format!("{value:.*}", decimals.clamp(0.0, 12.0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_of_any_size_are_readable() {
        for (loss, shown) in [
            (0.0, "0.000000000000"),
            (0.000_123_44, "0.0001234"),
            (0.5, "0.5000"),
            (23.456, "23.46"),
            (12_345.6, "12346"),
        ] {
            assert_eq!(significant(loss), shown);
        }
    }
}
