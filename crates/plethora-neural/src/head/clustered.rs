//! The head of Jiang et al. 2021: a generator recalls clusters of labels, a discriminator ranks the labels in them,
//! and both learn at once from the document's vector.
//!
//! With document vector e the generator is sigmoid(W e + b), one number a cluster, and the
//! discriminator sigmoid(E a(H e + c)), one number a candidate. As in the public program a is the
//! identity (the paper's sigmoid is an option) and labels have no bias of their own. A label's score
//! is the product of its own number and its cluster's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tch::{Device, Kind, Tensor};

use super::candidates::Recalled;
use super::clusters::Clusters;
use super::discriminator::Discriminator;
use super::vector_input::{LabelPlaces, Ranked, VectorInput, send_back};
use super::{HeadStep, LabelFacts, LabelHead, log_odds};
use crate::Result;
use crate::parameters::{DenseParametersBuilder, ParameterId};
use crate::start::{Start, zeros};
use crate::train::{Learnt, LossScale};

/// Clusters of labels, and the labels in the best of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClusteredConfig {
    /// Numbers of a label's vector, and of the document's that it is held against.
    pub(crate) bottleneck: usize,
    /// What the narrow document vector goes through.
    pub(crate) activation: Activation,
    /// Clusters of a document whose labels are ranked in training.
    pub(crate) beam: usize,
}

/// What the narrow document vector goes through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// Nothing, as in the paper's program.
    #[default]
    None,
    /// A sigmoid, as in the paper.
    Sigmoid,
    /// A rectifier.
    Relu,
}

impl Activation {
    pub(crate) fn apply(self, values: Tensor) -> Tensor {
        match self {
            Self::None => values,
            Self::Sigmoid => values.sigmoid(),
            Self::Relu => values.relu(),
        }
    }
}

/// When the negatives of a document are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Negatives {
    /// At each step, by clusters that are still learnt.
    Dynamic,
    /// By clusters that have been learnt before and rest, as does the encoder: the paper's S.
    Static,
    /// Likewise, and labels are ranked by an encoder of their own, which starts from the one that has learnt
    /// clusters: the paper's BS.
    StaticTwoEncoders,
}

/// Which parts learn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// All.
    Joint,
    /// Those that recall clusters.
    Recall,
    /// Those that rank labels, while clusters rest.
    Rank,
}

/// Generator and discriminator. Where each cluster is one label, the generator scores labels by
/// itself: that is the paper's form for small label sets.
#[derive(Debug)]
pub(crate) struct Clustered {
    /// clusters x width; labels x width without a discriminator.
    weights: ParameterId,
    bias: ParameterId,
    num_outputs: i64,
    num_labels: i64,
    discriminator: Option<Discriminator>,
}

/// What a new head starts from.
pub(crate) struct ClusteredSetup<'a> {
    pub(crate) config: &'a ClusteredConfig,
    /// Numbers of a document vector.
    pub(crate) width: usize,
    pub(crate) clusters: &'a Clusters,
    /// Training documents of each cluster, see [`Clusters::count_documents`].
    pub(crate) counts: LabelFacts<'a>,
    /// Which table of the parameters will hold the vectors of the labels.
    pub(crate) table: usize,
    pub(crate) device: Device,
}

impl Clustered {
    /// A fresh head, and the first vectors of the labels where it ranks them.
    pub(crate) fn new(
        setup: &ClusteredSetup<'_>,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> (Self, Option<Tensor>) {
        let num_outputs = setup.clusters.num_clusters() as i64;
        let num_labels = setup.clusters.num_labels() as i64;
        let is_flat = num_outputs == num_labels;
        let mut log_odds = setup.counts.log_odds();
        if is_flat {
            let cluster_of = |label| i64::from(setup.clusters.cluster_of(label));
            let by_label: Vec<i64> = (0..num_labels as u32).map(cluster_of).collect();
            log_odds = log_odds.index_select(0, &Tensor::from_slice(&by_label));
        }
        let shape = [num_outputs, setup.width as i64];
        let weights = builder.add_label_matrix("head.clusters", zeros(&shape));
        let bias = builder.add_label_matrix("head.cluster_bias", log_odds);
        let (discriminator, rows) = if is_flat {
            (None, None)
        } else {
            let (discriminator, rows) = Discriminator::new(setup, builder, start);
            (Some(discriminator), Some(rows))
        };
        let head = Self {
            weights,
            bias,
            num_outputs,
            num_labels,
            discriminator,
        };
        (head, rows)
    }

    /// Scores of clusters, or of labels without a discriminator, before the sigmoid.
    ///
    /// # Shapes
    /// Gives documents x clusters.
    fn logits(&self, input: &VectorInput<'_>) -> Tensor {
        let dense = &input.parameters.dense;
        let (weights, bias) = (dense.computed(self.weights), dense.computed(self.bias));
        input.recalling().linear(weights, Some(bias))
    }

    /// What the generator says, beside the truth.
    fn recalled(&self, logits: &Tensor, targets: &LabelPlaces) -> Recalled {
        match &self.discriminator {
            Some(discriminator) => discriminator.choice().recalled(logits, targets),
            None => Recalled::new(logits, targets, targets.labels()),
        }
    }
}

impl LabelHead<VectorInput<'_>> for Clustered {
    /// The loss is that of clusters and that of candidates, each summed or averaged by the step's loss
    /// scale, and averaged over documents.
    fn learn(&self, input: &VectorInput<'_>, step: &HeadStep<'_>) -> Result<Learnt> {
        let HeadStep {
            targets,
            part,
            loss: scale,
            phase,
            ..
        } = *step;
        let logits = match phase {
            Phase::Rank => tch::no_grad(|| self.logits(input)),
            Phase::Joint | Phase::Recall => self.logits(input),
        };
        let recalled = tch::no_grad(|| self.recalled(&logits, targets));
        let mut loss = Tensor::zeros([], (Kind::Float, logits.device()));
        let mut back = Vec::new();
        let mut rows = Vec::new();
        if phase != Phase::Rank {
            let _no_grad = tch::no_grad_guard();
            let per_document = match scale {
                LossScale::Sum => 1,
                LossScale::Mean => self.num_outputs,
            };
            let share = 1.0 / (targets.num_documents() as i64 * per_document) as f64;
            loss += recalled.loss() * share;
            let gradient = (&recalled.probabilities - &recalled.truth) * (share * part.scale);
            back.push((logits, gradient));
        }
        if let Some(discriminator) = &self.discriminator
            && phase != Phase::Recall
        {
            let hidden = discriminator.hidden(input);
            let ranked = tch::no_grad(|| {
                let candidates = discriminator.choice().choose(&recalled, targets, scale);
                discriminator.learn(input, &hidden.detach(), &candidates, targets, part.scale)
            });
            loss += ranked.loss;
            back.push((hidden, ranked.gradient));
            rows.push(ranked.rows);
        }
        send_back(&back);
        Ok(Learnt { loss, rows })
    }

    fn rank(&self, input: &VectorInput<'_>, beam: usize, keep: usize) -> Ranked {
        let _no_grad = tch::no_grad_guard();
        let keep = (keep as i64).min(self.num_labels);
        let log_scores = self.logits(input).to_kind(Kind::Float).log_sigmoid();
        if let Some(discriminator) = &self.discriminator {
            discriminator.rank(input, &log_scores, beam, keep)
        } else {
            let (log_scores, labels) = log_scores.topk(keep, 1, true, true);
            Ranked { log_scores, labels }
        }
    }

    fn log_odds_of(&self, input: &VectorInput<'_>, label: u32) -> Tensor {
        let logits = self.logits(input).to_kind(Kind::Float);
        match &self.discriminator {
            Some(discriminator) => {
                let cluster = i64::from(discriminator.choice().cluster_of(label));
                let of_label = discriminator.logit_of(input, label).log_sigmoid();
                log_odds(&(logits.select(1, cluster).log_sigmoid() + of_label))
            }
            None => logits.select(1, i64::from(label)),
        }
    }
}

#[cfg(test)]
mod tests;
