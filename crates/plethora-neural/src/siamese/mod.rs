//! The family of the system `siamese`: one encoder reads documents and names of labels, and a label's score
//! is how alike the two vectors are. Labels with documents have what was learnt from these beside their
//! names; labels without any are known by their names alone, and so is everything before training.
//!
//! [`SiameseConfig`] has the settings. `network.rs` and `loss.rs` are what is trained, `prototypes.rs` makes
//! one vector of all that is known of a label.

mod addition;
mod batches;
mod config;
mod estimate;
mod explain;
mod family;
mod label_texts;
mod loss;
mod mining;
mod model;
mod network;
mod projection;
mod prototypes;
mod search;
mod tensors;
mod trainable;
mod trainer;
mod training_set;
mod validator;

pub use config::{
    EncoderConfig, NegativesConfig, OpenSiameseConfig, PrototypeConfig, SiameseConfig,
};
pub use family::Siamese;
pub use model::SiameseModel;
