//! What the families of systems share: reading documents, holding some back, fingerprints, groups of
//! labels, batches that are ranked, files of networks.

pub(crate) mod attribution;
pub(crate) mod chosen;
pub(crate) mod estimate;
mod family;
pub(crate) mod fingerprint;
pub(crate) mod journal;
pub(crate) mod label_clusters;
mod model;
pub(crate) mod network_file;
mod piece_features;
pub(crate) mod ranked_batches;
pub(crate) mod rankings;
pub(crate) mod reading;
pub(crate) mod recipes;
pub(crate) mod returning;
pub(crate) mod run_settings;
mod text_set;
pub(crate) mod trained_facts;
mod trainer;
pub(crate) mod validation;
pub(crate) mod validation_documents;
pub(crate) mod vectors;
mod vectors_config;
pub(crate) mod word_vectors;

pub use family::{NeuralFamily, NeuralSettings};
pub use model::{NeuralModel, NeuralRanker};
pub(crate) use recipes::{DTYPE, SEED, VECTORS};
pub(crate) use text_set::HeldTexts;
pub use text_set::{NamesFiles, ReadsTexts, TextSet, TextSetBuilder, Texts};
pub(crate) use trainer::{NetworkRun, NetworkStage};
pub use trainer::{SystemTrainer, Trains};
pub use validation_documents::ValidationDocuments;
pub use vectors_config::{VectorStart, VectorsConfig};
