//! Neural classifiers on libtorch. Everything with tensors is in this crate, so that the others
//! build without it.
//!
//! `cargo xtask setup` gets the CPU libraries that this crate links to. The same program uses a GPU
//! when `LD_LIBRARY_PATH` leads to a CUDA build of the same version, see [`open_device`].

mod batch;
mod clusters_config;
mod curve;
pub mod dense;
mod device;
mod error;
mod guard;
mod head;
mod instructions;
mod int8;
pub mod parameters;
mod precision;
pub mod pretrained;
mod setting;
pub mod siamese;
mod start;
mod systems;
mod threads;
pub mod train;
mod transfer;
mod transformer;
pub mod treader;
pub mod words;

use plethora_system::Family;

pub use clusters_config::ClustersConfig;
pub use device::open_device;
pub use error::{Error, Result};
pub use head::{Activation, Negatives};
pub use instructions::limit_instructions;
pub use setting::Setting;
pub use systems::{
    NamesFiles, NeuralFamily, NeuralModel, NeuralRanker, NeuralSettings, ReadsTexts, SystemTrainer,
    TextSet, TextSetBuilder, Texts, Trains, ValidationDocuments, VectorStart, VectorsConfig,
};
pub use threads::set_num_threads;
#[doc(hidden)]
pub use transformer::write_encoder_values;
pub use transformer::{Architecture, ArchitectureKind, DocumentPiece, Pooling, TransformerConfig};

/// The families of this crate.
pub static FAMILIES: [&dyn Family; 5] = [
    &words::WORDS,
    &pretrained::PRETRAINED,
    &treader::TREADER,
    &dense::Dense,
    &siamese::Siamese,
];
