//! What ranks the labels of chosen clusters.

use tch::{Device, Tensor};

use super::ClusteredAttentionSetup;
use crate::parameters::DenseParametersBuilder;
use crate::start::Start;
use crate::words::clustered_attention_config::LabelContext;
use crate::words::config::AttentionConfig;
use crate::words::head::attention::Attention;
use crate::words::head::attention_form::AttentionForm;
use crate::words::head::shared_context::SharedContext;

/// Ranks the labels of chosen clusters.
#[derive(Debug)]
pub(super) enum Discriminator {
    /// Each label attends with a vector of its own.
    Label(Attention),
    /// Labels share what their clusters find.
    Cluster(SharedContext),
    /// All labels share the mean of all states.
    Document(SharedContext),
}

impl Discriminator {
    /// A fresh one, and the first rows of the labels.
    pub(super) fn new(
        setup: &ClusteredAttentionSetup<'_>,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> (Self, Tensor) {
        let config = &setup.config.discriminator;
        if config.context == LabelContext::Label {
            let form = AttentionForm {
                name: "head.discriminator",
                config: AttentionConfig {
                    layers: config.layers.clone(),
                    start_spread: config.start_spread,
                    label_outputs: true,
                    label_bias: false,
                },
                activation: config.activation,
                has_shared_output: config.shared_output,
                is_added: false,
                width: setup.width,
            };
            let (mut attention, rows) =
                Attention::of_candidates(form, setup.table, &setup.labels, builder, start);
            attention.set_chunk(setup.label_chunk);
            return (Self::Label(attention), rows);
        }
        let num_labels = setup.clusters.num_labels() as i64;
        let (mut shared, rows) =
            SharedContext::new(config, setup.width, num_labels, builder, start);
        shared.chunk = setup.label_chunk as i64;
        let discriminator = match config.context {
            LabelContext::Cluster => Self::Cluster(shared),
            LabelContext::Label | LabelContext::Document => Self::Document(shared),
        };
        (discriminator, rows)
    }

    /// Numbers that are made at a time of a batch of so many documents and words.
    pub(super) fn map_size(&self, batch: (i64, i64), num_scored: i64, device: Device) -> i64 {
        match self {
            Self::Label(attention) => attention.map_size(batch, num_scored, device),
            Self::Cluster(shared) | Self::Document(shared) => {
                shared.map_size(batch.0, num_scored, device)
            }
        }
    }
}
