//! Systems that read words: AttentionXML, its baselines XML-RNN and XML-CNN, AttentionXML-PLT and
//! LightAttention.
//!
//! A network is an encoder of words and a head (`reader.rs`, `network.rs`). The flat systems are one network
//! over all labels; AttentionXML-PLT is a network for each level of a label tree. Both are
//! levels (`levels.rs`), the flat ones a single one; LightAttention is a flat one with clusters of labels, or
//! several with clusterings of their own. `run.rs` trains all networks of a system,
//! and `model.rs` ranks with them.

mod batch;
mod beam;
mod clustered_attention_config;
mod config;
mod encoder;
mod estimate;
mod family;
#[cfg(test)]
pub(crate) mod golden;
pub(crate) mod head;
mod label_grouping;
mod level_batches;
mod level_validator;
mod levels;
mod memory;
mod model;
mod network;
mod open;
mod plt_config;
mod reader;
mod run;
mod training_set;

pub use clustered_attention_config::{ClusteredAttentionConfig, DiscriminatorConfig, LabelContext};
pub use config::{
    AllLabelsConfig, AttentionConfig, BiLstmConfig, CnnConfig, EncoderConfig, HeadConfig,
    OpenWordConfig, WordConfig,
};
pub use family::WORDS;
pub use model::{SpanWeights, WordModel};
pub use plt_config::{LevelsConfig, PltConfig};
pub use training_set::{WordReader, WordSet, WordSetBuilder, WordTexts};

/// Trains a system of words.
pub type WordTrainer<'a> = crate::systems::SystemTrainer<'a, WordConfig>;
