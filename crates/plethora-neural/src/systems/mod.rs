//! The systems: which networks, in which order, on what. Flat AttentionXML, XML-RNN and XML-CNN are
//! one network over all labels; AttentionXML-PLT is a network for each level of a label tree. Both
//! are [`Level`](levels::Levels)s, the flat ones a single one.

mod beam;
mod journal;
mod level_batches;
mod level_validator;
mod levels;
mod model;
mod network_file;
mod save;
mod trainer;
mod training_set;
mod validation_documents;
mod word_vectors;

pub use model::{NeuralModel, RankOptions, SpanWeights};
pub use save::{CONFIG_FILE, METRICS_FILE, NeuralParts};
pub use trainer::NeuralTrainer;
pub use training_set::{NeuralSet, NeuralSetBuilder};
pub use validation_documents::ValidationDocuments;
