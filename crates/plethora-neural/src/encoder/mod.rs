//! From word vectors to what a head takes. **A new encoder** is one file here and one arm of
//! [`Encoder`].

mod bilstm;
mod cnn;

use tch::{Kind, Tensor};

use crate::parameters::{DenseParameters, DenseParametersBuilder};
use crate::start::Start;
use crate::word_config::EncoderConfig;

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

/// What an encoder gives.
pub(crate) enum Encoded {
    /// documents x words x width: a state a word.
    States(Tensor),
    /// documents x width: a vector a document.
    Vector(Tensor),
}

/// An encoder of any kind.
#[derive(Debug)]
pub(crate) enum Encoder {
    BiLstm(BiLstm),
    Cnn(Cnn),
}

impl Encoder {
    /// A fresh encoder of word vectors with `width` numbers.
    pub(crate) fn new(
        config: &EncoderConfig,
        width: usize,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> Self {
        match config {
            EncoderConfig::Bilstm(config) => {
                Self::BiLstm(BiLstm::new(config.clone(), width, builder, start))
            }
            EncoderConfig::Cnn(config) => {
                Self::Cnn(Cnn::new(config.clone(), width, builder, start))
            }
        }
    }

    /// Width of a state or document vector.
    pub(crate) fn width(&self) -> usize {
        match self {
            Self::BiLstm(lstm) => lstm.width(),
            Self::Cnn(cnn) => cnn.width(),
        }
    }

    /// Encodes a batch, computing with numbers of `kind`.
    pub(crate) fn forward(
        &self,
        parameters: &DenseParameters,
        words: &WordVectors<'_>,
        kind: Kind,
    ) -> Encoded {
        match self {
            Self::BiLstm(lstm) => Encoded::States(lstm.forward(parameters, words, kind)),
            Self::Cnn(cnn) => Encoded::Vector(cnn.forward(parameters, words, kind)),
        }
    }
}
