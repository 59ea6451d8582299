//! One document vector, and an output layer over all labels: XML-CNN's head, and with states pooled
//! by their maximum XML-RNN's.

use tch::{Device, Kind, Reduction, Tensor};

use super::layers::Layer;
use super::{HeadInput, LabelFacts, LabelPlaces, Ranked, VectorInput};
use crate::encoder::Encoded;
use crate::parameters::{DenseParameters, DenseParametersBuilder, ParameterId};
use crate::start::Start;
use crate::train::{Learnt, LossScale, StepPart};
use crate::word_config::AllLabelsConfig;

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
        let layers = Layer::stack("head", &config.layers, width, builder, start);
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

    /// One layer over document vectors as they are.
    pub(crate) fn over_vectors(
        width: usize,
        labels: &LabelFacts<'_>,
        builder: &mut DenseParametersBuilder,
    ) -> Self {
        let config = AllLabelsConfig {
            layers: Vec::new(),
            dropout: 0.0,
        };
        Self::new(&config, width, labels, builder, Start::blank())
    }

    /// Learns from document vectors.
    pub(crate) fn learn_places(
        &self,
        input: &VectorInput<'_>,
        targets: &LabelPlaces,
        step: &StepPart<'_>,
        loss: LossScale,
    ) -> Learnt {
        let logits = self.outputs(&input.parameters.dense, input.vector);
        let truth = targets.matrix(&logits);
        let share = match loss {
            LossScale::Sum => 1.0 / logits.size()[0] as f64,
            LossScale::Mean => 1.0 / logits.numel() as f64,
        };
        let sum =
            logits.binary_cross_entropy_with_logits::<Tensor>(&truth, None, None, Reduction::Sum);
        (&sum * (share * step.scale)).backward();
        Learnt {
            loss: sum.detach() * share,
            rows: Vec::new(),
        }
    }

    /// documents x labels, in 32 bits: scores before the sigmoid, of document vectors.
    pub(crate) fn vector_logits(&self, input: &VectorInput<'_>) -> Tensor {
        self.outputs(&input.parameters.dense, input.vector)
    }

    /// The best labels of document vectors.
    pub(crate) fn rank(&self, input: &VectorInput<'_>, keep: usize) -> Ranked {
        let logits = self.outputs(&input.parameters.dense, input.vector);
        let keep = (keep as i64).min(logits.size()[1]);
        let (logits, labels) = logits.topk(keep, 1, true, true);
        Ranked {
            log_scores: logits.log_sigmoid(),
            labels,
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
        self.outputs(input.parameters, &vector)
    }

    fn outputs(&self, parameters: &DenseParameters, vector: &Tensor) -> Tensor {
        let outputs = parameters.computed(self.outputs).to_kind(vector.kind());
        let bias = parameters.computed(self.bias).to_kind(vector.kind());
        vector.linear(&outputs, Some(&bias)).to_kind(Kind::Float)
    }
}
