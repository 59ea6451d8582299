//! Settings of training.

use plethora_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// How weights are found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainConfig {
    /// Passes over the training documents at most.
    pub epochs: usize,
    /// Documents that are computed together; 0 leaves the choice to systems that make it.
    pub batch_size: usize,
    /// Batches whose gradients make one step.
    pub accumulate: usize,
    /// How the losses of a document's labels become one.
    pub loss: LossScale,
    /// Step size at its highest.
    pub learning_rate: f64,
    /// Step size of matrices with a row a label, as a multiple of the others'.
    pub label_rate: f64,
    /// Step size of a layer between encoder and labels, as a multiple of the others', in systems that
    /// have one of its own.
    #[serde(default = "shared_rate", skip_serializing_if = "is_shared_rate")]
    pub hidden_rate: f64,
    /// Step size of word vectors, as a multiple of the others'. A step moves the words of its batch
    /// alone, so that rare words take few steps; longer ones make up for it.
    pub word_rate: f64,
    /// Share by which a step shrinks weights, times the step size.
    pub weight_decay: f64,
    /// How the step size goes on after the warm-up.
    pub schedule: Schedule,
    /// Share of the steps in which the step size grows from zero.
    pub warm_up: f64,
    /// How gradients are kept from growing too large.
    pub clip: Clip,
    /// The largest norm of a gradient; with adaptive clipping the multiple of recent norms.
    pub clip_norm: f64,
    /// Which weights are kept in the end.
    pub averaging: Averaging,
    /// Share of the steps after which averaging starts.
    pub averaging_start: f64,
    /// Steps between two looks at the weights.
    pub averaging_every: usize,
    /// How much of a moving average stays at each look.
    pub averaging_decay: f64,
    /// Numbers that are computed with.
    pub precision: Precision,
    /// Share of the training documents held back for validation, where none are given.
    pub valid_share: f64,
    /// Documents held back at most.
    pub valid_max: usize,
    /// Epochs between two validations.
    pub validate_every: f64,
    /// Validations without gain after which training stops; 0 never stops.
    pub patience: usize,
    /// Minutes between two checkpoints; 0 saves one after each step.
    pub checkpoint_minutes: f64,
    /// Labels whose attention is computed together; 0 chooses by the memory.
    pub label_chunk: usize,
}

/// How the losses of a document's labels become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossScale {
    /// Their sum. Gradients of single labels stay far above the optimizer's smallest number.
    Sum,
    /// Their mean, as the paper has it.
    Mean,
}

/// How the step size goes on after the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// It stays.
    Constant,
    /// It falls to zero along a line.
    Linear,
    /// It falls to zero along half a cosine.
    Cosine,
}

/// How gradients are kept from growing too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clip {
    /// Not at all.
    None,
    /// By a fixed norm.
    Fixed,
    /// By a multiple of the largest recent norm, as AttentionXML's program does.
    Adaptive,
}

/// Which weights are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Averaging {
    /// The last ones.
    None,
    /// The mean of all since the start of averaging.
    Mean,
    /// A moving average that forgets early ones.
    Moving,
}

/// Numbers that are computed with; weights are kept in 32 bits always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// bf16 on GPUs, f32 on processors.
    Auto,
    /// 32 bits.
    F32,
    /// 16 bits with the exponents of 32.
    Bf16,
}

impl TrainConfig {
    /// Refuses settings that cannot work, naming the key.
    pub fn validate(&self) -> Result<()> {
        let check = |is_valid: bool, key: &str, message: &str| {
            if is_valid {
                Ok(())
            } else {
                Err(Error::config(key, message))
            }
        };
        let positive = |value: f64| value > 0.0 && value.is_finite();
        let share = |value: f64| (0.0..=1.0).contains(&value);
        check(
            (1..=1_000_000).contains(&self.epochs),
            "epochs",
            "must be from 1 to 1000000",
        )?;
        check(
            (1..=65_536).contains(&self.batch_size),
            "batch_size",
            "must be from 1 to 65536",
        )?;
        check(
            (1..=65_536).contains(&self.accumulate),
            "accumulate",
            "must be from 1 to 65536",
        )?;
        for (value, key) in [
            (self.learning_rate, "learning_rate"),
            (self.label_rate, "label_rate"),
            (self.hidden_rate, "hidden_rate"),
            (self.word_rate, "word_rate"),
            (self.clip_norm, "clip_norm"),
            (self.validate_every, "validate_every"),
        ] {
            check(positive(value), key, "must be a number above 0")?;
        }
        check(
            self.weight_decay >= 0.0 && self.weight_decay.is_finite(),
            "weight_decay",
            "must be a number from 0",
        )?;
        for (value, key) in [
            (self.warm_up, "warm_up"),
            (self.averaging_start, "averaging_start"),
            (self.averaging_decay, "averaging_decay"),
        ] {
            check(share(value), key, "must be a number from 0 to 1")?;
        }
        check(
            self.averaging_every >= 1,
            "averaging_every",
            "must be at least 1",
        )?;
        check(
            (0.0..1.0).contains(&self.valid_share),
            "valid_share",
            "must be a number from 0 to below 1",
        )?;
        check(
            self.checkpoint_minutes >= 0.0 && self.checkpoint_minutes.is_finite(),
            "checkpoint_minutes",
            "must be a number from 0",
        )
    }
}

impl TrainConfig {
    /// As [`validate`](Self::validate), for settings in which a batch of 0 documents leaves a choice.
    pub(crate) fn validate_with_open_batch(&self) -> Result<()> {
        Self {
            batch_size: self.batch_size.max(1),
            ..self.clone()
        }
        .validate()
    }

    /// As [`validate`](Self::validate), for settings in which some zeros leave a choice.
    pub(crate) fn validate_with_choices(&self) -> Result<()> {
        let or_one = |value: f64| if value == 0.0 { 1.0 } else { value };
        Self {
            epochs: self.epochs.max(1),
            batch_size: self.batch_size.max(1),
            learning_rate: or_one(self.learning_rate),
            label_rate: or_one(self.label_rate),
            hidden_rate: or_one(self.hidden_rate),
            ..self.clone()
        }
        .validate()
    }
}

fn shared_rate() -> f64 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_shared_rate(rate: &f64) -> bool {
    *rate == shared_rate()
}

/// Settings that tests change where they need to.
#[cfg(test)]
pub(crate) fn example_config() -> TrainConfig {
    TrainConfig {
        epochs: 1,
        batch_size: 8,
        accumulate: 1,
        loss: LossScale::Sum,
        learning_rate: 0.01,
        label_rate: 1.0,
        hidden_rate: 1.0,
        word_rate: 1.0,
        weight_decay: 0.0,
        schedule: Schedule::Constant,
        warm_up: 0.0,
        clip: Clip::None,
        clip_norm: 1.0,
        averaging: Averaging::None,
        averaging_start: 0.5,
        averaging_every: 1,
        averaging_decay: 0.9,
        precision: Precision::F32,
        valid_share: 0.1,
        valid_max: 100,
        validate_every: 1.0,
        patience: 0,
        checkpoint_minutes: 10.0,
        label_chunk: 0,
    }
}
