//! A narrower vector before the labels.

use tch::{Device, Kind, Tensor};

use crate::parameters::{DenseParameters, DenseParametersBuilder, ParameterId};
use crate::start::Start;

/// A fully connected layer in the numbers that are computed with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bottleneck {
    /// outputs x inputs.
    weights: ParameterId,
    bias: ParameterId,
}

impl Bottleneck {
    pub(crate) fn new(
        inputs: usize,
        outputs: usize,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> Self {
        let shape = [outputs as i64, inputs as i64];
        let weights = start.named("bottleneck").glorot(shape);
        let bias = Tensor::zeros([outputs as i64], (Kind::Float, Device::Cpu));
        Self {
            weights: builder.add("head.bottleneck.weight", weights),
            bias: builder.add("head.bottleneck.bias", bias),
        }
    }

    /// # Shapes
    /// From documents x inputs to documents x outputs.
    pub(crate) fn forward(&self, parameters: &DenseParameters, vector: &Tensor) -> Tensor {
        vector.linear(
            parameters.computed(self.weights),
            Some(parameters.computed(self.bias)),
        )
    }
}
