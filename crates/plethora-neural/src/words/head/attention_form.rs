//! What a head of attention is made of, and what its labels start with.

use tch::Tensor;

use crate::head::{Activation, LabelFacts};
use crate::parameters::{ParameterId, Parameters};
use crate::start::{Start, zeros};
use crate::words::config::AttentionConfig;

/// Where the rows of all labels are.
#[derive(Debug, Clone, Copy)]
pub(super) enum LabelStore {
    /// A parameter, where all labels are scored.
    Parameter(ParameterId),
    /// A table, of which a batch takes the rows of its candidates.
    Table(usize),
}

impl LabelStore {
    /// labels x row width.
    pub(super) fn rows(self, parameters: &Parameters) -> &Tensor {
        match self {
            Self::Parameter(id) => parameters.dense.get(id),
            Self::Table(table) => parameters.tables[table].values(),
        }
    }
}

/// What a head of attention is.
pub(crate) struct AttentionForm {
    /// Its parameters' names begin so.
    pub(crate) name: &'static str,
    pub(crate) config: AttentionConfig,
    /// What follows each layer.
    pub(crate) activation: Activation,
    /// Whether all labels share output weights.
    pub(crate) has_shared_output: bool,
    /// Whether what labels find is added to other scores. It starts at nothing then, is computed in 32 bits
    /// in the end, and attention is scaled by the width of a state, which labels learn faster than its layers.
    pub(crate) is_added: bool,
    /// Width of a state.
    pub(crate) width: usize,
}

impl AttentionForm {
    /// AttentionXML's.
    pub(crate) fn plain(config: AttentionConfig, width: usize) -> Self {
        Self {
            name: "head",
            config,
            activation: Activation::Relu,
            has_shared_output: true,
            is_added: false,
            width,
        }
    }

    /// First rows of all labels.
    pub(super) fn first_rows(&self, labels: &LabelFacts<'_>, start: Start) -> Tensor {
        let config = &self.config;
        let num_labels = labels.train_counts.len() as i64;
        let shape = [num_labels, self.width as i64];
        let attention = if config.start_spread > 0.0 {
            start.named("attention").normal(&shape, config.start_spread)
        } else {
            start.named("attention").glorot(shape)
        };
        let mut columns = vec![attention];
        if config.label_outputs {
            let last = *config.layers.last().expect("validated: there is a layer") as i64;
            columns.push(own_outputs(
                [num_labels, last],
                self.has_shared_output || self.is_added,
                start,
            ));
        }
        if config.label_bias {
            columns.push(labels.log_odds().unsqueeze(1));
        }
        Tensor::cat(&columns, 1)
    }
}

/// First output weights of labels. At zero a label starts with the shared output, where there is one, or
/// with what its score is beside, and departs from it as it learns.
pub(super) fn own_outputs(shape: [i64; 2], starts_at_zero: bool, start: Start) -> Tensor {
    if starts_at_zero {
        zeros(&shape)
    } else {
        start.named("outputs").glorot(shape)
    }
}
