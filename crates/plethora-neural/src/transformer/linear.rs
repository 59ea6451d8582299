//! The two things that layers are made of.

use tch::Tensor;

use crate::int8::{self, Int8Linear, Normed};
use crate::parameters::{DenseParameters, ParameterId};

/// A product with a matrix of outputs x inputs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Linear {
    pub(crate) weight: ParameterId,
    pub(crate) bias: Option<ParameterId>,
}

impl Linear {
    pub(crate) fn apply(self, parameters: &DenseParameters, input: &Tensor) -> Tensor {
        if let Some(linear) = self.int8(parameters, input) {
            return int8::linear(input, linear);
        }
        let bias = self.bias.map(|bias| parameters.computed(bias));
        input.linear(parameters.computed(self.weight), bias)
    }

    /// The same in eight bits, where products are computed in these.
    pub(super) fn int8<'a>(
        &self,
        parameters: &'a DenseParameters,
        input: &Tensor,
    ) -> Option<&'a Int8Linear> {
        parameters.int8_linear(self.weight, self.bias, input)
    }

    /// The matrix and bias cut into layers of their own with so many outputs each.
    pub(super) fn parts(
        self,
        parameters: &DenseParameters,
        outputs: &[i64],
    ) -> Vec<(Tensor, Option<Tensor>)> {
        let split = |id| parameters.computed(id).split_with_sizes(outputs, 0);
        let weights = split(self.weight);
        match self.bias {
            Some(bias) => {
                let biases = split(bias).into_iter().map(Some);
                weights.into_iter().zip(biases).collect()
            }
            None => weights.into_iter().map(|weight| (weight, None)).collect(),
        }
    }
}

/// Brings the numbers of each piece to mean 0 and variance 1, then scales and shifts them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Norm {
    pub(crate) weight: ParameterId,
    /// `ModernBERT` shifts nothing.
    pub(crate) bias: Option<ParameterId>,
    pub(crate) width: i64,
    pub(crate) eps: f64,
}

impl Norm {
    /// The same for what follows products in eight bits.
    pub(super) fn int8(self, parameters: &DenseParameters) -> Option<&Normed> {
        parameters.int8_norm(self.weight, self.bias, self.eps)
    }

    pub(crate) fn apply(self, parameters: &DenseParameters, input: &Tensor) -> Tensor {
        input.layer_norm(
            [self.width],
            Some(parameters.computed(self.weight)),
            self.bias.map(|bias| parameters.computed(bias)),
            self.eps,
            true,
        )
    }
}

/// Dropout where it does something: otherwise it would cost an operation.
pub(super) fn dropped(states: Tensor, share: f64) -> Tensor {
    if share > 0.0 {
        states.dropout(share, true)
    } else {
        states
    }
}
