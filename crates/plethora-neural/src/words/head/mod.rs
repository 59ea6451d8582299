//! From what an encoder of words gives to a score for each label.

mod attention;
mod attention_form;
mod attention_head;
mod barrier;
mod candidate_rows;
mod clustered_attention;
mod label_layers;
mod label_rows;
mod layers;
mod shared_context;

use tch::{Device, Tensor};

use crate::head::LabelHead;
use crate::parameters::{Parameters, TableRows};

pub(crate) use attention::{Attention, Lesson};
pub(crate) use attention_form::AttentionForm;
#[cfg(test)]
pub(crate) use clustered_attention::Said;
pub(crate) use clustered_attention::{ClusteredAttention, ClusteredAttentionSetup};
pub(crate) use label_layers::{LabelLayers, Pooled};

/// A batch between an encoder that gives a state per word and a head.
pub(crate) struct StatesInput<'a> {
    pub(crate) parameters: &'a Parameters,
    /// documents x words x width.
    pub(crate) states: &'a Tensor,
    /// documents x words; true where a document has a word; absent where all are equally long.
    pub(crate) mask: Option<&'a Tensor>,
    pub(crate) scored: Scored<'a>,
    /// Which candidates are true; absent where all labels are scored.
    pub(crate) truth: Option<Truth<'a>>,
    /// documents x candidates: what the way to a candidate adds to the logarithm of its score.
    pub(crate) paths: Option<&'a Tensor>,
}

/// What is true of candidates.
#[derive(Clone, Copy)]
pub(crate) struct Truth<'a> {
    /// documents x candidates: one where the candidate is true.
    pub(crate) of_candidates: &'a Tensor,
    /// Candidates of all documents together, padding not among them.
    pub(crate) num_candidates: usize,
}

/// The labels that are scored.
pub(crate) enum Scored<'a> {
    /// All of them.
    All,
    /// Other ones for each document, from these rows of the label table. They are ranked by their columns.
    Candidates {
        /// Rows of the label table.
        rows: &'a TableRows,
        /// documents x candidates: places in the rows.
        places: &'a Tensor,
        /// documents x candidates: one for a candidate, zero for padding.
        filled: &'a Tensor,
    },
}

/// A head behind an encoder that gives a state per word.
pub(crate) trait StatesHead: for<'a> LabelHead<StatesInput<'a>> {
    /// How strongly a label attends to each word, documents x words; absent without attention.
    fn attention(&self, _input: &StatesInput<'_>, _label: u32) -> Option<Tensor> {
        None
    }

    /// What a training batch of so many documents and words takes at most.
    fn need(&self, batch: (i64, i64), device: Device) -> HeadNeed;

    /// The head, where it is one with clusters.
    #[cfg(test)]
    fn as_clustered(&self) -> Option<&ClusteredAttention> {
        None
    }
}

/// What a head makes of a training batch at most.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HeadNeed {
    /// Numbers that it makes at a time.
    pub(crate) map_size: i64,
    /// Labels or clusters that a document is compared with.
    pub(crate) num_scored: i64,
    /// Rows of the label table that it works with.
    pub(crate) num_rows: i64,
}
