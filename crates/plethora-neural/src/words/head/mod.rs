//! From what an encoder of words gives to a score for each label.

mod attention;
mod attention_form;
mod clustered_attention;
mod label_layers;
mod layers;
mod shared_context;

use tch::Tensor;

use crate::parameters::{Parameters, TableRows};

pub(crate) use attention::{Attention, Lesson};
pub(crate) use attention_form::AttentionForm;
#[cfg(test)]
pub(crate) use clustered_attention::Said;
pub(crate) use clustered_attention::{ClusteredAttention, ClusteredAttentionSetup, StatesInput};
pub(crate) use label_layers::{LabelLayers, strongest};

/// What a head needs to know of a batch beside what the encoder made of it.
pub(crate) struct HeadInput<'a> {
    pub(crate) parameters: &'a Parameters,
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
        /// documents x candidates: one for a candidate, zero for padding.
        filled: &'a Tensor,
    },
}
