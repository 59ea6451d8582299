//! One output layer over all labels, which takes document vectors.

use tch::{Device, Kind, Reduction, Tensor};

use super::{HeadStep, LabelFacts, LabelHead, Ranked, VectorInput};
use crate::parameters::{DenseParameters, DenseParametersBuilder, ParameterId};
use crate::train::{Learnt, LossScale};

/// An output layer.
#[derive(Debug)]
pub(crate) struct AllLabels {
    /// labels x width.
    outputs: ParameterId,
    bias: ParameterId,
}

impl AllLabels {
    /// One layer over document vectors as they are.
    pub(crate) fn over_vectors(
        width: usize,
        labels: &LabelFacts<'_>,
        builder: &mut DenseParametersBuilder,
    ) -> Self {
        let shape = [labels.train_counts.len() as i64, width as i64];
        // At zero every label starts with its log-odds. Random outputs would first of all silence the
        // layers below: thousands of labels that are rarely true pull them down together.
        let outputs = Tensor::zeros(shape, (Kind::Float, Device::Cpu));
        Self {
            outputs: builder.add_label_matrix("head.outputs", outputs),
            bias: builder.add_label_matrix("head.output_bias", labels.log_odds()),
        }
    }

    /// documents x labels, in 32 bits: scores before the sigmoid, of document vectors.
    pub(crate) fn vector_logits(&self, input: &VectorInput<'_>) -> Tensor {
        self.outputs(&input.parameters.dense, input.vector)
    }

    /// documents x labels, in 32 bits: scores before the sigmoid, of documents x width.
    pub(crate) fn outputs(&self, parameters: &DenseParameters, vector: &Tensor) -> Tensor {
        let outputs = parameters.computed(self.outputs).to_kind(vector.kind());
        let bias = parameters.computed(self.bias).to_kind(vector.kind());
        vector.linear(&outputs, Some(&bias)).to_kind(Kind::Float)
    }
}

impl LabelHead<VectorInput<'_>> for AllLabels {
    fn learn(&self, input: &VectorInput<'_>, step: &HeadStep<'_>) -> Learnt {
        let logits = self.vector_logits(input);
        let truth = step.targets.matrix(&logits);
        let share = match step.loss {
            LossScale::Sum => 1.0 / logits.size()[0] as f64,
            LossScale::Mean => 1.0 / logits.numel() as f64,
        };
        let sum =
            logits.binary_cross_entropy_with_logits::<Tensor>(&truth, None, None, Reduction::Sum);
        (&sum * (share * step.part.scale)).backward();
        Learnt {
            loss: sum.detach() * share,
            rows: Vec::new(),
        }
    }

    fn rank(&self, input: &VectorInput<'_>, _beam: usize, keep: usize) -> Ranked {
        let logits = self.vector_logits(input);
        let keep = (keep as i64).min(logits.size()[1]);
        let (logits, labels) = logits.topk(keep, 1, true, true);
        Ranked {
            log_scores: logits.log_sigmoid(),
            labels,
        }
    }
}
