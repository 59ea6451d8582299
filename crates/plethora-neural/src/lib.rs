//! Neural classifiers on libtorch. Everything with tensors is in this crate, so that the others
//! build without it.
//!
//! `cargo xtask setup` gets the CPU libraries that this crate links to. The same program uses a GPU
//! when `LD_LIBRARY_PATH` leads to a CUDA build of the same version, see [`Device`].

mod batch;
mod config;
mod device;
mod encoder;
mod error;
#[cfg(test)]
mod golden;
mod guard;
mod head;
mod memory_need;
pub mod parameters;
mod recipe;
mod start;
mod systems;
mod threads;
pub mod train;
mod word_network;

pub use config::{
    AllLabelsConfig, AttentionConfig, BiLstmConfig, CnnConfig, EncoderConfig, HeadConfig,
    NeuralConfig, PltConfig, VectorStart, VectorsConfig,
};
pub use device::Device;
pub use error::{Error, Result};
pub use recipe::{PRESETS, RECIPES, recipe};
pub use systems::{
    CONFIG_FILE, METRICS_FILE, NeuralModel, NeuralParts, NeuralSet, NeuralSetBuilder,
    NeuralTrainer, RankOptions, SpanWeights, ValidationDocuments,
};
pub use threads::set_num_threads;
