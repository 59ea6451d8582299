//! The family of the system `dense`: a pretrained encoder reads every document once and stays as it is.
//! Linear classifiers over TF-IDF features and vectors side by side, and the nearest documents by vectors
//! and by terms, make one score.
//!
//! [`DenseConfig`] has the settings; `text_vectors.rs` leads from texts to vectors, by way of a cache.

mod blend;
mod config;
pub(crate) mod encoder;
mod estimate;
mod explain;
mod family;
mod fit;
mod indexes;
mod model;
pub(crate) mod pooling;
mod rows;
pub(crate) mod text_vectors;
mod trainable;
mod trainer;
mod training_set;
mod vector_cache;

use crate::systems::vectors;

pub use config::{
    ClassifiersConfig, DenseConfig, DocumentConfig, EncoderConfig, FitConfig, NeighboursConfig,
    OpenDenseConfig,
};
pub use family::Dense;
pub use model::DenseModel;
