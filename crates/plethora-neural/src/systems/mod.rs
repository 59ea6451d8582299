//! What the families of systems share: reading documents, holding some back, fingerprints, groups of
//! labels, batches that are ranked, files of networks.

pub(crate) mod estimate;
pub(crate) mod fingerprint;
pub(crate) mod journal;
pub(crate) mod label_clusters;
pub(crate) mod network_file;
mod piece_features;
pub(crate) mod ranked_batches;
pub(crate) mod rankings;
pub(crate) mod reading;
pub(crate) mod recipes;
pub(crate) mod run_settings;
mod text_set;
pub(crate) mod trained_facts;
pub(crate) mod validation;
pub(crate) mod validation_documents;
mod vectors_config;
pub(crate) mod word_vectors;

pub(crate) use recipes::{DTYPE, SEED, VECTORS};
pub use text_set::{ReadsTexts, TextSet, TextSetBuilder};
pub use validation_documents::ValidationDocuments;
pub use vectors_config::{VectorStart, VectorsConfig};
