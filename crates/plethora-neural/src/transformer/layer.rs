//! One layer.

use tch::Tensor;

use super::architecture::Architecture;
use super::attention::Attention;
use super::batch::{Batch, Rows};
use super::feed_forward::FeedForward;
use super::loader::Loader;
use super::tensor_names;
use crate::Result;

/// Attention between pieces, then each piece for itself.
#[derive(Debug)]
pub(super) struct Layer {
    attention: Attention,
    feed_forward: FeedForward,
}

impl Layer {
    pub(super) fn new(
        architecture: &Architecture,
        number: usize,
        loader: &mut Loader<'_>,
    ) -> Result<Self> {
        let names = tensor_names::layer(architecture.kind(), number);
        let stem = format!("encoder.layer.{number}");
        Ok(Self {
            attention: Attention::new(architecture, &stem, &names, loader)?,
            feed_forward: FeedForward::new(architecture, &stem, &names, loader)?,
        })
    }

    /// # Shapes
    /// From documents x pieces x width to the same for all rows, or documents x 1 x width.
    pub(super) fn forward(&self, states: &Tensor, batch: &Batch<'_>, rows: Rows) -> Tensor {
        let states = self.attention.forward(states, batch, rows);
        self.feed_forward.forward(&states, batch)
    }
}
