//! One layer.

use tch::Tensor;

use super::architecture::{Architecture, ArchitectureKind};
use super::attention::Attention;
use super::batch::{Batch, Rows};
use super::feed_forward::FeedForward;
use super::loader::Loader;
use super::pre_norm::PreNormLayer;
use super::tensor_names;
use crate::Result;

/// Attention between pieces, then each piece for itself.
#[derive(Debug)]
pub(super) enum Layer {
    /// Each part is followed by a norm.
    PostNorm(Attention, FeedForward),
    /// Each part has a norm before it.
    PreNorm(PreNormLayer),
}

impl Layer {
    pub(super) fn new(
        architecture: &Architecture,
        number: usize,
        loader: &mut Loader<'_>,
    ) -> Result<Self> {
        if architecture.kind() == ArchitectureKind::Modernbert {
            return Ok(Self::PreNorm(PreNormLayer::new(
                architecture,
                number,
                loader,
            )?));
        }
        let names = tensor_names::layer(architecture.kind(), number);
        let stem = format!("encoder.layer.{number}");
        Ok(Self::PostNorm(
            Attention::new(architecture, &stem, &names, loader)?,
            FeedForward::new(architecture, &stem, &names, loader)?,
        ))
    }

    /// # Shapes
    /// From documents x pieces x width to the same for all rows, or documents x 1 x width.
    pub(super) fn forward(&self, states: &Tensor, batch: &Batch<'_>, rows: Rows) -> Tensor {
        match self {
            Self::PostNorm(attention, feed_forward) => {
                if let Some((seen, output, norm)) = attention.in_int8(states, batch, rows) {
                    let seen = (&seen, output, norm);
                    let ended = feed_forward.end_layer_in_int8(seen, states, batch.parameters);
                    if let Some(states) = ended {
                        return states;
                    }
                }
                let states = attention.forward(states, batch, rows);
                feed_forward.forward(&states, batch)
            }
            Self::PreNorm(layer) => layer.forward(states, batch, rows),
        }
    }
}
