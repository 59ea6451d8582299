//! The systems: which networks, in which order, on what. Flat AttentionXML, XML-RNN and XML-CNN are
//! one network over all labels; AttentionXML-PLT is a network for each level of a label tree. Both
//! are [`Level`](levels::Levels)s, the flat ones a single one; LightAttention is a flat one with clusters,
//! or several with clusterings of their own. LightXML is a network of pieces, or
//! several with clusterings of their own ([`piece_run`]), and APLC-XLNet one with another head. TReaderXML is
//! one network of words beside an index of the training documents ([`treader_run`]).

mod adaptive_choices;
mod beam;
mod choices;
mod encoder_files;
mod journal;
mod label_clusters;
mod level_batches;
mod level_validator;
mod levels;
mod model;
mod network_file;
mod open_networks;
mod piece_batches;
mod piece_features;
mod piece_ranker;
mod piece_run;
mod piece_validator;
mod ranked_batches;
mod reader;
mod retriever;
mod save;
mod sequences;
mod trainer;
mod training_set;
mod treader_batches;
mod treader_memory;
mod treader_model;
mod treader_run;
mod treader_validator;
mod validation_documents;
mod word_run;
mod word_vectors;

pub use choices::Choices;
pub use encoder_files::check_encoder;
pub use model::{NeuralModel, RankOptions, SpanWeights};
pub use reader::TextReader;
pub use retriever::NeighbourVotes;
pub use save::{CONFIG_FILE, METRICS_FILE, NeuralParts};
pub use sequences::Sequences;
pub use trainer::NeuralTrainer;
pub use training_set::{NeuralSet, NeuralSetBuilder};
pub use treader_model::ReaderExplanation;
pub use validation_documents::ValidationDocuments;
