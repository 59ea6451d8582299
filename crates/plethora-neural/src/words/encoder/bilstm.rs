//! A bidirectional LSTM with a learned first state.

use tch::{Kind, Tensor};

use super::WordVectors;
use crate::int8::{Direction, Int8Linear, Int8Lstm, floats};
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
        if let Some(lstm) = self.int8(parameters, vectors) {
            let lengths: Vec<i64> = words.lengths.try_into().expect("a row of whole numbers");
            return lstm.forward(vectors, &lengths);
        }
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

    /// The same in eight bits, where products are computed in these.
    fn int8<'a>(&self, parameters: &'a DenseParameters, vectors: &Tensor) -> Option<&'a Int8Lstm> {
        parameters.int8_lstm(self.weights, vectors, || {
            let weights = self.matrices(parameters, Kind::Float);
            let first = parameters.get(self.first_state).view([2, 2, -1]);
            Int8Lstm::new([0, 1].map(|number| {
                let of = |part: usize| &weights[4 * number + part];
                let linear = |weight: &Tensor, bias: Option<&[f32]>| {
                    let inputs = weight.size()[1] as usize;
                    Int8Linear::new(&floats(weight), inputs, bias)
                };
                let first = |state| floats(&first.get(state).get(number as i64));
                Direction {
                    of_words: linear(of(0), Some(&floats(&(of(2) + of(3))))),
                    of_states: linear(of(1), None),
                    first_hidden: first(0),
                    first_cell: first(1),
                }
            }))
        })
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

#[cfg(test)]
mod tests {
    use plethora_core::SeedStream;
    use tch::Device;

    use super::*;

    const LENGTHS: [i64; 2] = [5, 4];

    fn lstm(word_dropout: f64, dropout: f64, word_skip: bool) -> (BiLstm, DenseParameters) {
        let config = BiLstmConfig {
            hidden: 6,
            word_dropout,
            dropout,
            word_skip,
        };
        let mut builder = DenseParametersBuilder::default();
        let start = Start::seeded(SeedStream::new(2));
        let lstm = BiLstm::new(config, 4, &mut builder, start);
        (lstm, builder.finish(Device::Cpu))
    }

    fn vectors() -> Tensor {
        let start = Start::seeded(SeedStream::new(3));
        let vectors = start.normal(&[2, 5, 4], 1.0);
        let _ = vectors.select(0, 1).select(0, 4).zero_();
        vectors
    }

    fn forward(
        (lstm, parameters): &(BiLstm, DenseParameters),
        vectors: &Tensor,
        is_training: bool,
    ) -> Tensor {
        let words = WordVectors {
            vectors,
            lengths: &Tensor::from_slice(&LENGTHS),
            is_training,
        };
        tch::no_grad(|| lstm.forward(parameters, &words, Kind::Float))
    }

    /// Numbers that are zero, of the words that documents have.
    fn share_of_zeros(states: &Tensor) -> f64 {
        let zeros = states.eq(0.0).sum(Kind::Double).double_value(&[]);
        let behind_the_end = states.size()[2] as f64;
        (zeros - behind_the_end) / (states.numel() as f64 - behind_the_end)
    }

    /// True where every number is zero or so many times the other's.
    fn is_dropped_of(found: &Tensor, clean: &Tensor, times: f64) -> bool {
        let kept = found.ne(0.0).to_kind(Kind::Float);
        found.allclose(&(clean * kept * times), 1e-5, 1e-6, false)
    }

    #[test]
    fn dropout_of_states_falls_on_what_the_lstm_gives() {
        let lstm = lstm(0.0, 0.5, false);
        let clean = forward(&lstm, &vectors(), false);
        tch::manual_seed(1);
        let dropped = forward(&lstm, &vectors(), true);
        // Inside of the LSTM it would change the states that it leaves, too.
        assert!(is_dropped_of(&dropped, &clean, 2.0));
        assert!((0.3..0.7).contains(&share_of_zeros(&dropped)));
        assert_eq!(share_of_zeros(&clean), 0.0);
    }

    #[test]
    fn dropout_of_words_falls_on_their_vectors_and_twice_on_those_beside_states() {
        let (vectors, lstm) = (vectors(), lstm(0.5, 0.0, true));
        tch::manual_seed(1);
        let found = forward(&lstm, &vectors, true);
        tch::manual_seed(1);
        let dropped = vectors.dropout(0.5, true);
        let expected = forward(&lstm, &dropped, false);
        let states = |of: &Tensor| of.narrow(2, 0, 12);
        assert!(states(&found).allclose(&states(&expected), 1e-5, 1e-6, false));
        let beside = found.narrow(2, 12, 4);
        assert!(is_dropped_of(&beside, &dropped, 2.0));
        assert!(share_of_zeros(&beside) > share_of_zeros(&dropped));
    }
}
