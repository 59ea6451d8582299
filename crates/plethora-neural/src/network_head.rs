//! The head of a network of words.

use tch::Tensor;

use crate::head::{ClusteredAttention, ClusteredAttentionSetup, Head};
use crate::parameters::DenseParametersBuilder;
use crate::word_config::HeadConfig;
use crate::word_network::{LABEL_TABLE, NetworkSetup};

/// From what the encoder gives to labels.
#[derive(Debug)]
pub(crate) enum NetworkHead {
    /// Scores labels, all or candidates that the batch brings.
    Labels(Head),
    /// Chooses among clusters of labels and scores those of the chosen ones.
    Clustered(Box<ClusteredAttention>),
}

impl NetworkHead {
    /// The head that the settings ask for, and the first rows of its label table where it has one.
    pub(crate) fn new(
        setup: &NetworkSetup<'_>,
        width: usize,
        builder: &mut DenseParametersBuilder,
    ) -> (Self, Option<Tensor>) {
        let config = setup.config;
        let (labels, start) = (&setup.labels, setup.start.named("head"));
        if let (HeadConfig::ClusteredAttention(head), Some((clusters, cluster_facts))) =
            (&config.head, setup.clusters)
            && clusters.num_clusters() < clusters.num_labels()
        {
            let setup = ClusteredAttentionSetup {
                config: head,
                width,
                clusters,
                cluster_facts,
                labels: *labels,
                beam: config.clusters.as_ref().map_or(1, |clusters| clusters.beam),
                label_chunk: config.train.label_chunk,
                table: LABEL_TABLE,
                device: setup.device,
            };
            let (head, rows) = ClusteredAttention::new(&setup, builder, start);
            return (Self::Clustered(Box::new(head)), Some(rows));
        }
        let has_candidates = setup.has_candidates;
        let (mut head, rows) =
            Head::new(&config.head, width, labels, has_candidates, builder, start);
        if let Head::Attention(attention) = &mut head {
            attention.set_chunk(config.train.label_chunk);
        }
        (Self::Labels(head), rows)
    }
}
