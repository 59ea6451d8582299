//! Parameters in eight bits, for networks that are only read.

use tch::Tensor;

use super::dense::{DenseParameters, ParameterId};
use crate::int8::{Int8Linear, Int8Lstm, Int8Weights, MOST_INPUTS, Normed};
use crate::precision::Numbers;

impl DenseParameters {
    /// Has products be computed in eight bits from now on where `numbers` says so, for a network that is
    /// only read.
    pub(crate) fn read_with(&mut self, numbers: Numbers) {
        self.int8 = (numbers.is_int8).then(|| Int8Weights::new(self.len()));
    }

    /// A matrix with its bias in eight bits, where products are computed in these and nobody wants the
    /// gradients of `input`.
    pub(crate) fn int8_linear(
        &self,
        weight: ParameterId,
        bias: Option<ParameterId>,
        input: &Tensor,
    ) -> Option<&Int8Linear> {
        let weights = self.int8_for(input)?;
        // With its bias a matrix is another than without.
        let place = bias.unwrap_or(weight).0;
        let weight = self.computed(weight);
        if weight
            .size()
            .last()
            .is_some_and(|inputs| *inputs > MOST_INPUTS)
        {
            return None;
        }
        let bias = bias.map(|bias| self.computed(bias));
        Some(weights.linear(place, weight, bias))
    }

    /// An LSTM whose weights are this parameter, likewise.
    pub(crate) fn int8_lstm(
        &self,
        weights: ParameterId,
        input: &Tensor,
        make: impl FnOnce() -> Int8Lstm,
    ) -> Option<&Int8Lstm> {
        Some(self.int8_for(input)?.lstm(weights.0, make))
    }

    /// A norm beside such products.
    pub(crate) fn int8_norm(
        &self,
        weight: ParameterId,
        bias: Option<ParameterId>,
        eps: f64,
    ) -> Option<&Normed> {
        let weights = self.int8.as_ref()?;
        let bias = bias.map(|bias| self.computed(bias));
        Some(weights.norm(weight.0, self.computed(weight), bias, eps))
    }

    fn int8_for(&self, input: &Tensor) -> Option<&Int8Weights> {
        self.int8.as_ref().filter(|_| !input.requires_grad())
    }
}

#[cfg(test)]
mod tests {
    use tch::{Device, Kind};

    use super::*;
    use crate::parameters::DenseParametersBuilder;

    #[test]
    fn products_whose_sums_might_not_fit_stay_as_they_are() {
        let mut builder = DenseParametersBuilder::default();
        let zeros = |shape: [i64; 2]| Tensor::zeros(shape, (Kind::Float, Device::Cpu));
        let wide = builder.add("wide", zeros([1, MOST_INPUTS + 1]));
        let narrow = builder.add("narrow", zeros([1, MOST_INPUTS]));
        let mut parameters = builder.finish_to_read(Device::Cpu, Kind::Float.into());
        let input = zeros([1, 1]);
        assert!(parameters.int8_linear(narrow, None, &input).is_none());
        parameters.read_with(Numbers {
            kind: Kind::Float,
            is_int8: true,
        });
        assert!(parameters.int8_linear(narrow, None, &input).is_some());
        assert!(parameters.int8_linear(wide, None, &input).is_none());
        let trained = input.set_requires_grad(true);
        assert!(parameters.int8_linear(narrow, None, &trained).is_none());
    }
}
