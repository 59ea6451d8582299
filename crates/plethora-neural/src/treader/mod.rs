//! TReaderXML's network: words of a text, read by attention, on a second side the labels that training documents
//! like it have where these are read, and what becomes of the network's word and the votes of these documents.
//!
//! `teacher_rows.rs` says which labels a document's neighbours bring, `batch.rs` is what the network
//! takes, `reading.rs` and `attention.rs` are its parts, `network.rs` puts them together, `mixture.rs` adds the votes.

mod attention;
mod batch;
mod config;
#[cfg(test)]
mod golden;
mod label_head;
mod mixture;
mod network;
mod pooling;
mod reading;
mod scores;
mod sides;
mod teacher;
mod teacher_rows;
mod tokens;
mod votes;

pub use config::{
    Interaction, Look, MaskSide, NeighbourVectors, NeighboursConfig, OutputKind, PoolingKind,
    ReadingConfig, Residual, TReaderConfig, TReaderForm, TReaderHeadConfig, TeacherConfig,
    TeacherTokens,
};

pub(crate) use batch::{DocumentWords, TReaderBatch};
pub(crate) use mixture::{MIXED_DEPTH, Mixture, ToMix};
pub(crate) use network::{TReaderNetwork, TReaderSetup};
pub(crate) use teacher::Teacher;
pub(crate) use teacher_rows::{TeacherRow, TeacherRows};
