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
mod guard;
mod head;
pub mod parameters;
mod start;
pub mod train;
mod word_network;

pub use config::{
    AllLabelsConfig, AttentionConfig, BiLstmConfig, CnnConfig, EncoderConfig, HeadConfig,
    NeuralConfig, PltConfig, VectorStart, VectorsConfig,
};
pub use device::Device;
pub use error::{Error, Result};
