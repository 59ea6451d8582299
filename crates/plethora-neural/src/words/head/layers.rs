//! Fully connected layers.

use tch::{Device, Kind, Tensor};

use crate::int8;
use crate::parameters::{DenseParameters, DenseParametersBuilder, ParameterId};
use crate::start::Start;

/// A fully connected layer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layer {
    /// outputs x inputs.
    weights: ParameterId,
    bias: ParameterId,
}

impl Layer {
    pub(crate) fn new(
        name: &str,
        inputs: usize,
        outputs: usize,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> Self {
        let weights = start.named(name).glorot([outputs as i64, inputs as i64]);
        let bias = Tensor::zeros([outputs as i64], (Kind::Float, Device::Cpu));
        Self {
            weights: builder.add(format!("{name}.weight"), weights),
            bias: builder.add(format!("{name}.bias"), bias),
        }
    }

    /// Layers of these widths after an input of width `inputs`; their names begin with `name` and are
    /// numbered.
    pub(crate) fn stack(
        name: &str,
        widths: &[usize],
        mut inputs: usize,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> Vec<Self> {
        let mut layers = Vec::new();
        for (number, &width) in widths.iter().enumerate() {
            let name = format!("{name}.layer.{number}");
            layers.push(Self::new(&name, inputs, width, builder, start));
            inputs = width;
        }
        layers
    }

    /// Weights times the input, and the bias.
    pub(crate) fn forward(&self, parameters: &DenseParameters, input: &Tensor) -> Tensor {
        if let Some(linear) = parameters.int8_linear(self.weights, Some(self.bias), input) {
            return int8::linear(input, linear);
        }
        let kind = input.kind();
        input.linear(
            &parameters.get(self.weights).to_kind(kind),
            Some(&parameters.get(self.bias).to_kind(kind)),
        )
    }

    /// Weights times the input, without the bias.
    pub(crate) fn product(&self, parameters: &DenseParameters, input: &Tensor) -> Tensor {
        if let Some(linear) = parameters.int8_linear(self.weights, None, input) {
            return int8::linear(input, linear);
        }
        let weights = parameters.get(self.weights).to_kind(input.kind());
        input.linear(&weights, None::<&Tensor>)
    }

    /// The bias alone.
    pub(crate) fn bias(&self, parameters: &DenseParameters, kind: Kind) -> Tensor {
        parameters.get(self.bias).to_kind(kind)
    }
}
