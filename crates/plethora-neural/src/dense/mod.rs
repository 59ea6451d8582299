//! The family of `dense` and `xr-transformer`: a pretrained encoder reads every document once. Linear classifiers over
//! TF-IDF features and vectors side by side, and the nearest documents by vectors and by terms, make one score.
//! In the first the encoder stays as it is, in the second a network learns the labels before (`fine_tuning.rs`), whose
//! encoder is then read with and whose likeliest labels are hard negatives.
//!
//! [`DenseConfig`] has the settings; `text_vectors.rs` leads from texts to vectors, by way of a cache.

mod blend;
mod candidates;
mod config;
pub(crate) mod encoder;
mod estimate;
mod explain;
mod family;
mod fine_tuning;
mod fine_tuning_config;
mod fit;
mod indexes;
mod model;
pub(crate) mod pooling;
mod preparation;
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
pub use fine_tuning_config::{FineTuning, OpenFineTuning};
pub use model::DenseModel;
