//! Settings of the head that attends with clusters first and with their labels then.

use plethora_core::Result;
use plethora_core::checks::{check, number_from};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::{AttentionConfig, check_some_layers};
use crate::head::{Activation, Negatives};

/// Clusters of labels attend to the words and are ranked; the labels of the best ones then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClusteredAttentionConfig {
    /// How clusters are scored. What is said of labels there is said of clusters.
    pub generator: AttentionConfig,
    /// How the labels of chosen clusters are scored.
    pub discriminator: DiscriminatorConfig,
    /// When the clusters are chosen whose labels a document is not to have.
    #[serde(default = "dynamic")]
    pub negatives: Negatives,
}

/// How models chose that say nothing of it.
fn dynamic() -> Negatives {
    Negatives::Dynamic
}

/// How the labels of chosen clusters are scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiscriminatorConfig {
    /// What a label is held against.
    pub context: LabelContext,
    /// Widths of the layers that the context goes through; the last is that of a label's vector.
    pub layers: Vec<usize>,
    /// What follows each layer.
    pub activation: Activation,
    /// Spread of the attention vectors at the start; 0 draws them as Xavier and Glorot do.
    pub start_spread: f64,
    /// Whether labels share output weights beside their own vectors, which then start at zero.
    pub shared_output: bool,
    /// How much the score of its cluster counts in a label's: 0 leaves it out, 1 multiplies both.
    pub path_weight: f64,
}

/// What a label is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LabelContext {
    /// What it finds in the text with an attention vector of its own.
    Label,
    /// What its cluster finds, which costs a fraction.
    Cluster,
    /// The mean of all states, the same for all labels: the paper's fifth equation to the letter.
    Document,
}

impl ClusteredAttentionConfig {
    /// Refuses settings that cannot work, naming the key below `head`.
    pub(crate) fn validate(&self) -> Result<()> {
        check(
            matches!(self.negatives, Negatives::Dynamic | Negatives::Static),
            "negatives",
            "must be dynamic or static",
        )?;
        let generator = self.generator.validate();
        generator.map_err(|error| error.within("generator"))?;
        let discriminator = self.discriminator.validate();
        discriminator.map_err(|error| error.within("discriminator"))
    }
}

impl DiscriminatorConfig {
    fn validate(&self) -> Result<()> {
        number_from("start_spread", self.start_spread, 0.0)?;
        number_from("path_weight", self.path_weight, 0.0)?;
        check_some_layers(&self.layers)
    }
}
