//! TReaderXML: the words of a text, read by attention, on a second side the labels that training documents
//! like it have where these are read, and what becomes of the network's word and the votes of these
//! documents.
//!
//! `neighbour_index.rs` finds the documents, `retriever.rs` knows their labels, `teacher_rows.rs` says which of
//! them a document reads, `batch.rs` is what the network takes, `reading.rs` and `attention.rs` are its parts,
//! `network.rs` puts them together, `mixture.rs` adds the votes. `run.rs` trains it.

mod attention;
mod batch;
mod batches;
mod config;
mod decay;
mod descriptions;
mod estimate;
mod family;
#[cfg(test)]
mod golden;
mod label_head;
mod memory;
mod mixture;
mod model;
mod neighbour_index;
mod network;
mod pooling;
mod power;
mod ranker;
mod reading;
mod retriever;
mod run;
mod scores;
mod sides;
mod teacher;
mod teacher_rows;
mod tokens;
mod training_set;
mod validator;
mod votes;

pub use crate::head::OutputKind;
pub use config::{
    DecayConfig, Descriptions, Interaction, LabelStart, Look, MaskSide, NeighbourVectors,
    NeighboursConfig, PoolingKind, ReadingConfig, Residual, TReaderConfig, TReaderForm,
    TReaderHeadConfig, TeacherConfig, TeacherTokens,
};
pub use family::TREADER;
pub use model::TReaderModel;
pub use training_set::{TReaderReader, TReaderSet, TReaderSetBuilder, TReaderTexts};

/// Trains TReaderXML.
pub type TReaderTrainer<'a> = crate::systems::SystemTrainer<'a, TReaderConfig>;
