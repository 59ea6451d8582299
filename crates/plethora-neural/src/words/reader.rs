//! An encoder of words and a head that takes what it gives.

use tch::{Kind, Tensor};

use super::config::{NetworkForm, StatesForm};
use super::encoder::{BiLstm, Cnn, WordVectors};
use super::head::{
    Attention, AttentionForm, ClusteredAttention, ClusteredAttentionSetup, HeadNeed, LabelLayers,
    Pooled, StatesHead,
};
use super::network::{LABEL_TABLE, NetworkSetup};
use crate::Result;
use crate::parameters::{DenseParameters, DenseParametersBuilder};

/// From word vectors to labels. Which heads go behind an encoder is a matter of types.
#[derive(Debug)]
pub(crate) enum Reader {
    /// A state per word.
    States {
        /// Makes the states.
        encoder: BiLstm,
        /// Scores labels by them.
        head: Box<dyn StatesHead>,
    },
    /// A vector per document.
    Vectors {
        /// Makes the vectors.
        encoder: Cnn,
        /// Scores labels by them.
        head: LabelLayers,
    },
}

impl Reader {
    /// The encoder and head that the settings ask for, and the first rows of the head's label table
    /// where it has one.
    pub(crate) fn new(
        setup: &NetworkSetup<'_>,
        builder: &mut DenseParametersBuilder,
    ) -> Result<(Self, Option<Tensor>)> {
        let width = setup.config.vectors.width;
        let of_encoder = setup.start.named("encoder");
        let (encoder, head) = match setup.config.form()? {
            NetworkForm::Convolutions(encoder, head) => {
                let encoder = Cnn::new(encoder.clone(), width, builder, of_encoder);
                let of_head = setup.start.named("head");
                let head = LabelLayers::new(head, encoder.width(), &setup.labels, builder, of_head);
                return Ok((Self::Vectors { encoder, head }, None));
            }
            NetworkForm::States(encoder, head) => (encoder, head),
        };
        let encoder = BiLstm::new(encoder.clone(), width, builder, of_encoder);
        let (head, rows) = states_head(setup, &head, encoder.width(), builder);
        Ok((Self::States { encoder, head }, rows))
    }

    /// Encodes a batch, computing with numbers of `kind`.
    ///
    /// # Shapes
    /// Gives documents x words x width for states, documents x width for vectors.
    pub(crate) fn encode(
        &self,
        parameters: &DenseParameters,
        words: &WordVectors<'_>,
        kind: Kind,
    ) -> Tensor {
        match self {
            Self::States { encoder, .. } => encoder.forward(parameters, words, kind),
            Self::Vectors { encoder, .. } => encoder.forward(parameters, words, kind),
        }
    }

    /// What the head makes of a training batch of so many documents and words at most.
    pub(crate) fn need(&self, batch: (i64, i64), device: tch::Device) -> HeadNeed {
        match self {
            Self::States { head, .. } => head.need(batch, device),
            Self::Vectors { head, .. } => head.need(),
        }
    }
}

/// The head that the settings ask for. A new one is one more arm.
fn states_head(
    setup: &NetworkSetup<'_>,
    form: &StatesForm<'_>,
    width: usize,
    builder: &mut DenseParametersBuilder,
) -> (Box<dyn StatesHead>, Option<Tensor>) {
    let start = setup.start.named("head");
    let config = match form {
        StatesForm::Pooled(config) => {
            let head = LabelLayers::new(config, width, &setup.labels, builder, start);
            return (Box::new(Pooled(head)), None);
        }
        StatesForm::Attention(config) => config,
        StatesForm::Clustered(config, clusters) => {
            if let Some((of_labels, cluster_facts)) = setup.clusters
                && of_labels.num_clusters() < of_labels.num_labels()
            {
                let setup = ClusteredAttentionSetup {
                    config,
                    width,
                    clusters: of_labels,
                    cluster_facts,
                    labels: setup.labels,
                    beam: clusters.beam,
                    label_chunk: setup.config.train.label_chunk,
                    table: LABEL_TABLE,
                    device: setup.device,
                };
                let (head, rows) = ClusteredAttention::new(&setup, builder, start);
                return (Box::new(head), Some(rows));
            }
            // Where each cluster is one label there is nothing left to rank in it.
            &config.generator
        }
    };
    let form = AttentionForm::plain((*config).clone(), width);
    let labels = &setup.labels;
    let (mut head, rows) = if let Some(most) = setup.candidates {
        let (mut head, rows) = Attention::of_candidates(form, LABEL_TABLE, labels, builder, start);
        head.set_most_candidates(most);
        (head, Some(rows))
    } else {
        (Attention::of_all(form, labels, builder, start), None)
    };
    head.set_chunk(setup.config.train.label_chunk);
    (Box::new(head), rows)
}
