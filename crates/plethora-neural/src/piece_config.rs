//! Settings of the systems that read pieces through a pretrained transformer.

use plethora_core::Result;
use plethora_core::tree::TreeConfig;
use serde::{Deserialize, Serialize};

use crate::adaptive_config::AdaptiveConfig;
use crate::head::{Activation, Negatives};
use crate::recipe::settings_of;
use crate::train::TrainConfig;
use crate::transformer::TransformerConfig;
use crate::word_config::{below, check, check_share};

/// Settings of a system that reads pieces. Where a number may be 0, that leaves the choice to what is
/// known of the data and the machine, see [`Choices`](crate::Choices).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PieceConfig {
    /// Name of the system, which is its recipe's.
    pub system: String,
    /// Draws first weights, the order of documents and what dropout leaves out.
    pub seed: u64,
    /// The pretrained transformer.
    pub encoder: TransformerConfig,
    /// Documents before and behind the encoder.
    pub document: DocumentConfig,
    /// From a document's vector to its labels.
    pub head: PieceHeadConfig,
    /// The groups of labels that the clustered form chooses from.
    #[serde(default)]
    pub clusters: ClustersConfig,
    /// The clusters of the adaptive form, which is the only one to have these settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<AdaptiveConfig>,
    /// How the weights are found.
    pub train: TrainConfig,
}

/// Documents before and behind the encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentConfig {
    /// Pieces of a document beyond this many are cut; 0 chooses.
    pub max_length: usize,
    /// Share of the numbers of a document's vector that a training step leaves out.
    pub dropout: f64,
    /// Share of each epoch in which anything is left out at all; LightXML's program stops early.
    pub dropout_share: f64,
}

/// From a document's vector to its labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PieceHeadConfig {
    /// How labels are scored.
    pub form: HeadForm,
    /// Width that the document's vector is brought to before labels are compared with it, in the
    /// clustered and the exact form. In the latter 0 leaves it as it is; in the former 0 chooses.
    pub bottleneck: usize,
    /// What follows the bottleneck of the clustered form.
    pub activation: Activation,
    /// When the clustered form chooses what a document's labels are told from.
    pub negatives: Negatives,
    /// Step size of the exact form's labels at its highest.
    pub label_learning_rate: f64,
    /// Share of their momentum that a step keeps.
    pub label_momentum: f64,
    /// Share by which a step shrinks their weights, times the step size.
    pub label_weight_decay: f64,
}

/// How labels are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeadForm {
    /// Chosen by the number of labels.
    Auto,
    /// One layer over all labels.
    Flat,
    /// Clusters first, then the labels of the best ones.
    Clustered,
    /// All labels, chunk by chunk, so that millions fit.
    Exact,
    /// Frequent labels always, rarer ones in clusters that a document may visit.
    Adaptive,
}

/// The groups of labels that the clustered form chooses from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClustersConfig {
    /// Networks with clusters of their own, whose scores are averaged.
    pub num_clusterings: usize,
    /// Clusters whose labels a training document is compared with; 0 chooses.
    pub beam: usize,
    /// Clusters whose labels are ranked in prediction; 0 for as many as in training.
    pub predict_beam: usize,
    /// How labels are grouped.
    pub tree: TreeConfig,
}

impl PieceConfig {
    /// The settings of a system's recipe.
    pub fn of_system(system: &str) -> Result<Self> {
        settings_of(system, "system of pieces")
    }

    /// Refuses settings that cannot work, naming the key.
    pub fn validate(&self) -> Result<()> {
        self.encoder
            .validate()
            .map_err(|error| below("encoder", error))?;
        check_share(self.document.dropout, "document.dropout")?;
        check(
            (0.0..=1.0).contains(&self.document.dropout_share),
            "document.dropout_share",
            "must be a number from 0 to 1",
        )?;
        check(
            self.document.max_length == 0 || self.document.max_length >= 3,
            "document.max_length",
            "must be 0 or at least 3, of which two are special pieces",
        )?;
        self.head.validate()?;
        self.clusters.validate()?;
        self.validate_adaptive()?;
        self.train
            .validate_with_choices()
            .map_err(|error| below("train", error))
    }

    /// Networks that the system has.
    pub(crate) fn num_members(&self) -> usize {
        match self.head.form {
            HeadForm::Clustered => self.clusters.num_clusterings,
            HeadForm::Auto | HeadForm::Flat | HeadForm::Exact | HeadForm::Adaptive => 1,
        }
    }

    /// The settings of the adaptive form, where it is the one.
    pub(crate) fn adaptive(&self) -> Option<&AdaptiveConfig> {
        let adaptive = self.adaptive.as_ref();
        adaptive.filter(|_| self.head.form == HeadForm::Adaptive)
    }

    fn validate_adaptive(&self) -> Result<()> {
        let is_adaptive = self.head.form == HeadForm::Adaptive;
        let Some(adaptive) = &self.adaptive else {
            return check(
                !is_adaptive,
                "head.form",
                "adaptive is the form of the system aplc-xlnet",
            );
        };
        let others = PieceHeadConfig {
            form: HeadForm::Adaptive,
            ..PieceHeadConfig::default()
        };
        check(
            is_adaptive,
            "head.form",
            "must be adaptive in aplc-xlnet; other forms are those of lightxml",
        )?;
        check(
            self.head == others,
            "head",
            "has settings of other forms, of which the adaptive one makes no use",
        )?;
        check(
            self.clusters == ClustersConfig::default(),
            "clusters",
            "are those of the clustered form; the adaptive one has its own under adaptive",
        )?;
        adaptive
            .validate()
            .map_err(|error| below("adaptive", error))
    }

    /// Clusters whose labels are ranked in prediction, where the clustered form is used.
    pub(crate) fn predict_beam(&self) -> usize {
        self.clusters.predict_beam()
    }
}

impl Default for PieceHeadConfig {
    fn default() -> Self {
        Self {
            form: HeadForm::Auto,
            bottleneck: 0,
            activation: Activation::None,
            negatives: Negatives::Dynamic,
            label_learning_rate: 0.05,
            label_momentum: 0.9,
            label_weight_decay: 0.0,
        }
    }
}

impl Default for ClustersConfig {
    fn default() -> Self {
        Self {
            num_clusterings: 1,
            beam: 0,
            predict_beam: 0,
            tree: TreeConfig::default(),
        }
    }
}

impl PieceHeadConfig {
    fn validate(&self) -> Result<()> {
        check(
            self.bottleneck <= 65_536,
            "head.bottleneck",
            "must be from 0 to 65536",
        )?;
        check(
            self.label_learning_rate > 0.0 && self.label_learning_rate.is_finite(),
            "head.label_learning_rate",
            "must be a number above 0",
        )?;
        check_share(self.label_momentum, "head.label_momentum")?;
        check_share(self.label_weight_decay, "head.label_weight_decay")
    }
}

impl ClustersConfig {
    /// Clusters whose labels are ranked in prediction.
    pub(crate) fn predict_beam(&self) -> usize {
        match self.predict_beam {
            0 => self.beam,
            beam => beam,
        }
    }

    pub(crate) fn validate(&self) -> Result<()> {
        check(
            (1..=100).contains(&self.num_clusterings),
            "clusters.num_clusterings",
            "must be from 1 to 100",
        )?;
        self.tree
            .validate()
            .map_err(|error| below("clusters", error))
    }
}
