//! From document vectors to a score for each label, and what all heads share.

mod all_labels;
mod bottleneck;
pub(crate) mod candidates;
mod clustered;
mod clusters;
mod discriminator;
pub(crate) mod document_lists;
mod exact;
pub(crate) mod label_chunks;
mod vector_input;

use std::fmt::Debug;

use tch::Tensor;

use crate::Result;
use crate::parameters::Parameters;
use crate::train::{Learnt, LossScale, StepPart};

pub(crate) use all_labels::AllLabels;
pub use all_labels::OutputKind;
pub(crate) use bottleneck::Bottleneck;
pub use clustered::{Activation, Negatives};
pub(crate) use clustered::{Clustered, ClusteredConfig, ClusteredSetup, Phase};
pub(crate) use clusters::Clusters;
pub(crate) use discriminator::set_gradient;
pub(crate) use exact::{Exact, ExactConfig, ExactSetup};
pub(crate) use label_chunks::{chunk_limit, label_chunks};
pub(crate) use vector_input::{LabelPlaces, Prior, Ranked, VectorInput, send_back};

/// From what an encoder gives of a batch to labels. A head says by its type what it takes: one over the
/// states of words does not go behind an encoder that gives a vector per document.
pub(crate) trait LabelHead<Encoded>: Debug + Send {
    /// Adds the gradients of the step's scale times the loss, a mean over documents, and sends those of
    /// what the encoder gave back through it.
    fn learn(&self, encoded: &Encoded, step: &HeadStep<'_>) -> Result<Learnt>;

    /// Takes part in a batch of other processes while this one has none, where labels lie in shards. Gives what
    /// that adds to the loss of the step.
    fn assist(&self, _: &Parameters, _: &StepPart<'_>, _: LossScale) -> Result<f64> {
        Ok(0.0)
    }

    /// The best `keep` labels of each document, or all where these are fewer; heads with clusters of
    /// labels look into the best `beam` ones.
    fn rank(&self, encoded: &Encoded, beam: usize, keep: usize) -> Ranked;

    /// The log-odds of a label's score, one per document, part of the graph of what the encoder gave;
    /// of heads whose models are explained by gradients.
    fn log_odds_of(&self, _encoded: &Encoded, _label: u32) -> Tensor {
        panic!("the head is explained otherwise");
    }

    /// Scores of all labels before the sigmoid, of heads that ever have them.
    #[cfg(test)]
    fn logits(&self, _encoded: &Encoded) -> Tensor {
        panic!("the head never has all logits");
    }
}

/// A head behind an encoder that gives a vector per document.
pub(crate) type VectorHead = dyn for<'a> LabelHead<VectorInput<'a>>;

/// What a head is to learn of a batch.
pub(crate) struct HeadStep<'a> {
    pub(crate) targets: &'a LabelPlaces,
    /// Where in the course of training the batch comes.
    pub(crate) part: &'a StepPart<'a>,
    /// How the losses of a document's labels become one.
    pub(crate) loss: LossScale,
    pub(crate) phase: Phase,
    /// Whether dropout leaves anything out.
    pub(crate) drops: bool,
}

/// Log-odds of the logarithm of a score.
pub(crate) fn log_odds(log_score: &Tensor) -> Tensor {
    // The nearest number to 1 that differs from it.
    let rest = (-log_score.exp() + 1.0).clamp_min(f64::from(f32::EPSILON));
    log_score - rest.log()
}

/// What a head needs to know of the labels to start.
#[derive(Clone, Copy)]
pub(crate) struct LabelFacts<'a> {
    /// Training documents of each label.
    pub(crate) train_counts: &'a [u32],
    /// Training documents.
    pub(crate) num_documents: u64,
}

impl LabelFacts<'_> {
    /// Log-odds of each label: with these as biases the first steps need not learn how rare
    /// labels are.
    pub(crate) fn log_odds(&self) -> Tensor {
        let total = self.num_documents as f64 + 2.0;
        let odds: Vec<f32> = self
            .train_counts
            .iter()
            .map(|&count| {
                let share = (f64::from(count) + 1.0) / total;
                (share / (1.0 - share)).ln() as f32
            })
            .collect();
        Tensor::from_slice(&odds)
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use tch::{Kind, Tensor};

    use super::{VectorHead, VectorInput};
    use crate::parameters::Parameters;

    fn input<'a>(parameters: &'a Parameters, vector: &'a Tensor) -> VectorInput<'a> {
        VectorInput {
            parameters,
            vector,
            prior: None,
            recall: None,
        }
    }

    /// The log-odds of every label are those of its score in the ranking, and a graph leads back from
    /// them to the document vector.
    pub(crate) fn check_log_odds(head: &VectorHead, parameters: &Parameters, vector: &Tensor) {
        let every = 1_000;
        let ranked = tch::no_grad(|| head.rank(&input(parameters, vector), every, every));
        let [num_documents, num_labels] = ranked.labels.size()[..] else {
            panic!("documents x labels");
        };
        for (document, place) in
            (0..num_documents).flat_map(|d| (0..num_labels).map(move |p| (d, p)))
        {
            let label = ranked.labels.int64_value(&[document, place]);
            let expected = ranked.log_scores.double_value(&[document, place]);
            let value = |vector: &Tensor| {
                head.log_odds_of(&input(parameters, vector), label as u32)
                    .flatten(0, -1)
                    .get(document)
            };
            let found = value(vector).log_sigmoid().double_value(&[]);
            assert!(
                (found - expected).abs() < 1e-4,
                "{label}: {found} for {expected}"
            );
            if place > 2 {
                continue;
            }
            let leaf = vector.copy().set_requires_grad(true);
            let gradient = Tensor::run_backward(&[value(&leaf)], &[&leaf], false, false).remove(0);
            let along = (gradient * vector).sum(Kind::Float).double_value(&[]);
            let step = 1e-2;
            let longer = |factor: f64| tch::no_grad(|| value(&(vector * factor)).double_value(&[]));
            let slope = (longer(1.0 + step) - longer(1.0 - step)) / (2.0 * step);
            assert!(
                (along - slope).abs() < 2e-3 + 0.02 * slope.abs(),
                "{label}: {along} for {slope}"
            );
        }
    }
}
