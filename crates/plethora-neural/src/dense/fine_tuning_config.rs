//! How the encoder is fine-tuned before it reads.

use plethora_core::Result;
use plethora_core::checks::{
    above_zero, at_least, check, number_from, share, share_below_one, within,
};
use plethora_system::settings::Auto;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::{EncoderConfig, OpenDenseConfig};
use crate::pretrained::{self, DocumentConfig, HeadForm, OpenPieceConfig, PieceConfig};
use crate::setting::Setting;
use crate::transformer::TransformerConfig;

/// More hard negatives of a document would be a typing error.
const MAX_CANDIDATES: usize = 1000;

/// Settings as users give them.
pub type OpenFineTuning = FineTuning<Auto<usize>, Auto<f64>, Auto<HeadForm>>;

/// How the encoder is fine-tuned: by the labels of the documents, behind a layer that is then forgotten. What
/// cannot be set here is as in the first recipe of the systems that are networks of pieces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FineTuning<Count = usize, Rate = f64, Form = HeadForm> {
    /// How the network scores labels.
    pub form: Form,
    /// Labels of a cluster at most, in the clustered form.
    pub max_leaf: usize,
    /// Labels that the network ranks highest for a document: it is a hard negative of the nodes above those that
    /// it does not have.
    pub candidates: usize,
    /// Passes over the training documents at most.
    pub epochs: Count,
    /// Documents that are computed together.
    pub batch_size: Count,
    /// Batches whose gradients make one step.
    pub accumulate: usize,
    /// Learning rate of the encoder at its highest.
    pub learning_rate: Rate,
    /// Learning rate of labels, as a multiple of it.
    pub label_rate: Rate,
    /// Share by which a step shrinks weights, times the learning rate.
    pub weight_decay: f64,
    /// Share of the steps in which the learning rate grows from zero.
    pub warm_up: f64,
    /// Share of the numbers of states that a training step leaves out.
    pub dropout: f64,
    /// Share of the numbers of a document's vector that it leaves out.
    pub vector_dropout: f64,
    /// Whether training computes the inside of each layer twice instead of keeping it.
    pub checkpointing: bool,
    /// Validations without gain after which training stops; 0 never stops.
    pub patience: usize,
    /// Minutes between two checkpoints; 0 saves one after each step.
    pub checkpoint_minutes: f64,
}

impl<Count, Rate, Form> FineTuning<Count, Rate, Form>
where
    Count: Setting<usize>,
    Rate: Setting<f64>,
    Form: Setting<HeadForm>,
{
    /// Refuses settings that cannot work, naming the key.
    pub(super) fn validate(&self) -> Result<()> {
        check(
            (self.form).holds(|form| {
                matches!(form, HeadForm::Flat | HeadForm::Clustered | HeadForm::Exact)
            }),
            "form",
            "must be flat, clustered or exact: labels are scored by a document's vector alone",
        )?;
        at_least("max_leaf", self.max_leaf, 1)?;
        within("candidates", self.candidates, 0..=MAX_CANDIDATES)?;
        within("epochs", self.epochs.value().copied(), 1..=1_000_000)?;
        within("batch_size", self.batch_size.value().copied(), 1..=65_536)?;
        within("accumulate", self.accumulate, 1..=65_536)?;
        above_zero("learning_rate", self.learning_rate.value().copied())?;
        above_zero("label_rate", self.label_rate.value().copied())?;
        number_from("weight_decay", self.weight_decay, 0.0)?;
        share("warm_up", self.warm_up)?;
        share_below_one("dropout", self.dropout)?;
        share_below_one("vector_dropout", self.vector_dropout)?;
        number_from("checkpoint_minutes", self.checkpoint_minutes, 0.0)
    }
}

impl OpenFineTuning {
    /// The settings of the network, which reads as much of a document as the encoder will.
    pub(super) fn network(
        &self,
        config: &OpenDenseConfig,
        encoder: &EncoderConfig,
    ) -> Result<OpenPieceConfig> {
        let mut network = pretrained::recipe()?;
        network.system.clone_from(&config.system);
        network.seed = config.seed;
        network.encoder = TransformerConfig {
            dropout: self.dropout,
            checkpointing: self.checkpointing,
            ..encoder.transformer()
        };
        network.document = DocumentConfig {
            max_length: config.document.max_length.into(),
            windows: 1.into(),
            lowercase: false,
            dropout: self.vector_dropout,
            dropout_share: 1.0,
        };
        network.head.form = self.form;
        network.clusters.tree.max_leaf = self.max_leaf;
        let train = &mut network.train;
        train.epochs = self.epochs;
        train.batch_size = self.batch_size;
        train.accumulate = self.accumulate;
        train.learning_rate = self.learning_rate;
        train.label_rate = self.label_rate;
        train.weight_decay = self.weight_decay;
        train.warm_up = self.warm_up;
        train.patience = self.patience;
        train.checkpoint_minutes = self.checkpoint_minutes;
        // The same documents choose weights of the network and, later, of the neighbours: it has seen none of them.
        train.valid_share = config.train.valid_share;
        train.valid_max = config.train.valid_max;
        train.precision = config.train.precision;
        Ok(network)
    }

    /// The settings with what was chosen for the network.
    pub(super) fn settled(&self, network: &PieceConfig) -> FineTuning {
        FineTuning {
            form: network.head.form,
            max_leaf: self.max_leaf,
            candidates: self.candidates,
            epochs: network.train.epochs,
            batch_size: network.train.batch_size,
            accumulate: network.train.accumulate,
            learning_rate: network.train.learning_rate,
            label_rate: network.train.label_rate,
            weight_decay: self.weight_decay,
            warm_up: self.warm_up,
            dropout: self.dropout,
            vector_dropout: self.vector_dropout,
            checkpointing: self.checkpointing,
            patience: self.patience,
            checkpoint_minutes: self.checkpoint_minutes,
        }
    }
}
