//! One vector of the states of a side.

use tch::{Kind, Tensor};

use super::attention::{States, norm};
use super::config::{PoolingKind, TReaderConfig};
use crate::parameters::{DenseParameters, DenseParametersBuilder, ParameterId};
use crate::transformer::Norm;

/// Pools the states of one side.
#[derive(Debug)]
pub(super) struct Pooling {
    norm: Option<Norm>,
    kind: PoolingKind,
    /// By which states are weighed; absent without attention.
    query: Option<ParameterId>,
}

impl Pooling {
    pub(super) fn new(
        side: &str,
        config: &TReaderConfig,
        builder: &mut DenseParametersBuilder,
    ) -> Self {
        let width = config.vectors.width as i64;
        let norm = (config.reading.norm).then(|| norm(&format!("{side}.norm"), width, builder));
        let kind = config.interaction.pooling;
        // From zero, which is the mean.
        let zeros = || Tensor::zeros([width], (Kind::Float, tch::Device::Cpu));
        let query = (kind == PoolingKind::Attention)
            .then(|| builder.add(format!("{side}.pooling"), zeros()));
        Self { norm, kind, query }
    }

    /// # Shapes
    /// From documents x places x width to documents x width.
    pub(super) fn forward(&self, parameters: &DenseParameters, side: &States) -> Tensor {
        let states = match &self.norm {
            Some(norm) => norm.apply(parameters, &side.values),
            None => side.values.shallow_clone(),
        };
        let behind = side.mask.as_ref().map(Tensor::logical_not);
        if self.kind == PoolingKind::Max {
            let inside = match &behind {
                Some(behind) => states.masked_fill(&behind.unsqueeze(2), f64::NEG_INFINITY),
                None => states,
            };
            return inside.amax(1, false);
        }
        let scores = match self.query {
            Some(query) => states.matmul(parameters.computed(query)),
            None => states.new_zeros(&states.size()[..2], (states.kind(), states.device())),
        };
        let scores = scores.to_kind(Kind::Float);
        let scores = match &behind {
            Some(behind) => scores.masked_fill(behind, f64::NEG_INFINITY),
            None => scores,
        };
        let weights = scores.softmax(1, Kind::Float).to_kind(states.kind());
        weights.unsqueeze(1).bmm(&states).squeeze_dim(1)
    }
}
