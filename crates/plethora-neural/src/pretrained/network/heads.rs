//! The head of a new network.

use super::{HeadPlan, PieceHead, PieceSetup};
use crate::head::{
    AllLabels, Clustered, ClusteredConfig, ClusteredSetup, Exact, ExactConfig, ExactSetup,
    OutputKind, VectorHead,
};
use crate::parameters::{DenseParametersBuilder, RowTable};
use crate::pretrained::adaptive::{Adaptive, AdaptiveSetup};
use crate::pretrained::label_attention::{LabelAttention, LabelAttentionSetup};
use crate::transformer::Transformer;

/// The table of label vectors of the clustered form.
const LABEL_TABLE: usize = 0;

impl PieceSetup<'_> {
    /// The head that the settings ask for, and its tables. A new one is one more arm.
    pub(super) fn head(
        &self,
        encoder: &Transformer,
        builder: &mut DenseParametersBuilder,
    ) -> (PieceHead, Vec<RowTable>) {
        if !matches!(self.plan, HeadPlan::Attention) {
            let (head, tables) = self.vector_head(encoder.width(), builder);
            return (PieceHead::Vector(head), tables);
        }
        let setup = LabelAttentionSetup {
            vector_width: encoder.width(),
            state_width: encoder.state_width(),
            found_width: self.config.head.bottleneck,
            labels: self.labels,
            chunk: self.config.train.label_chunk,
        };
        let head = LabelAttention::new(&setup, builder, self.start.named("head"));
        (PieceHead::Attention(head), Vec::new())
    }

    /// A head that reads document vectors.
    fn vector_head(
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
            HeadPlan::Flat | HeadPlan::Attention => (
                Box::new(AllLabels::new(width, OutputKind::Sigmoid, labels, builder)),
                Vec::new(),
            ),
        }
    }
}
