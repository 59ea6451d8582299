//! Neural classifiers on libtorch. Everything with tensors is in this crate, so that the others
//! build without it.
//!
//! `cargo xtask setup` gets the CPU libraries that this crate links to. The same program uses a GPU
//! when `LD_LIBRARY_PATH` leads to a CUDA build of the same version, see [`Device`].

mod adaptive_config;
mod batch;
mod clustered_attention_config;
mod config;
mod device;
mod encoder;
mod error;
#[cfg(test)]
mod golden;
mod guard;
mod head;
mod memory_need;
mod network_head;
pub mod parameters;
mod piece_batch;
mod piece_config;
mod piece_memory;
mod piece_network;
mod pieces;
mod precision;
mod recipe;
mod start;
mod systems;
mod threads;
pub mod train;
mod transformer;
mod treader;
mod word_config;
mod word_network;

pub use adaptive_config::{AdaptiveConfig, Projection, Roots, TailLoss};
pub use clustered_attention_config::{ClusteredAttentionConfig, DiscriminatorConfig, LabelContext};
pub use config::NeuralConfig;
pub use device::Device;
pub use error::{Error, Result};
pub use head::{Activation, Negatives};
pub use piece_config::{ClustersConfig, DocumentConfig, HeadForm, PieceConfig, PieceHeadConfig};
pub use pieces::{
    PieceCorpusBuilder, PieceRows, Pieces, TOKENIZER_FILE, hub_cache, resolve_encoder,
};
pub use recipe::{PRESETS, RECIPES, recipe};
pub use systems::{
    CONFIG_FILE, Choices, METRICS_FILE, NeighbourVotes, NeuralModel, NeuralParts, NeuralSet,
    NeuralSetBuilder, NeuralTrainer, RankOptions, ReaderExplanation, Sequences, SpanWeights,
    TextReader, ValidationDocuments, check_encoder,
};
pub use threads::set_num_threads;
#[doc(hidden)]
pub use transformer::write_encoder_values;
pub use transformer::{Architecture, ArchitectureKind, DocumentPiece, Pooling, TransformerConfig};
pub use treader::{
    Interaction, Look, MaskSide, NeighbourVectors, NeighboursConfig, OutputKind, PoolingKind,
    ReadingConfig, Residual, TReaderConfig, TReaderForm, TReaderHeadConfig, TeacherConfig,
    TeacherTokens,
};
pub use word_config::{
    AllLabelsConfig, AttentionConfig, BiLstmConfig, CnnConfig, EncoderConfig, HeadConfig,
    PltConfig, VectorStart, VectorsConfig, WordConfig,
};
