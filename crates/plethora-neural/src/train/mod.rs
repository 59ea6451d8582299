//! Training, whatever the system.
//!
//! A [`Trainer`] takes a [`Network`], a [`BatchMaker`] and a [`Validator`], and changes the network's
//! parameters in place. It can be killed at any time: the next run goes on from the latest checkpoint
//! and ends, on the processor, with the same weights to the last bit.

mod adam;
mod averaging;
mod batches;
mod checkpoint;
mod clipping;
mod config;
mod exact;
mod journal;
mod label_shards;
pub mod memory;
mod meter;
mod momentum;
mod network;
mod outcome;
mod prefetch;
mod row_gradients;
mod run;
mod schedule;
mod selection;
mod state;
mod together;
mod trainer;
mod validation;

#[cfg(test)]
pub(crate) use config::example_config;
pub use config::{Averaging, ChosenNumbers, Clip, HoldingBack, LossScale, Schedule, TrainConfig};
pub use journal::{NoJournal, TrainingJournal};
pub use momentum::{MomentumRule, MomentumStep};
pub use network::{BatchMaker, Learnt, Network, StepPart};
pub use outcome::{TrainingLength, TrainingOutcome};
pub use plethora_system::Precision;
pub use schedule::RateSchedule;
pub use trainer::Trainer;
pub use validation::{Validation, Validator};
