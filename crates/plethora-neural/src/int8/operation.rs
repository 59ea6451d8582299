//! What encoders do with tensors, around products in eight bits.

use half::bf16;
use rayon::prelude::*;
use tch::{Kind, Tensor};

use super::dots::Dots;
use super::linear::Int8Linear;
use super::memory::{Number, numbers, numbers_mut};
use super::product::{Take, Work, product, run};
use super::rows::Int8Rows;
use crate::curve::Curve;

/// Most rows that are worked on at once: few enough that all that is between two products stays in the second
/// cache, and a multiple of those that are multiplied together.
const ROWS_AT_ONCE: usize = 66;

/// A norm with its numbers in 32 bits.
#[derive(Debug)]
pub(crate) struct Normed {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    pub(crate) eps: f32,
}

/// What is left of a layer once pieces have seen each other, piece by piece.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayerEnd<'a> {
    /// Of what was seen.
    pub(crate) output: &'a Int8Linear,
    /// Of that and the states before.
    pub(crate) attention_norm: &'a Normed,
    pub(crate) inner: &'a Int8Linear,
    pub(crate) curve: Curve,
    pub(crate) outer: &'a Int8Linear,
    /// Of what the two make and what goes into them.
    pub(crate) norm: &'a Normed,
}

/// The product of each row of `input`.
pub(crate) fn linear(input: &Tensor, linear: &Int8Linear) -> Tensor {
    by_rows(input, None, linear.outputs(), OneProduct(linear))
}

/// The states that a layer makes of what its pieces have seen, and of those before.
pub(crate) fn end_layer(seen: &Tensor, states: &Tensor, end: LayerEnd<'_>) -> Tensor {
    by_rows(seen, Some(states), end.outer.outputs(), end)
}

/// Memory of one thread.
#[derive(Debug, Default)]
struct Scratch {
    rows: Int8Rows,
    sums: Vec<f32>,
    states: Vec<f32>,
    inner: Vec<f32>,
}

/// What is made of some rows.
trait OfRows: Copy + Sync {
    fn apply<T: Number, D: Dots>(self, dots: D, rows: Rows<'_, T>, scratch: &mut Scratch);
}

/// Some rows that go in, with what is added to them, and the same that come out.
struct Rows<'a, T> {
    input: &'a [T],
    residual: Option<&'a [T]>,
    output: &'a mut [T],
}

fn by_rows<O: OfRows>(
    input: &Tensor,
    residual: Option<&Tensor>,
    outputs: usize,
    work: O,
) -> Tensor {
    match input.kind() {
        Kind::BFloat16 => by_rows_of::<bf16, O>(input, residual, outputs, work),
        _ => by_rows_of::<f32, O>(input, residual, outputs, work),
    }
}

fn by_rows_of<T: Number, O: OfRows>(
    input: &Tensor,
    residual: Option<&Tensor>,
    outputs: usize,
    work: O,
) -> Tensor {
    let mut shape = input.size();
    let inputs = shape.pop().unwrap_or_default() as usize;
    shape.push(outputs as i64);
    let mut output = Tensor::empty(shape, (T::KIND, input.device()));
    if output.numel() == 0 {
        return output;
    }
    let (input, residual) = (input.contiguous(), residual.map(Tensor::contiguous));
    let input = numbers::<T>(&input);
    let residual = residual.as_ref().map(numbers::<T>);
    let threads = tch::get_num_threads().max(1) as usize;
    let num_rows = input.len() / inputs;
    // Every thread has the same to do.
    let num_chunks = num_rows.div_ceil(ROWS_AT_ONCE).next_multiple_of(threads);
    let at_once = num_rows.div_ceil(num_chunks);
    let apply = |scratch: &mut Scratch, (chunk, output): (usize, &mut [T])| {
        let num_rows = output.len() / outputs;
        let of = |width: usize| chunk * at_once * width..(chunk * at_once + num_rows) * width;
        let rows = Rows {
            input: &input[of(inputs)],
            residual: residual.map(|residual| &residual[of(outputs)]),
            output,
        };
        run(OnProcessor {
            work,
            rows,
            scratch,
        });
    };
    let chunks = numbers_mut::<T>(&mut output);
    if threads > 1 {
        let chunks = chunks.par_chunks_mut(at_once * outputs).enumerate();
        chunks.for_each_init(Scratch::default, apply);
    } else {
        let mut scratch = Scratch::default();
        let chunks = chunks.chunks_mut(at_once * outputs).enumerate();
        chunks.for_each(|chunk| apply(&mut scratch, chunk));
    }
    output
}

/// One call for some rows, with all that it needs.
struct OnProcessor<'a, 's, T, O> {
    work: O,
    rows: Rows<'a, T>,
    scratch: &'s mut Scratch,
}

impl<T: Number, O: OfRows> Work for OnProcessor<'_, '_, T, O> {
    #[inline(always)]
    fn run<D: Dots>(self, dots: D) {
        self.work.apply(dots, self.rows, self.scratch);
    }
}

#[derive(Debug, Clone, Copy)]
struct OneProduct<'a>(&'a Int8Linear);

impl OfRows for OneProduct<'_> {
    #[inline(always)]
    fn apply<T: Number, D: Dots>(self, dots: D, rows: Rows<'_, T>, scratch: &mut Scratch) {
        let Self(linear) = self;
        scratch.rows.fill(rows.input, linear.inputs());
        let written = Written {
            width: linear.outputs(),
            output: rows.output,
        };
        product(dots, &scratch.rows, linear, written);
    }
}

impl OfRows for LayerEnd<'_> {
    #[inline(always)]
    fn apply<T: Number, D: Dots>(self, dots: D, rows: Rows<'_, T>, scratch: &mut Scratch) {
        let Scratch {
            rows: coded,
            sums,
            states,
            inner,
        } = scratch;
        let width = self.outer.outputs();
        sums.resize(rows.output.len(), 0.0);
        states.resize(rows.output.len(), 0.0);

        coded.fill(rows.input, self.output.inputs());
        let residual = rows.residual.unwrap_or_default();
        let added = Added {
            width,
            residual,
            sums,
        };
        product(dots, coded, self.output, added);
        self.attention_norm.write(sums, states);

        coded.fill(states, width);
        inner.resize(coded.len() * self.inner.outputs(), 0.0);
        let curved = Curved {
            width: self.inner.outputs(),
            curve: self.curve,
            output: inner,
        };
        product(dots, coded, self.inner, curved);

        coded.fill(inner, self.inner.outputs());
        let residual = states.as_slice();
        let added = Added {
            width,
            residual,
            sums,
        };
        product(dots, coded, self.outer, added);
        self.norm.write(sums, rows.output);
    }
}

/// Numbers of a product as they are.
struct Written<'a, T> {
    width: usize,
    output: &'a mut [T],
}

impl<T: Number> Take for Written<'_, T> {
    #[inline(always)]
    fn take(&mut self, row: usize, first: usize, values: &mut [f32]) {
        let output = &mut self.output[row * self.width + first..][..values.len()];
        for (output, value) in output.iter_mut().zip(values) {
            *output = T::of(*value);
        }
    }
}

/// What a function makes of them.
struct Curved<'a> {
    width: usize,
    curve: Curve,
    output: &'a mut [f32],
}

impl Take for Curved<'_> {
    #[inline(always)]
    fn take(&mut self, row: usize, first: usize, values: &mut [f32]) {
        self.curve.apply_to(values);
        self.output[row * self.width + first..][..values.len()].copy_from_slice(values);
    }
}

/// Their sums with what they are added to.
struct Added<'a, T> {
    width: usize,
    residual: &'a [T],
    sums: &'a mut [f32],
}

impl<T: Number> Take for Added<'_, T> {
    #[inline(always)]
    fn take(&mut self, row: usize, first: usize, values: &mut [f32]) {
        let start = row * self.width + first;
        let residual = &self.residual[start..][..values.len()];
        let sums = &mut self.sums[start..][..values.len()];
        for ((sum, value), residual) in sums.iter_mut().zip(values).zip(residual) {
            *sum = *value + residual.wide();
        }
    }
}

impl Normed {
    /// Brings rows to mean 0 and variance 1, scales and shifts them.
    #[inline(always)]
    fn write<T: Number>(&self, sums: &[f32], output: &mut [T]) {
        let width = self.weight.len();
        let rows = sums.chunks_exact(width);
        for (row, output) in rows.zip(output.chunks_exact_mut(width)) {
            let mean = in_lanes(row, |value| value) / width as f32;
            let variance = in_lanes(row, |value| (value - mean) * (value - mean)) / width as f32;
            let factor = 1.0 / (variance + self.eps).sqrt();
            let values = row.iter().zip(&self.weight).zip(&self.bias);
            for (output, ((value, weight), bias)) in output.iter_mut().zip(values) {
                *output = T::of((value - mean) * factor * weight + bias);
            }
        }
    }
}

/// The sum of what is made of some numbers, in an order that vectors of any length keep.
#[inline(always)]
fn in_lanes(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0.0_f32; 16];
    let chunks = values.chunks_exact(16);
    for (sum, value) in sums.iter_mut().zip(chunks.remainder()) {
        *sum += of(*value);
    }
    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += of(*value);
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests;
