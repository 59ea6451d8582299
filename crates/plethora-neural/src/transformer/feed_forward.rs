//! The second half of a layer: each piece for itself.

use tch::Tensor;

use super::architecture::{Architecture, ArchitectureKind};
use super::batch::Batch;
use super::linear::{Linear, Norm, dropped};
use super::loader::Loader;
use super::tensor_names::LayerNames;
use crate::Result;
use crate::curve::Curve;
use crate::int8::{self, Int8Linear, LayerEnd, Normed};
use crate::parameters::DenseParameters;

/// Two matrices with a function between them, added to the input.
#[derive(Debug)]
pub(super) struct FeedForward {
    inner: Linear,
    activation: Curve,
    /// `XLNet` leaves out numbers between the matrices too.
    drops_inner: bool,
    outer: Linear,
    norm: Norm,
}

impl FeedForward {
    pub(super) fn new(
        architecture: &Architecture,
        stem: &str,
        names: &LayerNames,
        loader: &mut Loader<'_>,
    ) -> Result<Self> {
        let shape = architecture.shape;
        Ok(Self {
            inner: loader.linear(
                &format!("{stem}.feed_forward.inner"),
                &[&names.inner],
                [shape.inner_width, shape.width],
            )?,
            activation: shape.activation,
            drops_inner: architecture.kind() == ArchitectureKind::Xlnet,
            outer: loader.linear(
                &format!("{stem}.feed_forward.outer"),
                &[&names.outer],
                [shape.width, shape.inner_width],
            )?,
            norm: loader.norm(
                &format!("{stem}.feed_forward.norm"),
                &names.norm,
                shape.width,
                shape.norm_eps,
            )?,
        })
    }

    pub(super) fn forward(&self, states: &Tensor, batch: &Batch<'_>) -> Tensor {
        let parameters = batch.parameters;
        let mut inner = self.activation.apply(&self.inner.apply(parameters, states));
        if self.drops_inner {
            inner = dropped(inner, batch.dropout);
        }
        let outer = dropped(self.outer.apply(parameters, &inner), batch.dropout);
        self.norm.apply(parameters, &(outer + states))
    }

    /// The rest of a layer in one pass over its pieces, where products are computed in eight bits.
    pub(super) fn end_layer_in_int8(
        &self,
        (seen, output, attention_norm): (&Tensor, &Int8Linear, &Normed),
        states: &Tensor,
        parameters: &DenseParameters,
    ) -> Option<Tensor> {
        let end = LayerEnd {
            output,
            attention_norm,
            inner: self.inner.int8(parameters, states)?,
            curve: self.activation,
            outer: self.outer.int8(parameters, states)?,
            norm: self.norm.int8(parameters)?,
        };
        Some(int8::end_layer(seen, states, end))
    }
}
