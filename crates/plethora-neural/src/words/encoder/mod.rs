//! From word vectors to what a head takes: a state per word, or a vector per document.

mod bilstm;
mod cnn;

use tch::Tensor;

pub(crate) use bilstm::BiLstm;
pub(crate) use cnn::Cnn;

/// Word vectors of a batch.
pub(crate) struct WordVectors<'a> {
    /// documents x words x width; zero where a document is over.
    pub(crate) vectors: &'a Tensor,
    /// Words of each document, falling, on the processor.
    pub(crate) lengths: &'a Tensor,
    /// True in training: then dropout is on.
    pub(crate) is_training: bool,
}
