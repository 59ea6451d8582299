//! The weights of an encoder in eight bits, made when they are first wanted.

use std::sync::OnceLock;

use tch::{Kind, Tensor};

use super::linear::Int8Linear;
use super::lstm::Int8Lstm;
use super::operation::Normed;

/// What was made of parameters, by their places.
#[derive(Debug)]
pub(crate) struct Int8Weights {
    linears: Places<Int8Linear>,
    norms: Places<Normed>,
    lstms: Places<Int8Lstm>,
}

/// What is made of the parameter in a place, once.
#[derive(Debug)]
struct Places<T>(Vec<OnceLock<T>>);

impl Int8Weights {
    /// For so many parameters.
    pub(crate) fn new(num_parameters: usize) -> Self {
        Self {
            linears: Places::new(num_parameters),
            norms: Places::new(num_parameters),
            lstms: Places::new(num_parameters),
        }
    }

    /// The matrix in this place with its bias.
    pub(crate) fn linear(
        &self,
        place: usize,
        weight: &Tensor,
        bias: Option<&Tensor>,
    ) -> &Int8Linear {
        self.linears.get(place, || {
            let bias = bias.map(floats);
            let inputs = weight.size().last().copied().unwrap_or_default() as usize;
            Int8Linear::new(&floats(weight), inputs, bias.as_deref())
        })
    }

    /// The norm whose scales are in this place.
    pub(crate) fn norm(
        &self,
        place: usize,
        weight: &Tensor,
        bias: Option<&Tensor>,
        eps: f64,
    ) -> &Normed {
        self.norms.get(place, || Normed {
            weight: floats(weight),
            bias: bias.map_or_else(|| vec![0.0; weight.numel()], floats),
            eps: eps as f32,
        })
    }

    /// The LSTM whose weights are in this place.
    pub(crate) fn lstm(&self, place: usize, make: impl FnOnce() -> Int8Lstm) -> &Int8Lstm {
        self.lstms.get(place, make)
    }
}

impl<T> Places<T> {
    fn new(number: usize) -> Self {
        Self((0..number).map(|_| OnceLock::new()).collect())
    }

    fn get(&self, place: usize, make: impl FnOnce() -> T) -> &T {
        self.0[place].get_or_init(make)
    }
}

pub(crate) fn floats(tensor: &Tensor) -> Vec<f32> {
    let row = tensor.detach().to_kind(Kind::Float).flatten(0, -1);
    Vec::try_from(row).expect("a row of numbers of 32 bits")
}
