//! Training, whatever the system.

mod config;
mod network;

pub use config::{Averaging, Clip, LossScale, Precision, Schedule, TrainConfig};
pub use network::{BatchMaker, Network};
