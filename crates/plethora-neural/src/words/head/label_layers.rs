//! Layers that all labels share, and an output layer over all of them: XML-CNN's head, and with states
//! pooled by their maximum XML-RNN's.

use tch::{Reduction, Tensor};

use super::HeadInput;
use super::layers::Layer;
use crate::head::{AllLabels, LabelFacts};
use crate::parameters::DenseParametersBuilder;
use crate::start::Start;
use crate::words::config::AllLabelsConfig;

/// Fully connected layers and an output layer.
#[derive(Debug)]
pub(crate) struct LabelLayers {
    layers: Vec<Layer>,
    dropout: f64,
    output: AllLabels,
}

impl LabelLayers {
    pub(crate) fn new(
        config: &AllLabelsConfig,
        width: usize,
        labels: &LabelFacts<'_>,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> Self {
        let layers = Layer::stack("head", &config.layers, width, builder, start);
        let last = config.layers.last().copied().unwrap_or(width);
        Self {
            layers,
            dropout: config.dropout,
            output: AllLabels::over_vectors(last, labels, builder),
        }
    }

    /// Adds the gradients of `scale` times the summed loss of all labels and documents; returns that
    /// sum, unscaled.
    ///
    /// # Shapes
    /// `vector`: documents x width; `targets`: documents x labels.
    pub(crate) fn learn(
        &self,
        input: &HeadInput<'_>,
        vector: &Tensor,
        targets: &Tensor,
        scale: f64,
    ) -> Tensor {
        let logits = self.logits(input, vector);
        let loss =
            logits.binary_cross_entropy_with_logits::<Tensor>(targets, None, None, Reduction::Sum);
        (&loss * scale).backward();
        loss.detach()
    }

    /// Scores before the sigmoid.
    ///
    /// # Shapes
    /// `vector`: documents x width. Gives documents x labels.
    pub(crate) fn logits(&self, input: &HeadInput<'_>, vector: &Tensor) -> Tensor {
        let mut vector = vector.shallow_clone();
        for layer in &self.layers {
            vector = layer
                .forward(&input.parameters.dense, &vector)
                .relu()
                .dropout(self.dropout, input.is_training);
        }
        self.output.outputs(&input.parameters.dense, &vector)
    }
}

/// The maximum of the states of each document.
///
/// # Shapes
/// `states`: documents x words x width. Gives documents x width.
pub(crate) fn strongest(input: &HeadInput<'_>, states: &Tensor) -> Tensor {
    let inside = match input.mask {
        Some(mask) => {
            let behind = mask.logical_not().unsqueeze(2);
            states.masked_fill(&behind, f64::NEG_INFINITY)
        }
        None => states.shallow_clone(),
    };
    inside.amax(1, false)
}
