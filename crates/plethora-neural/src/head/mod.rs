//! From what an encoder gives to a score for each label. **A new head** is one file here and one
//! arm of [`Head`].

mod adaptive;
mod all_labels;
mod attention;
mod attention_form;
mod bottleneck;
mod candidates;
mod clustered;
mod clustered_attention;
mod clusters;
mod discriminator;
mod document_lists;
mod exact;
mod label_chunks;
mod layers;
mod prior;
mod shared_context;
mod vector_input;

use tch::Tensor;

use crate::clustered_attention_config::ClusteredAttentionConfig;
use crate::encoder::Encoded;
use crate::parameters::{DenseParameters, DenseParametersBuilder, RowTable, TableRows};
use crate::start::Start;
use crate::word_config::HeadConfig;

pub(crate) use adaptive::{Adaptive, AdaptiveSetup, choose_cut_offs, frequency_clusters};
pub(crate) use all_labels::AllLabels;
pub(crate) use attention::Attention;
use attention::Lesson;
use attention_form::AttentionForm;
pub(crate) use bottleneck::Bottleneck;
pub use clustered::{Activation, Negatives};
pub(crate) use clustered::{Clustered, ClusteredConfig, ClusteredSetup, Phase};
#[cfg(test)]
pub(crate) use clustered_attention::Said;
pub(crate) use clustered_attention::{ClusteredAttention, ClusteredAttentionSetup, StatesInput};
pub(crate) use clusters::Clusters;
pub(crate) use exact::{Exact, ExactConfig, ExactSetup};
pub(crate) use prior::Prior;
pub(crate) use vector_input::{LabelPlaces, Ranked, VectorInput};

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

/// A batch between encoder and head.
pub(crate) struct HeadInput<'a> {
    pub(crate) parameters: &'a DenseParameters,
    pub(crate) encoded: Encoded,
    /// documents x words; true where a document has a word; absent where all are equally long.
    pub(crate) mask: Option<&'a Tensor>,
    pub(crate) is_training: bool,
}

/// The labels that are scored.
pub(crate) enum Scored<'a> {
    /// All of them.
    All,
    /// Other ones for each document, from these rows of the label table.
    Candidates {
        /// Rows of the label table.
        rows: &'a TableRows,
        /// documents x candidates: places in the rows.
        places: &'a Tensor,
        /// documents x candidates: one for a candidate, zero for filling.
        filled: &'a Tensor,
    },
}

/// A head of any kind.
#[derive(Debug)]
pub(crate) enum Head {
    Attention(Attention),
    AllLabels(AllLabels),
}

impl Head {
    /// A fresh head over an encoder of this width. With `has_candidates` the vectors of the labels
    /// are a table of their own, which is returned.
    pub(crate) fn new(
        config: &HeadConfig,
        width: usize,
        labels: &LabelFacts<'_>,
        has_candidates: bool,
        builder: &mut DenseParametersBuilder,
        start: Start,
    ) -> (Self, Option<Tensor>) {
        match config {
            // Where each cluster is one label there is nothing left to rank in it.
            HeadConfig::Attention(config)
            | HeadConfig::ClusteredAttention(ClusteredAttentionConfig {
                generator: config, ..
            }) => {
                let form = AttentionForm::plain(config.clone(), has_candidates);
                let (head, table) = Attention::new(form, width, labels, builder, start);
                (Self::Attention(head), table)
            }
            HeadConfig::AllLabels(config) => {
                let head = AllLabels::new(config, width, labels, builder, start);
                (Self::AllLabels(head), None)
            }
        }
    }

    /// Adds the gradients of `scale` times the summed loss of all labels and documents; returns that
    /// sum, unscaled.
    ///
    /// # Shapes
    /// `targets`: documents x labels or candidates.
    pub(crate) fn learn(
        &self,
        input: &HeadInput<'_>,
        scored: &Scored<'_>,
        targets: &Tensor,
        scale: f64,
    ) -> Tensor {
        match (self, &input.encoded) {
            (Self::Attention(head), Encoded::States(states)) => {
                let lesson = Lesson {
                    scored,
                    targets,
                    scale,
                };
                head.learn(input, states, &lesson)
            }
            (Self::AllLabels(head), encoded) => head.learn(input, encoded, targets, scale),
            (Self::Attention(_), Encoded::Vector(_)) => {
                unreachable!("settings with attention and no states are refused")
            }
        }
    }

    /// Scores before the sigmoid.
    ///
    /// # Shapes
    /// Gives documents x labels or candidates.
    pub(crate) fn logits(&self, input: &HeadInput<'_>, scored: &Scored<'_>) -> Tensor {
        match (self, &input.encoded) {
            (Self::Attention(head), Encoded::States(states)) => head.logits(input, states, scored),
            (Self::AllLabels(head), encoded) => head.logits(input, encoded),
            (Self::Attention(_), Encoded::Vector(_)) => {
                unreachable!("settings with attention and no states are refused")
            }
        }
    }

    /// How strongly one label attends to each word; absent where the head has no attention.
    ///
    /// # Shapes
    /// Gives documents x words.
    pub(crate) fn attention(
        &self,
        input: &HeadInput<'_>,
        table: Option<&RowTable>,
        label: u32,
    ) -> Option<Tensor> {
        match (self, &input.encoded) {
            (Self::Attention(head), Encoded::States(states)) => {
                Some(head.attention(input, states, table, label))
            }
            _ => None,
        }
    }
}
