//! Neural classifiers on libtorch. Everything with tensors is in this crate, so that the others
//! build without it.
//!
//! `cargo xtask setup` gets the CPU libraries that this crate links to. The same program uses a GPU
//! when `LD_LIBRARY_PATH` leads to a CUDA build of the same version, see [`Device`].

mod config;
mod device;
mod error;
mod guard;
pub mod parameters;
mod recipe;
mod systems;
mod threads;
pub mod train;

pub use config::{
    AllLabelsConfig, AttentionConfig, BiLstmConfig, CnnConfig, EncoderConfig, HeadConfig,
    NeuralConfig, PltConfig, VectorStart, VectorsConfig,
};
pub use device::Device;
pub use error::{Error, Result};
pub use recipe::{PRESETS, RECIPES, recipe};
pub use systems::{
    NeuralModel, NeuralParts, NeuralSet, NeuralSetBuilder, NeuralTrainer, RankOptions,
    ValidationDocuments,
};
pub use threads::set_num_threads;
