//! A network from pieces to labels: a pretrained transformer and a head over document vectors.

use std::cell::Cell;

use tch::{Device, Kind, Tensor};

use super::adaptive::{Adaptive, AdaptiveConfig, AdaptiveSetup};
use super::batch::{PieceBatch, PiecesOnDevice};
use super::config::PieceConfig;
use crate::Result;
use crate::head::{
    AllLabels, Clustered, ClusteredConfig, ClusteredSetup, Clusters, Exact, ExactConfig,
    ExactSetup, HeadStep, LabelFacts, OutputKind, Phase, Ranked, VectorHead, VectorInput,
};
use crate::parameters::{DenseParametersBuilder, Parameters, RowTable};
use crate::start::Start;
use crate::train::{Learnt, LossScale, Network, StepPart};
use crate::transformer::{Architecture, PieceInput, Transformer, Weights};

/// The table of label vectors of the clustered form.
const LABEL_TABLE: usize = 0;

/// Pieces in, scores of labels out.
#[derive(Debug)]
pub(crate) struct PieceNetwork {
    parameters: Parameters,
    encoder: Transformer,
    head: Box<VectorHead>,
    dropout: f64,
    dropout_share: f64,
    device: Device,
    loss: LossScale,
    phase: Cell<Phase>,
}

/// How labels are scored, with the groups that they are scored in where there are some.
#[derive(Debug)]
pub(crate) enum HeadPlan {
    Flat,
    Exact,
    Clustered(Clusters),
    Adaptive(AdaptiveConfig, Clusters),
}

impl HeadPlan {
    /// The groups of labels.
    pub(crate) fn clusters(&self) -> Option<&Clusters> {
        match self {
            Self::Flat | Self::Exact => None,
            Self::Clustered(clusters) | Self::Adaptive(_, clusters) => Some(clusters),
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
    /// Of numbers that are computed with.
    pub(crate) kind: Kind,
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
        let (head, tables) = setup.head(encoder.width(), &mut builder);
        Ok(Self {
            parameters: Parameters {
                dense: if setup.is_trained {
                    builder.finish_in(device, setup.kind)
                } else {
                    builder.finish_to_read(device, setup.kind)
                },
                tables,
            },
            encoder,
            head,
            dropout: config.document.dropout,
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

    pub(crate) fn device(&self) -> Device {
        self.device
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

    /// The best labels of each document, through so many clusters where there are some.
    pub(crate) fn rank(&self, batch: &PieceBatch, beam: usize, keep: usize) -> Ranked {
        tch::no_grad(|| {
            let pieces = batch.to_device(self.device);
            let vector = self.vector(&pieces);
            let input = VectorInput {
                parameters: &self.parameters,
                vector: &vector,
                prior: None,
            };
            self.head.rank(&input, beam, keep)
        })
    }

    /// documents x width, with nothing left out.
    fn vector(&self, pieces: &PiecesOnDevice) -> Tensor {
        let input = at_rest(pieces);
        self.encoder.forward(&self.parameters.dense, &input).vector
    }

    fn learn_labels(&self, vector: &Tensor, batch: &PieceBatch, step: &StepPart<'_>) -> Learnt {
        let targets = batch
            .targets
            .as_ref()
            .expect("batches to learn from have targets")
            .to_device(self.device);
        let input = VectorInput {
            parameters: &self.parameters,
            vector,
            prior: None,
        };
        let step = HeadStep {
            targets: &targets,
            part: step,
            loss: self.loss,
            phase: self.phase.get(),
            drops: step.epoch_progress < self.dropout_share,
        };
        self.head.learn(&input, &step)
    }
}

impl PieceSetup<'_> {
    /// The head that the settings ask for, and its tables. A new one is one more arm.
    fn head(
        &self,
        width: usize,
        builder: &mut DenseParametersBuilder,
    ) -> (Box<VectorHead>, Vec<RowTable>) {
        let PieceSetup { config, device, .. } = *self;
        let (head, labels) = (&config.head, &self.labels);
        let start = self.start.named("head");
        match self.plan {
            HeadPlan::Clustered(clusters) => {
                let setup = ClusteredSetup {
                    config: &ClusteredConfig {
                        bottleneck: head.bottleneck,
                        activation: head.activation,
                        beam: config.clusters.beam,
                    },
                    width,
                    clusters,
                    counts: self.clusters,
                    table: LABEL_TABLE,
                    device,
                };
                let (head, rows) = Clustered::new(&setup, builder, start);
                let table =
                    rows.map(|rows| RowTable::new("labels", &rows, true, device).of_labels());
                (Box::new(head), table.into_iter().collect())
            }
            HeadPlan::Exact => {
                let settings = ExactConfig {
                    bottleneck: head.bottleneck,
                    learning_rate: head.label_learning_rate,
                    momentum: head.label_momentum,
                    weight_decay: head.label_weight_decay,
                    chunk: config.train.label_chunk,
                };
                let setup = ExactSetup {
                    config: &settings,
                    width,
                    labels: *labels,
                    first_table: 0,
                    device,
                };
                let (head, tables) = Exact::new(&setup, builder, start);
                (Box::new(head), tables)
            }
            HeadPlan::Adaptive(adaptive, clusters) => {
                let setup = AdaptiveSetup {
                    config: adaptive,
                    width,
                    labels: *labels,
                    clusters,
                    counts: self.clusters,
                    chunk: config.train.label_chunk,
                    device,
                };
                let (head, tails) = Adaptive::new(&setup, builder, start);
                let tables = (1..).zip(&tails).map(|(number, vectors)| {
                    RowTable::new(format!("tail-{number}"), vectors, true, device).of_labels()
                });
                (Box::new(head), tables.collect())
            }
            HeadPlan::Flat => (
                Box::new(AllLabels::new(width, OutputKind::Sigmoid, labels, builder)),
                Vec::new(),
            ),
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
        if self.phase.get() == Phase::Rank {
            // The encoder rests: its vectors are those of prediction.
            let vector = tch::no_grad(|| self.vector(&pieces));
            let vector = vector.dropout(self.dropout, drops);
            let learnt = self.learn_labels(&vector, batch, step);
            dense.collect();
            return Ok(learnt);
        }
        let input = PieceInput {
            is_training: true,
            drops,
            seed: step.seed,
            ..at_rest(&pieces)
        };
        let trace = self.encoder.forward(dense, &input);
        let vector = trace.vector.dropout(self.dropout, drops);
        let learnt = self.learn_labels(&vector, batch, step);
        self.encoder.backward(dense, &input, trace);
        dense.collect();
        Ok(learnt)
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
