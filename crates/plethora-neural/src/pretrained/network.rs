//! A network from pieces to labels: a pretrained transformer and a head over document vectors.

use std::cell::Cell;

use rustc_hash::FxHashMap;
use tch::{Device, Tensor};

use super::adaptive::AdaptiveConfig;
use super::batch::{PieceBatch, PiecesOnDevice};
use super::config::PieceConfig;
use super::label_attention::{DocumentInput, LabelAttention};
use crate::Result;
use crate::head::{
    Clusters, HeadStep, LabelFacts, LabelHead as _, Negatives, Phase, Ranked, VectorHead,
    VectorInput,
};
use crate::parameters::{DenseParametersBuilder, Parameters};
use crate::precision::Numbers;
use crate::start::Start;
use crate::train::{Learnt, LossScale, Network, StepPart};
use crate::transformer::{Architecture, PieceInput, Pooling, Trace, Transformer, Weights};

/// What stands before the names of the parameters of an encoder that labels alone are ranked by.
const RANKING: &str = "ranking.";

/// Pieces in, scores of labels out.
#[derive(Debug)]
pub(crate) struct PieceNetwork {
    parameters: Parameters,
    encoder: Transformer,
    /// Reads documents for ranking labels, where the other one only chooses clusters.
    ranking_encoder: Option<Transformer>,
    head: PieceHead,
    pooling: Pooling,
    dropout: f64,
    /// Of the states that labels attend to.
    state_dropout: f64,
    dropout_share: f64,
    device: Device,
    loss: LossScale,
    phase: Cell<Phase>,
}

/// What scores labels, by what it reads of a document.
#[derive(Debug)]
enum PieceHead {
    /// Its vector.
    Vector(Box<VectorHead>),
    /// Its vector and the states of its pieces.
    Attention(LabelAttention),
}

/// A batch behind the encoder.
struct Encoded {
    /// documents x width.
    vector: Tensor,
    /// documents x width: what clusters are chosen by, where that is another vector.
    recall: Option<Tensor>,
    /// documents x pieces x width and where documents have a piece, for heads that attend to them.
    states: Option<(Tensor, Option<Tensor>)>,
}

/// How labels are scored, with the groups that they are scored in where there are some.
#[derive(Debug)]
pub(crate) enum HeadPlan {
    Flat,
    Exact,
    Attention,
    Clustered(Clusters),
    Adaptive(AdaptiveConfig, Clusters),
}

impl HeadPlan {
    /// The groups of labels.
    pub(crate) fn clusters(&self) -> Option<&Clusters> {
        match self {
            Self::Flat | Self::Exact | Self::Attention => None,
            Self::Clustered(clusters) | Self::Adaptive(_, clusters) => Some(clusters),
        }
    }

    /// How a network chooses negatives that has clusters first and labels then. Where each cluster is one
    /// label, there is no second stage.
    pub(super) fn negatives(&self, config: &PieceConfig) -> Option<Negatives> {
        match self {
            Self::Clustered(clusters) if clusters.num_clusters() < clusters.num_labels() => {
                Some(config.head.negatives)
            }
            _ => None,
        }
    }
}

/// What a new network starts from.
pub(crate) struct PieceSetup<'a> {
    pub(crate) config: &'a PieceConfig,
    pub(crate) architecture: &'a Architecture,
    pub(crate) weights: Weights<'a>,
    pub(crate) labels: LabelFacts<'a>,
    pub(crate) plan: &'a HeadPlan,
    /// Of the groups of labels; of none where the plan has none.
    pub(crate) clusters: LabelFacts<'a>,
    pub(crate) device: Device,
    pub(crate) numbers: Numbers,
    pub(crate) start: Start,
    /// False where weights come from a model, to rank with.
    pub(crate) is_trained: bool,
}

impl PieceNetwork {
    pub(crate) fn new(setup: &PieceSetup<'_>) -> Result<Self> {
        let PieceSetup { config, device, .. } = *setup;
        let mut builder = DenseParametersBuilder::default();
        let encoder = Transformer::new(
            setup.architecture,
            &config.encoder,
            &mut builder,
            setup.weights,
        )?;
        let encoder = match setup.plan {
            HeadPlan::Attention => encoder.giving_states(),
            _ => encoder,
        };
        let is_double = setup.plan.negatives(config) == Some(Negatives::StaticTwoEncoders);
        let ranking_encoder = is_double.then(|| {
            builder.under(RANKING, |builder| {
                let architecture = setup.architecture;
                Transformer::new(architecture, &config.encoder, builder, setup.weights)
            })
        });
        // Before the head is made, which has tables for labels of the encoder's width, and once all is known.
        setup.start.check(builder.num_values())?;
        let (head, tables) = setup.head(&encoder, &mut builder);
        let of_tables = tables.iter().map(|table| table.values().numel());
        let num_values = builder.num_values() + of_tables.sum::<usize>();
        setup.start.check(num_values)?;
        Ok(Self {
            parameters: Parameters {
                dense: if setup.is_trained {
                    builder.finish_in(device, setup.numbers.kind)
                } else {
                    builder.finish_to_read(device, setup.numbers)
                },
                tables,
            },
            encoder,
            ranking_encoder: ranking_encoder.transpose()?,
            head,
            pooling: config.encoder.pooling,
            dropout: config.document.dropout,
            state_dropout: config.encoder.dropout,
            dropout_share: config.document.dropout_share,
            device,
            loss: config.train.loss,
            phase: Cell::new(Phase::Joint),
        })
    }

    /// What the next steps train.
    pub(crate) fn set_phase(&self, phase: Phase) {
        self.phase.set(phase);
    }

    /// Lets the encoder that labels are ranked by, where it is one of its own, start from the other one.
    pub(super) fn begin_ranking(&self) {
        let all: FxHashMap<&str, &Tensor> = self.parameters.dense.iter().collect();
        tch::no_grad(|| {
            for (name, value) in &all {
                if let Some(start) = name.strip_prefix(RANKING).and_then(|name| all.get(name)) {
                    value.shallow_clone().copy_(start);
                }
            }
        });
    }

    pub(crate) fn device(&self) -> Device {
        self.device
    }

    /// The encoder that reads documents for ranking labels, and the one that chooses clusters, where it is
    /// another.
    pub(super) fn encoders(&self) -> (&Transformer, Option<&Transformer>) {
        match &self.ranking_encoder {
            Some(ranking) => (ranking, Some(&self.encoder)),
            None => (&self.encoder, None),
        }
    }

    /// The head, where it reads a document's vector alone.
    pub(super) fn vector_head(&self) -> Option<&VectorHead> {
        match &self.head {
            PieceHead::Vector(head) => Some(head.as_ref()),
            PieceHead::Attention(_) => None,
        }
    }

    /// Makes what is computed with what the weights are now; wanted before ranking, where they have
    /// changed.
    pub(crate) fn refresh(&self) {
        self.parameters.dense.refresh();
    }

    /// Gives up what only training needs.
    pub(crate) fn end_training(&mut self) {
        self.parameters.dense.end_training();
    }

    /// Numbers of the vectors that documents are compared by: those of the last layer.
    pub(crate) fn vector_width(&self) -> usize {
        self.encoder.state_width()
    }

    /// The best labels of each document, through so many clusters where there are some, unless none are to be
    /// kept; and documents x [`vector_width`](Self::vector_width) to compare documents by.
    pub(crate) fn rank_with_vectors(
        &self,
        batch: &PieceBatch,
        beam: usize,
        keep: usize,
    ) -> (Option<Ranked>, Tensor) {
        tch::no_grad(|| {
            let pieces = batch.to_device(self.device);
            let encoded = self.at_rest(&pieces);
            let ranked = (keep > 0).then(|| match &self.head {
                PieceHead::Vector(head) => head.rank(&self.input(&encoded), beam, keep),
                PieceHead::Attention(head) => head.rank(&self.document_input(&encoded), beam, keep),
            });
            // The last layer comes first.
            let last = encoded.vector.narrow(1, 0, self.vector_width() as i64);
            (ranked, last)
        })
    }

    /// What the encoders say of documents, with nothing left out.
    fn at_rest(&self, pieces: &PiecesOnDevice) -> Encoded {
        let read = |encoder: &Transformer| {
            let trace = encoder.forward(&self.parameters.dense, &at_rest(pieces));
            self.together(&trace, pieces, false)
        };
        match self.encoders() {
            (ranking, Some(choosing)) => Encoded {
                recall: Some(read(choosing).vector),
                ..read(ranking)
            },
            (only, None) => read(only),
        }
    }

    /// One vector of all windows of a document, and their states side by side.
    fn together(&self, trace: &Trace, pieces: &PiecesOnDevice, drops: bool) -> Encoded {
        let windows = pieces.windows.as_ref();
        let vector = match windows {
            Some(windows) => windows.pooled(&trace.vector, &pieces.lengths, self.pooling),
            None => trace.vector.shallow_clone(),
        };
        let states = trace.states.as_ref().map(|states| {
            let (states, mask) = if let Some(windows) = windows {
                let (states, mask) = windows.side_by_side(states);
                (states, Some(mask))
            } else {
                let mask = pieces.mask.as_ref().map(Tensor::shallow_clone);
                (states.shallow_clone(), mask)
            };
            (left_out(states, self.state_dropout, drops), mask)
        });
        Encoded {
            vector: left_out(vector, self.dropout, drops),
            recall: None,
            states,
        }
    }

    fn input<'a>(&'a self, encoded: &'a Encoded) -> VectorInput<'a> {
        VectorInput {
            parameters: &self.parameters,
            vector: &encoded.vector,
            recall: encoded.recall.as_ref(),
            prior: None,
        }
    }

    fn document_input<'a>(&'a self, encoded: &'a Encoded) -> DocumentInput<'a> {
        let states = encoded.states.as_ref();
        let (states, mask) = states.expect("an encoder behind attention gives states");
        DocumentInput {
            vector: self.input(encoded),
            states,
            mask: mask.as_ref(),
        }
    }

    fn learn_labels(
        &self,
        encoded: &Encoded,
        batch: &PieceBatch,
        step: &StepPart<'_>,
    ) -> Result<Learnt> {
        let targets = batch
            .targets
            .as_ref()
            .expect("batches to learn from have targets")
            .to_device(self.device);
        let step = HeadStep {
            targets: &targets,
            part: step,
            loss: self.loss,
            phase: self.phase.get(),
            drops: step.epoch_progress < self.dropout_share,
        };
        match &self.head {
            PieceHead::Vector(head) => head.learn(&self.input(encoded), &step),
            PieceHead::Attention(head) => head.learn(&self.document_input(encoded), &step),
        }
    }
}

impl Network for PieceNetwork {
    type Batch = PieceBatch;

    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn learn(&self, batch: &PieceBatch, step: &StepPart<'_>) -> Result<Learnt> {
        let dense = &self.parameters.dense;
        dense.refresh();
        let pieces = batch.to_device(self.device);
        let drops = step.epoch_progress < self.dropout_share;
        let input = PieceInput {
            is_training: true,
            drops,
            seed: step.seed,
            ..at_rest(&pieces)
        };
        // Clusters that rest are chosen as in prediction.
        let resting = || {
            let trace = tch::no_grad(|| self.encoder.forward(dense, &at_rest(&pieces)));
            self.together(&trace, &pieces, false).vector
        };
        let learnt = match (self.phase.get(), self.encoders()) {
            (Phase::Rank, (_, None)) => {
                let resting = resting();
                let encoded = Encoded {
                    vector: left_out(resting.shallow_clone(), self.dropout, drops),
                    recall: Some(resting),
                    states: None,
                };
                self.learn_labels(&encoded, batch, step)?
            }
            (Phase::Rank, (ranking, Some(_))) => {
                let trace = ranking.forward(dense, &input);
                let encoded = Encoded {
                    recall: Some(resting()),
                    ..self.together(&trace, &pieces, drops)
                };
                let learnt = self.learn_labels(&encoded, batch, step)?;
                ranking.backward(dense, &input, trace);
                learnt
            }
            (Phase::Joint | Phase::Recall, _) => {
                let trace = self.encoder.forward(dense, &input);
                let encoded = self.together(&trace, &pieces, drops);
                let learnt = self.learn_labels(&encoded, batch, step)?;
                self.encoder.backward(dense, &input, trace);
                learnt
            }
        };
        dense.collect();
        Ok(learnt)
    }

    fn assist(&self, step: &StepPart<'_>) -> Result<f64> {
        match &self.head {
            PieceHead::Vector(head) => head.assist(&self.parameters, step, self.loss),
            PieceHead::Attention(_) => Ok(0.0),
        }
    }
}

/// Dropout where it does something.
fn left_out(numbers: Tensor, share: f64, drops: bool) -> Tensor {
    if drops && share > 0.0 {
        numbers.dropout(share, true)
    } else {
        numbers
    }
}

/// Pieces to be read as in prediction.
pub(crate) fn at_rest(pieces: &PiecesOnDevice) -> PieceInput<'_> {
    PieceInput {
        ids: &pieces.ids,
        lengths: &pieces.lengths,
        mask: pieces.mask.as_ref(),
        is_training: false,
        drops: false,
        seed: 0,
    }
}

mod heads;
#[cfg(test)]
mod tests;
