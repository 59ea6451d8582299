//! Pretrained transformer encoders from Hugging Face folders: from the pieces of documents to a
//! vector a document. All five architectures are the same layers with other positions, names and
//! small habits, so there is one [`Transformer`] and a file for each thing that differs.
//!
//! **A new architecture** is an arm of [`ArchitectureKind`], its keys in `config_keys.rs` and its
//! tensors in `tensor_names.rs`.

mod architecture;
mod attention;
mod attribution;
mod batch;
mod checkpointing;
mod comparison;
mod config;
mod config_keys;
mod distances;
mod embeddings;
mod encoder;
mod feed_forward;
#[cfg(test)]
mod golden;
mod layer;
mod linear;
mod loader;
mod pre_norm;
mod relative_attention;
mod rotary;
mod tensor_names;
pub(crate) mod trained_folder;
mod weight_files;

pub use architecture::{Architecture, ArchitectureKind, DocumentPiece};
#[doc(hidden)]
pub use comparison::write_encoder_values;
pub use config::{Pooling, TransformerConfig};

pub(crate) use attribution::FromEmbeddings;
pub(crate) use batch::PieceInput;
pub(crate) use encoder::{Trace, Transformer};
pub(crate) use linear::{Linear, Norm};
pub(crate) use loader::Weights;
