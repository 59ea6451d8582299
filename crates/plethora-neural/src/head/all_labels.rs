//! One document vector, and an output layer over all labels: XML-CNN's head, and with states pooled
//! by their maximum XML-RNN's.

use tch::{Device, Kind, Reduction, Tensor};

use super::layers::Layer;
use super::{HeadInput, LabelFacts};
use crate::config::AllLabelsConfig;
use crate::encoder::Encoded;
use crate::parameters::{DenseParametersBuilder, ParameterId};
use crate::start::Start;

/// Fully connected layers and an output layer.
#[derive(Debug)]
pub(crate) struct AllLabels {
    layers: Vec<Layer>,
    dropout: f64,
    /// labels x width of the last layer.
    outputs: ParameterId,
    bias: ParameterId,
}

impl AllLabels {
    pub(crate) fn new(
        config: &AllLabelsConfig,
        width: usize,
        labels: &LabelFacts<'_>,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> Self {
        let layers = Layer::stack(&config.layers, width, builder, start);
        let last = config.layers.last().copied().unwrap_or(width) as i64;
        let shape = [labels.train_counts.len() as i64, last];
        // At zero every label starts with its log-odds. Random outputs would first of all silence the
        // layers below: thousands of labels that are rarely true pull them down together.
        let outputs = Tensor::zeros(shape, (Kind::Float, Device::Cpu));
        Self {
            layers,
            dropout: config.dropout,
            outputs: builder.add_label_matrix("head.outputs", outputs),
            bias: builder.add_label_matrix("head.output_bias", labels.log_odds()),
        }
    }

    /// See [`Head::learn`](super::Head::learn).
    pub(crate) fn learn(
        &self,
        input: &HeadInput<'_>,
        encoded: &Encoded,
        targets: &Tensor,
        scale: f64,
    ) -> Tensor {
        let logits = self.logits(input, encoded);
        let loss =
            logits.binary_cross_entropy_with_logits::<Tensor>(targets, None, None, Reduction::Sum);
        (&loss * scale).backward();
        loss.detach()
    }

    /// See [`Head::logits`](super::Head::logits).
    pub(crate) fn logits(&self, input: &HeadInput<'_>, encoded: &Encoded) -> Tensor {
        let mut vector = match encoded {
            Encoded::Vector(vector) => vector.shallow_clone(),
            Encoded::States(states) => {
                let inside = match input.mask {
                    Some(mask) => {
                        let behind = mask.logical_not().unsqueeze(2);
                        states.masked_fill(&behind, f64::NEG_INFINITY)
                    }
                    None => states.shallow_clone(),
                };
                inside.amax(1, false)
            }
        };
        for layer in &self.layers {
            vector = layer
                .forward(input.parameters, &vector)
                .relu()
                .dropout(self.dropout, input.is_training);
        }
        let outputs = input.parameters.get(self.outputs).to_kind(vector.kind());
        let bias = input.parameters.get(self.bias).to_kind(vector.kind());
        vector.linear(&outputs, Some(&bias)).to_kind(Kind::Float)
    }
}
