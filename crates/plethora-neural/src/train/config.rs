//! Settings of training.

use plethora_core::Result;
use plethora_core::checks::{above_zero, at_least, number_from, share, share_below_one, within};
use plethora_system::Precision;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::setting::Setting;

/// How weights are found. A system whose recipe leaves numbers to the data and the machine has
/// [`Auto`](plethora_system::settings::Auto) in their place; training takes numbers alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    bound(
        serialize = "Batch: Serialize, Epochs: Serialize, Rate: Serialize + From<f64> + PartialEq",
        deserialize = "Batch: Deserialize<'de>, Epochs: Deserialize<'de>, \
                       Rate: Deserialize<'de> + From<f64>"
    )
)]
#[schemars(bound = "Batch: JsonSchema, Epochs: JsonSchema, \
                    Rate: JsonSchema + Serialize + From<f64> + PartialEq")]
pub struct TrainConfig<Batch = usize, Epochs = usize, Rate = f64> {
    /// Passes over the training documents at most.
    pub epochs: Epochs,
    /// Documents that are computed together.
    pub batch_size: Batch,
    /// Batches whose gradients make one step.
    pub accumulate: usize,
    /// How the losses of a document's labels become one.
    pub loss: LossScale,
    /// Learning rate at its highest.
    pub learning_rate: Rate,
    /// Learning rate of matrices with a row per label, as a multiple of the others'.
    pub label_rate: Rate,
    /// Learning rate of a layer between encoder and labels, as a multiple of the others', in systems that
    /// have one of its own.
    #[serde(
        default = "shared_rate::<Rate>",
        skip_serializing_if = "is_shared_rate"
    )]
    pub hidden_rate: Rate,
    /// Learning rate of word vectors, as a multiple of the others'. A step moves the words of its batch
    /// alone, so that rare words take few steps; longer ones make up for it.
    pub word_rate: f64,
    /// Share by which a step shrinks weights, times the learning rate.
    pub weight_decay: f64,
    /// What Adam adds to the root of the second moment, which keeps steps of tiny gradients small.
    #[serde(default = "usual_epsilon")]
    pub epsilon: f64,
    /// How the learning rate goes on after the warm-up.
    pub schedule: Schedule,
    /// Share of the steps in which the learning rate grows from zero.
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
    /// Whether training begins anew with all documents once those held back have chosen how long it takes.
    #[serde(default)]
    pub return_held_back: bool,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossScale {
    /// Their sum. Gradients of single labels stay far above the optimizer's smallest number.
    Sum,
    /// Their mean, as the paper has it.
    Mean,
}

/// How the learning rate goes on after the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Clip {
    /// Not at all.
    None,
    /// By a fixed norm.
    Fixed,
    /// By a multiple of the largest recent norm, as the program of You et al. 2019 does.
    Adaptive,
}

/// Which weights are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Averaging {
    /// The last ones.
    None,
    /// The mean of all since the start of averaging.
    Mean,
    /// A moving average that forgets early ones.
    Moving,
}

/// Training documents that are kept from training to choose by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HoldingBack {
    /// Share of the documents.
    pub share: f64,
    /// Documents at most.
    pub most: usize,
    /// Whether training begins anew with all documents in the end.
    pub returns: bool,
}

/// The numbers that settings of training may leave open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChosenNumbers {
    /// Passes over the training documents at most.
    pub epochs: usize,
    /// Documents that are computed together.
    pub batch_size: usize,
    /// Learning rate at its highest.
    pub learning_rate: f64,
    /// Learning rate of labels, as a multiple of it.
    pub label_rate: f64,
    /// Learning rate of a layer before the labels, as a multiple of it.
    pub hidden_rate: f64,
}

impl<Batch, Epochs, Rate> TrainConfig<Batch, Epochs, Rate>
where
    Batch: Setting<usize>,
    Epochs: Setting<usize>,
    Rate: Setting<f64>,
{
    /// Refuses settings that cannot work, naming the key.
    pub fn validate(&self) -> Result<()> {
        within("epochs", self.epochs.value().copied(), 1..=1_000_000)?;
        within("batch_size", self.batch_size.value().copied(), 1..=65_536)?;
        within("accumulate", self.accumulate, 1..=65_536)?;
        for (value, key) in [
            (self.learning_rate.value(), "learning_rate"),
            (self.label_rate.value(), "label_rate"),
            (self.hidden_rate.value(), "hidden_rate"),
            (Some(&self.word_rate), "word_rate"),
            (Some(&self.clip_norm), "clip_norm"),
            (Some(&self.validate_every), "validate_every"),
            (Some(&self.epsilon), "epsilon"),
        ] {
            above_zero(key, value.copied())?;
        }
        number_from("weight_decay", self.weight_decay, 0.0)?;
        for (value, key) in [
            (self.warm_up, "warm_up"),
            (self.averaging_start, "averaging_start"),
            (self.averaging_decay, "averaging_decay"),
        ] {
            share(key, value)?;
        }
        at_least("averaging_every", self.averaging_every, 1)?;
        share_below_one("valid_share", self.valid_share)?;
        number_from("checkpoint_minutes", self.checkpoint_minutes, 0.0)
    }
}

impl<Batch, Epochs, Rate> TrainConfig<Batch, Epochs, Rate> {
    /// Which training documents are held back, where none are given to validate on.
    pub(crate) fn holding_back(&self) -> HoldingBack {
        HoldingBack {
            share: self.valid_share,
            most: self.valid_max,
            returns: self.return_held_back,
        }
    }

    /// The same settings with these numbers in the places of those that may be left open.
    #[must_use]
    pub fn settled(&self, numbers: ChosenNumbers) -> TrainConfig {
        TrainConfig {
            epochs: numbers.epochs,
            batch_size: numbers.batch_size,
            accumulate: self.accumulate,
            loss: self.loss,
            learning_rate: numbers.learning_rate,
            label_rate: numbers.label_rate,
            hidden_rate: numbers.hidden_rate,
            word_rate: self.word_rate,
            weight_decay: self.weight_decay,
            epsilon: self.epsilon,
            schedule: self.schedule,
            warm_up: self.warm_up,
            clip: self.clip,
            clip_norm: self.clip_norm,
            averaging: self.averaging,
            averaging_start: self.averaging_start,
            averaging_every: self.averaging_every,
            averaging_decay: self.averaging_decay,
            precision: self.precision,
            valid_share: self.valid_share,
            valid_max: self.valid_max,
            return_held_back: self.return_held_back,
            validate_every: self.validate_every,
            patience: self.patience,
            checkpoint_minutes: self.checkpoint_minutes,
            label_chunk: self.label_chunk,
        }
    }
}

/// Adam's own.
fn usual_epsilon() -> f64 {
    1e-8
}

fn shared_rate<Rate: From<f64>>() -> Rate {
    Rate::from(1.0)
}

fn is_shared_rate<Rate: From<f64> + PartialEq>(rate: &Rate) -> bool {
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
        epsilon: usual_epsilon(),
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
        return_held_back: false,
        validate_every: 1.0,
        patience: 0,
        checkpoint_minutes: 10.0,
        label_chunk: 0,
    }
}
