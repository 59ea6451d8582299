//! An LSTM in both directions, with products in eight bits.

use half::bf16;
use rayon::prelude::*;
use tch::{Kind, Tensor};

use super::dots::{Dots, MOST_ROWS};
use super::linear::Int8Linear;
use super::memory::{Number, numbers, numbers_mut};
use super::product::{Take, Work, product, run};
use super::rows::Int8Rows;
use crate::curve::{sigmoid, tanh};

/// Gates: input, forget, cell, output.
const GATES: usize = 4;

/// Steps whose words are multiplied at once.
const STEPS_AT_ONCE: usize = 8;

/// Reads documents in both directions.
#[derive(Debug)]
pub(crate) struct Int8Lstm {
    directions: [Direction; 2],
}

/// What one direction reads with.
#[derive(Debug)]
pub(crate) struct Direction {
    /// gates * hidden x width of a word, with all that is added to the gates.
    pub(crate) of_words: Int8Linear,
    /// gates * hidden x hidden.
    pub(crate) of_states: Int8Linear,
    pub(crate) first_hidden: Vec<f32>,
    pub(crate) first_cell: Vec<f32>,
}

/// Documents of some words each, padded to equal length.
#[derive(Debug, Clone, Copy)]
struct Documents<'a, T> {
    vectors: &'a [T],
    width: usize,
    num_words: usize,
    /// Falling.
    lengths: &'a [i64],
}

impl Int8Lstm {
    pub(crate) fn new(directions: [Direction; 2]) -> Self {
        Self { directions }
    }

    /// The states of all words, zero where a document is over; lengths fall.
    ///
    /// # Shapes
    /// From documents x words x width to documents x words x 2 hidden.
    pub(crate) fn forward(&self, vectors: &Tensor, lengths: &[i64]) -> Tensor {
        match vectors.kind() {
            Kind::BFloat16 => self.forward_of::<bf16>(vectors, lengths),
            _ => self.forward_of::<f32>(vectors, lengths),
        }
    }

    fn forward_of<T: Number>(&self, vectors: &Tensor, lengths: &[i64]) -> Tensor {
        let (num_documents, num_words, width) = vectors.size3().unwrap_or_default();
        let hidden = self.directions[0].first_hidden.len();
        // Direction by direction, so that each group writes to a part of its own.
        let shape = [2, num_documents, num_words, hidden as i64];
        let mut states = Tensor::zeros(shape, (T::KIND, vectors.device()));
        if states.numel() > 0 {
            let vectors = vectors.contiguous();
            let documents = Documents {
                vectors: numbers::<T>(&vectors),
                width: width as usize,
                num_words: num_words as usize,
                lengths,
            };
            let per_document = num_words as usize * hidden;
            let (forward, backward) =
                numbers_mut::<T>(&mut states).split_at_mut(num_documents as usize * per_document);
            let groups =
                |direction: usize, states| groups_of(states, per_document * MOST_ROWS, direction);
            let mut groups: Vec<_> = groups(0, forward).chain(groups(1, backward)).collect();
            let read = |(direction, group, states): &mut (usize, usize, &mut [T])| {
                run(Reading {
                    direction: &self.directions[*direction],
                    is_backward: *direction == 1,
                    documents: documents.group(*group),
                    states,
                });
            };
            if tch::get_num_threads() > 1 {
                groups.par_iter_mut().for_each(read);
            } else {
                groups.iter_mut().for_each(read);
            }
        }
        let both = [num_documents, num_words, 2 * hidden as i64];
        states.permute([1, 2, 0, 3]).reshape(both)
    }
}

/// The states of groups of documents, with the numbers of direction and group.
fn groups_of<T>(
    states: &mut [T],
    length: usize,
    direction: usize,
) -> impl Iterator<Item = (usize, usize, &mut [T])> {
    let groups = states.chunks_mut(length).enumerate();
    groups.map(move |(group, states)| (direction, group, states))
}

impl<'a, T> Documents<'a, T> {
    /// Documents that are read together.
    fn group(self, group: usize) -> Self {
        let first = group * MOST_ROWS;
        let end = (first + MOST_ROWS).min(self.lengths.len());
        let per_document = self.num_words * self.width;
        Self {
            vectors: &self.vectors[first * per_document..end * per_document],
            lengths: &self.lengths[first..end],
            ..self
        }
    }

    /// Documents that have a word at this step.
    fn active(&self, step: usize) -> usize {
        self.lengths
            .partition_point(|length| *length as usize > step)
    }

    /// Where a document stands at this step.
    fn place(&self, document: usize, step: usize, is_backward: bool) -> usize {
        if is_backward {
            self.lengths[document] as usize - 1 - step
        } else {
            step
        }
    }

    fn vector(&self, document: usize, place: usize) -> &'a [T] {
        &self.vectors[(document * self.num_words + place) * self.width..][..self.width]
    }
}

/// One direction of some documents.
struct Reading<'a, 's, T> {
    direction: &'a Direction,
    is_backward: bool,
    documents: Documents<'a, T>,
    states: &'s mut [T],
}

impl<T: Number> Work for Reading<'_, '_, T> {
    #[inline(always)]
    fn run<D: Dots>(self, dots: D) {
        let Self {
            direction,
            is_backward,
            documents,
            states,
        } = self;
        let num_documents = documents.lengths.len();
        let hidden = direction.first_hidden.len();
        let gates = GATES * hidden;
        let mut hiddens = direction.first_hidden.repeat(num_documents);
        let mut cells = direction.first_cell.repeat(num_documents);
        let mut of_words = vec![0.0_f32; STEPS_AT_ONCE * num_documents * gates];
        let (mut word_rows, mut state_rows) = (Int8Rows::default(), Int8Rows::default());
        let longest = documents
            .lengths
            .first()
            .map_or(0, |length| *length as usize);
        for start in (0..longest).step_by(STEPS_AT_ONCE) {
            let steps = start..longest.min(start + STEPS_AT_ONCE);
            word_rows.clear(documents.width);
            for step in steps.clone() {
                for document in 0..documents.active(step) {
                    let place = documents.place(document, step, is_backward);
                    word_rows.push(documents.vector(document, place));
                }
            }
            let of_word = Sums {
                width: gates,
                sums: &mut of_words,
            };
            product(dots, &word_rows, &direction.of_words, of_word);
            let mut first_row = 0;
            for step in steps {
                let active = documents.active(step);
                let sums = &mut of_words[first_row * gates..][..active * gates];
                first_row += active;
                state_rows.fill(&hiddens[..active * hidden], hidden);
                let of_state = MoreSums(Sums { width: gates, sums });
                product(dots, &state_rows, &direction.of_states, of_state);
                for document in 0..active {
                    let sums = &sums[document * gates..][..gates];
                    let cells = &mut cells[document * hidden..][..hidden];
                    let hiddens = &mut hiddens[document * hidden..][..hidden];
                    advance(sums, cells, hiddens);
                    let place = documents.place(document, step, is_backward);
                    let start = (document * documents.num_words + place) * hidden;
                    let states = &mut states[start..][..hidden];
                    for (state, hidden) in states.iter_mut().zip(hiddens.iter()) {
                        *state = T::of(*hidden);
                    }
                }
            }
        }
    }
}

/// What words say to the gates.
struct Sums<'a> {
    width: usize,
    sums: &'a mut [f32],
}

impl Sums<'_> {
    #[inline(always)]
    fn of(&mut self, row: usize, first: usize, number: usize) -> &mut [f32] {
        &mut self.sums[row * self.width + first..][..number]
    }
}

impl Take for Sums<'_> {
    #[inline(always)]
    fn take(&mut self, row: usize, first: usize, values: &mut [f32]) {
        self.of(row, first, values.len()).copy_from_slice(values);
    }
}

/// The same, and what the state before says.
struct MoreSums<'a>(Sums<'a>);

impl Take for MoreSums<'_> {
    #[inline(always)]
    fn take(&mut self, row: usize, first: usize, values: &mut [f32]) {
        let sums = self.0.of(row, first, values.len());
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += *value;
        }
    }
}

/// One step of one document.
#[inline(always)]
fn advance(sums: &[f32], cells: &mut [f32], hiddens: &mut [f32]) {
    let width = cells.len();
    let (input, rest) = sums.split_at(width);
    let (forget, rest) = rest.split_at(width);
    let (new, output) = rest.split_at(width);
    let output = &output[..width];
    for place in 0..width {
        let kept = sigmoid(forget[place]) * cells[place];
        cells[place] = kept + sigmoid(input[place]) * tanh(new[place]);
        hiddens[place] = sigmoid(output[place]) * tanh(cells[place]);
    }
}

#[cfg(test)]
mod tests {
    use tch::Device;

    use super::*;
    use crate::threads::with_threads;

    const LENGTHS: [i64; 8] = [19, 19, 17, 12, 9, 8, 8, 1];

    fn drawn(shape: &[i64], scale: f64) -> Tensor {
        Tensor::randn(shape, (Kind::Float, Device::Cpu)) * scale
    }

    fn floats(tensor: &Tensor) -> Vec<f32> {
        tensor
            .to_kind(Kind::Float)
            .flatten(0, -1)
            .try_into()
            .unwrap()
    }

    /// One with hidden states of so many numbers, and its weights as libtorch takes them.
    fn example(width: i64, hidden: i64) -> (Int8Lstm, Vec<Tensor>, [Tensor; 2]) {
        tch::manual_seed(11);
        let scale = (hidden as f64).sqrt().recip();
        let rows = 4 * hidden;
        let mut weights = Vec::new();
        let first = [drawn(&[2, 1, hidden], 0.3), drawn(&[2, 1, hidden], 0.3)];
        let directions = [0, 1].map(|number| {
            let of_words = drawn(&[rows, width], scale);
            let of_states = drawn(&[rows, hidden], scale);
            let biases = [drawn(&[rows], scale), drawn(&[rows], scale)];
            let bias = floats(&(&biases[0] + &biases[1]));
            let direction = Direction {
                of_words: Int8Linear::new(&floats(&of_words), width as usize, Some(&bias)),
                of_states: Int8Linear::new(&floats(&of_states), hidden as usize, None),
                first_hidden: floats(&first[0].get(number)),
                first_cell: floats(&first[1].get(number)),
            };
            weights.extend([of_words, of_states]);
            weights.extend(biases);
            direction
        });
        (Int8Lstm::new(directions), weights, first)
    }

    #[test]
    fn states_are_those_of_libtorch_but_for_their_rounding() {
        let (width, hidden) = (30, 24);
        let (lstm, weights, first) = example(width, hidden);
        let num_documents = LENGTHS.len() as i64;
        let vectors = drawn(&[num_documents, 21, width], 1.0);
        let lengths = Tensor::from_slice(&LENGTHS);
        let (packed, batch_sizes) = vectors.internal_pack_padded_sequence(&lengths, true);
        let first = first.map(|first| first.expand([2, num_documents, hidden], false).contiguous());
        let (states, _, _) = Tensor::lstm_data(
            &packed,
            &batch_sizes,
            &first,
            &weights,
            true,
            1,
            0.0,
            false,
            true,
        );
        let exact = Tensor::internal_pad_packed_sequence(&states, &batch_sizes, true, 0.0, 21).0;
        for kind in [Kind::Float, Kind::BFloat16] {
            let ours = lstm.forward(&vectors.to_kind(kind), &LENGTHS);
            assert_eq!((ours.kind(), ours.size()), (kind, exact.size()));
            let error = (ours.to_kind(Kind::Float) - &exact)
                .abs()
                .max()
                .double_value(&[]);
            assert!(error < 0.03, "{error}");
        }
    }

    #[test]
    fn a_document_gets_the_same_in_any_batch_on_any_number_of_threads() {
        let (lstm, ..) = example(30, 24);
        let vectors = drawn(&[LENGTHS.len() as i64, 19, 30], 1.0);
        let all = lstm.forward(&vectors, &LENGTHS);
        for (document, length) in LENGTHS.into_iter().enumerate() {
            let own = vectors.narrow(0, document as i64, 1).narrow(1, 0, length);
            let alone = lstm.forward(&own, &[length]);
            let among = all.narrow(0, document as i64, 1).narrow(1, 0, length);
            assert_eq!(floats(&alone), floats(&among));
        }
        for threads in [1, 2] {
            let here = with_threads(threads, || lstm.forward(&vectors, &LENGTHS));
            assert_eq!(floats(&here), floats(&all));
        }
    }
}
