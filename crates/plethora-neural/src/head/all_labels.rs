//! One output layer over all labels, which takes document vectors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tch::{Kind, Reduction, Tensor};

use super::{HeadStep, LabelFacts, LabelHead, Ranked, VectorInput, log_odds};
use crate::Result;
use crate::parameters::{DenseParametersBuilder, ParameterId};
use crate::start::{Start, zeros};
use crate::train::{Learnt, LossScale};

/// How scores become probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutputKind {
    /// Each label for itself.
    Sigmoid,
    /// A softmax over all labels, whose outcome goes through a sigmoid in the loss, as the paper has it.
    Softmax,
}

/// An output layer.
#[derive(Debug)]
pub(crate) struct AllLabels {
    /// labels x width.
    outputs: ParameterId,
    bias: ParameterId,
    output: OutputKind,
}

impl AllLabels {
    /// One layer over document vectors as they are.
    pub(crate) fn new(
        width: usize,
        output: OutputKind,
        labels: &LabelFacts<'_>,
        builder: &mut DenseParametersBuilder,
    ) -> Self {
        let shape = [labels.train_counts.len() as i64, width as i64];
        // At zero every label starts with its log-odds. Random outputs would first of all silence the
        // layers below: thousands of labels that are rarely true pull them down together.
        let outputs = zeros(&shape);
        Self {
            outputs: builder.add_label_matrix("head.outputs", outputs),
            bias: builder.add_label_matrix("head.output_bias", labels.log_odds()),
            output,
        }
    }

    /// Lets label vectors start from random numbers instead, as other matrices do.
    pub(crate) fn start_at_random(&self, builder: &mut DenseParametersBuilder, start: Start) {
        builder.start_from(self.outputs, |zeros| {
            let size = zeros.size();
            start.glorot([size[0], size[1]])
        });
    }

    /// documents x labels, in 32 bits: scores before the sigmoid.
    pub(crate) fn scores(&self, input: &VectorInput<'_>) -> Tensor {
        let (dense, vector) = (&input.parameters.dense, input.vector);
        let outputs = dense.computed(self.outputs).to_kind(vector.kind());
        let bias = dense.computed(self.bias).to_kind(vector.kind());
        let scores = vector.linear(&outputs, Some(&bias)).to_kind(Kind::Float);
        match input.prior {
            Some(prior) => {
                let places = [Some(prior.places.documents()), Some(prior.places.labels())];
                scores.index_put(&places, &prior.values, true)
            }
            None => scores,
        }
    }
}

impl LabelHead<VectorInput<'_>> for AllLabels {
    fn learn(&self, input: &VectorInput<'_>, step: &HeadStep<'_>) -> Result<Learnt> {
        let scores = self.scores(input);
        let truth = step.targets.matrix(&scores);
        let logits = match self.output {
            OutputKind::Sigmoid => scores,
            OutputKind::Softmax => scores.softmax(1, Kind::Float),
        };
        let share = match step.loss {
            LossScale::Sum => 1.0 / logits.size()[0] as f64,
            LossScale::Mean => 1.0 / logits.numel() as f64,
        };
        let sum =
            logits.binary_cross_entropy_with_logits::<Tensor>(&truth, None, None, Reduction::Sum);
        (&sum * (share * step.part.scale)).backward();
        Ok(Learnt {
            loss: sum.detach() * share,
            rows: Vec::new(),
        })
    }

    fn rank(&self, input: &VectorInput<'_>, _beam: usize, keep: usize) -> Ranked {
        let scores = self.scores(input);
        let keep = (keep as i64).min(scores.size()[1]);
        let (log_scores, labels) = match self.output {
            OutputKind::Sigmoid => {
                let (logits, labels) = scores.topk(keep, 1, true, true);
                (logits.log_sigmoid(), labels)
            }
            OutputKind::Softmax => {
                let log_scores = scores.log_softmax(1, Kind::Float);
                log_scores.topk(keep, 1, true, true)
            }
        };
        Ranked { log_scores, labels }
    }

    fn log_odds_of(&self, input: &VectorInput<'_>, label: u32) -> Tensor {
        let scores = self.scores(input);
        match self.output {
            OutputKind::Sigmoid => scores.select(1, i64::from(label)),
            OutputKind::Softmax => {
                let log_scores = scores.log_softmax(1, Kind::Float);
                log_odds(&log_scores.select(1, i64::from(label)))
            }
        }
    }

    #[cfg(test)]
    fn logits(&self, input: &VectorInput<'_>) -> Tensor {
        self.scores(input)
    }
}
