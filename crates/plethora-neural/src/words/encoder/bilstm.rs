//! A bidirectional LSTM with a learned first state.

use tch::{Kind, Tensor};

use super::WordVectors;
use crate::parameters::{DenseParameters, DenseParametersBuilder, ParameterId};
use crate::start::Start;
use crate::words::config::BiLstmConfig;

/// Gates of an LSTM: input, forget, cell, output.
const GATES: i64 = 4;

/// Reads a document in both directions.
#[derive(Debug)]
pub(crate) struct BiLstm {
    config: BiLstmConfig,
    word_width: i64,
    /// All matrices and biases in one row, in cuDNN's order: it takes them as they lie only if they
    /// lie so, and copies them at each step otherwise.
    weights: ParameterId,
    /// 4 x hidden: first hidden states of both directions, then first cells.
    first_state: ParameterId,
}

impl BiLstm {
    pub(crate) fn new(
        config: BiLstmConfig,
        word_width: usize,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> Self {
        let hidden = config.hidden as i64;
        let word_width = word_width as i64;
        let total: i64 = shapes(word_width, hidden)
            .iter()
            .map(|shape| shape.iter().product::<i64>())
            .sum();
        let bound = 1.0 / (hidden as f64).sqrt();
        let weights = start.named("lstm").uniform(&[total], bound);
        let first_state = Tensor::zeros([4, hidden], (Kind::Float, tch::Device::Cpu));
        Self {
            weights: builder.add("encoder.lstm", weights),
            first_state: builder.add("encoder.first_state", first_state),
            config,
            word_width,
        }
    }

    /// Width of a state: both directions, and the word's own vector where it is kept.
    pub(crate) fn width(&self) -> usize {
        let words = if self.config.word_skip {
            self.word_width as usize
        } else {
            0
        };
        2 * self.config.hidden + words
    }

    /// # Shapes
    /// Gives documents x words x [`width`](Self::width), zero where a document is over.
    pub(crate) fn forward(
        &self,
        parameters: &DenseParameters,
        words: &WordVectors<'_>,
        kind: Kind,
    ) -> Tensor {
        let vectors = words
            .vectors
            .dropout(self.config.word_dropout, words.is_training);
        let states = self.states(parameters, &vectors, words, kind);
        let states = states.dropout(self.config.dropout, words.is_training);
        if self.config.word_skip {
            // Dropped out once more: the way past the LSTM is the shorter one and would be overused.
            let beside = vectors.dropout(self.config.word_dropout, words.is_training);
            Tensor::cat(&[states, beside], -1)
        } else {
            // Unpacked states lie word by word; heads read them document by document.
            states.contiguous()
        }
    }

    fn states(
        &self,
        parameters: &DenseParameters,
        vectors: &Tensor,
        words: &WordVectors<'_>,
        kind: Kind,
    ) -> Tensor {
        let (num_documents, num_words, _) = vectors.size3().unwrap_or((0, 0, 0));
        let weights = self.matrices(parameters, kind);
        let first = parameters
            .get(self.first_state)
            .to_kind(kind)
            .view([2, 2, 1, self.config.hidden as i64])
            .expand([2, 2, num_documents, self.config.hidden as i64], false)
            .contiguous();
        let first = [first.select(0, 0), first.select(0, 1)];
        let shortest = words.lengths.int64_value(&[num_documents - 1]);
        if shortest == num_words {
            let train = words.is_training;
            return vectors
                .lstm(&first, &weights, true, 1, 0.0, train, true, true)
                .0;
        }
        let (packed, batch_sizes) = vectors.internal_pack_padded_sequence(words.lengths, true);
        let train = words.is_training;
        let (states, _, _) = Tensor::lstm_data(
            &packed,
            &batch_sizes,
            &first,
            &weights,
            true,
            1,
            0.0,
            train,
            true,
        );
        Tensor::internal_pad_packed_sequence(&states, &batch_sizes, true, 0.0, num_words).0
    }

    /// The matrices and biases in the order that libtorch takes them, as views.
    fn matrices(&self, parameters: &DenseParameters, kind: Kind) -> Vec<Tensor> {
        let row = parameters.get(self.weights).to_kind(kind);
        let mut offset = 0;
        let laid_out: Vec<Tensor> = shapes(self.word_width, self.config.hidden as i64)
            .iter()
            .map(|shape| {
                let length = shape.iter().product();
                let part = row.narrow(0, offset, length).view(shape.as_slice());
                offset += length;
                part
            })
            .collect();
        // Laid out: matrices of both directions, then biases of both; taken: direction by direction.
        [0, 1, 4, 5, 2, 3, 6, 7]
            .map(|index: usize| laid_out[index].shallow_clone())
            .into()
    }
}

/// Shapes of the weights in the order in which they lie.
fn shapes(word_width: i64, hidden: i64) -> [Vec<i64>; 8] {
    let rows = GATES * hidden;
    let matrices = [vec![rows, word_width], vec![rows, hidden]];
    let bias = vec![rows];
    let [of_words, of_states] = matrices;
    [
        of_words.clone(),
        of_states.clone(),
        of_words,
        of_states,
        bias.clone(),
        bias.clone(),
        bias.clone(),
        bias,
    ]
}
