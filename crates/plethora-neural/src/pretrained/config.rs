//! Settings of the systems that read pieces through a pretrained transformer.

use plethora_core::checks::{above_zero, check, share, share_below_one, within};
use plethora_core::{Error, Result};
use plethora_system::settings::Auto;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::adaptive::AdaptiveConfig;
use super::neighbours_config::VectorNeighboursConfig;
use crate::ClustersConfig;
use crate::head::{Activation, Negatives};
use crate::setting::Setting;
use crate::train::TrainConfig;
use crate::transformer::TransformerConfig;

/// More windows would be a typing error.
const MAX_WINDOWS: usize = 1000;

/// Length of the vector of a label's name where nobody says so.
const NAME_SCALE: f64 = 1.0;

/// What is said of settings with the adaptive form and none of its numbers.
const NO_ADAPTIVE: &str = "adaptive is the form of the system aplc-xlnet";

/// Settings as users give them: what they leave open is chosen by the data and the machine, see
/// [`PieceSet::settle`](super::PieceSet::settle).
pub type OpenPieceConfig = PieceConfig<Auto<usize>, Auto<f64>, Auto<HeadForm>, Auto<Vec<usize>>>;

/// Settings of a system that reads pieces, with all choices made: what training and models have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    bound(
        serialize = "Count: Serialize, Rate: Serialize + From<f64> + PartialEq, \
                     Form: Serialize, Cuts: Serialize",
        deserialize = "Count: Deserialize<'de> + Default + From<usize>, Rate: Deserialize<'de> + From<f64>, \
                       Form: Deserialize<'de> + Default, Cuts: Deserialize<'de>"
    )
)]
#[schemars(bound = "Count: JsonSchema + Serialize + Default + From<usize>, \
                    Rate: JsonSchema + Serialize + From<f64> + PartialEq, \
                    Form: JsonSchema + Serialize + Default, \
                    Cuts: JsonSchema + Serialize")]
pub struct PieceConfig<Count = usize, Rate = f64, Form = HeadForm, Cuts = Vec<usize>> {
    /// Name of the system, which is its recipe's.
    pub system: String,
    /// Draws first weights, the order of documents and what dropout leaves out.
    pub seed: u64,
    /// The pretrained transformer.
    pub encoder: TransformerConfig,
    /// Documents before and behind the encoder.
    pub document: DocumentConfig<Count>,
    /// From a document's vector to its labels.
    pub head: PieceHeadConfig<Form, Count>,
    /// The groups of labels that the clustered form chooses from.
    #[serde(default)]
    pub clusters: ClustersConfig<Count>,
    /// The clusters of the adaptive form, which is the only one to have these settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<AdaptiveConfig<Count, Rate, Cuts>>,
    /// Training documents whose trained vectors are nearest, beside the network.
    #[serde(default)]
    pub neighbours: VectorNeighboursConfig,
    /// How the weights are found.
    pub train: TrainConfig<Count, Count, Rate>,
}

/// Documents before and behind the encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    bound(deserialize = "Count: Deserialize<'de> + From<usize>")
)]
#[schemars(bound = "Count: JsonSchema + Serialize + From<usize>")]
pub struct DocumentConfig<Count = usize> {
    /// Pieces of a document, or of each of its windows; what lies beyond them is cut.
    pub max_length: Count,
    /// Windows in which a longer document is read at most.
    #[serde(default = "one_window::<Count>")]
    pub windows: Count,
    /// Whether texts are lower-cased before the encoder's own tokenizer sees them.
    #[serde(default)]
    pub lowercase: bool,
    /// Share of the numbers of a document's vector that a training step leaves out.
    pub dropout: f64,
    /// Share of each epoch in which anything is left out at all; LightXML's program stops early.
    pub dropout_share: f64,
}

/// Models from before there were windows have one.
fn one_window<Count: From<usize>>() -> Count {
    1.into()
}

/// From a document's vector to its labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(bound = "Form: JsonSchema + Serialize + Default, \
                    Count: JsonSchema + Serialize + Default")]
pub struct PieceHeadConfig<Form = HeadForm, Count = usize> {
    /// How labels are scored.
    pub form: Form,
    /// Width that the document's vector is brought to before labels are compared with it, in the
    /// clustered and the exact form, and of what labels find in the attention form. In the exact form 0
    /// leaves it as it is.
    pub bottleneck: Count,
    /// What follows the bottleneck of the clustered form.
    pub activation: Activation,
    /// When the clustered form chooses what a document's labels are told from.
    pub negatives: Negatives,
    /// What the labels of the clustered form are grouped by.
    pub clusters_by: ClustersBy,
    /// Whether label vectors start from the names of labels, in the flat form and in the exact one without a
    /// bottleneck; auto where a vocabulary names most labels.
    #[serde(skip_serializing_if = "start_at_zero")]
    pub names: Auto<bool>,
    /// Length of the vector of a name there.
    #[serde(skip_serializing_if = "is_usual_scale")]
    pub name_scale: f64,
    /// Learning rate of the exact form's labels at its highest.
    pub label_learning_rate: f64,
    /// Share of their momentum that a step keeps.
    pub label_momentum: f64,
    /// Share by which a step shrinks their weights, times the learning rate.
    pub label_weight_decay: f64,
}

/// What labels are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClustersBy {
    /// The pieces that are read of their documents.
    Pieces,
    /// The words of their whole documents, by TF-IDF.
    Words,
}

/// Models from before labels had names to start from say nothing of them.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn start_at_zero(names: &Auto<bool>) -> bool {
    *names == Auto::Set(false)
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_usual_scale(scale: &f64) -> bool {
    *scale == NAME_SCALE
}

/// How labels are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HeadForm {
    /// One layer over all labels.
    #[default]
    Flat,
    /// Clusters first, then the labels of the best ones.
    Clustered,
    /// All labels, chunk by chunk, so that millions fit.
    Exact,
    /// One layer over all labels, and what each label finds in the text by an attention of its own.
    Attention,
    /// Frequent labels always, rarer ones in clusters that a document may visit.
    Adaptive,
}

/// How labels are scored, with the settings that only one form has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SettledForm<'a> {
    Flat,
    Clustered,
    Exact,
    Attention,
    Adaptive(&'a AdaptiveConfig),
}

impl<Count, Rate, Form, Cuts> PieceConfig<Count, Rate, Form, Cuts>
where
    Count: Setting<usize> + Default + PartialEq,
    Rate: Setting<f64>,
    Form: Setting<HeadForm> + From<HeadForm> + Default + PartialEq,
    Cuts: Setting<Vec<usize>>,
{
    /// Refuses settings that cannot work, naming the key.
    pub fn validate(&self) -> Result<()> {
        self.encoder
            .validate()
            .map_err(|error| error.within("encoder"))?;
        share_below_one("document.dropout", self.document.dropout)?;
        share("document.dropout_share", self.document.dropout_share)?;
        check(
            self.document.max_length.holds(|&length| length >= 3),
            "document.max_length",
            "must be at least 3, of which two are special pieces",
        )?;
        let windows = self.document.windows.value().copied();
        within("document.windows", windows, 1..=MAX_WINDOWS)?;
        self.head.validate()?;
        self.clusters.validate()?;
        if self.head.form.value() == Some(&HeadForm::Attention) {
            let message = "must be at least 1 in the attention form";
            let width = &self.head.bottleneck;
            check(width.holds(|&width| width >= 1), "head.bottleneck", message)?;
        }
        if self.head.form.value() == Some(&HeadForm::Clustered) {
            let message = "must be at least 1 in the clustered form";
            let (width, beam) = (&self.head.bottleneck, &self.clusters.beam);
            check(width.holds(|&width| width >= 1), "head.bottleneck", message)?;
            check(beam.holds(|&beam| beam >= 1), "clusters.beam", message)?;
        }
        self.validate_adaptive()?;
        self.neighbours.validate()?;
        self.train.validate().map_err(|error| error.within("train"))
    }

    fn validate_adaptive(&self) -> Result<()> {
        let is_adaptive = self.head.form.value() == Some(&HeadForm::Adaptive);
        let Some(adaptive) = &self.adaptive else {
            return check(!is_adaptive, "head.form", NO_ADAPTIVE);
        };
        let others = PieceHeadConfig {
            form: Form::from(HeadForm::Adaptive),
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
            .map_err(|error| error.within("adaptive"))
    }
}

impl PieceConfig {
    /// How labels are scored.
    ///
    /// # Errors
    /// [`Error::Config`] where the adaptive form lacks its settings, which
    /// [`validate`](Self::validate) refuses.
    pub(crate) fn form(&self) -> Result<SettledForm<'_>> {
        match (self.head.form, &self.adaptive) {
            (HeadForm::Flat, _) => Ok(SettledForm::Flat),
            (HeadForm::Clustered, _) => Ok(SettledForm::Clustered),
            (HeadForm::Exact, _) => Ok(SettledForm::Exact),
            (HeadForm::Attention, _) => Ok(SettledForm::Attention),
            (HeadForm::Adaptive, Some(adaptive)) => Ok(SettledForm::Adaptive(adaptive)),
            (HeadForm::Adaptive, None) => Err(Error::config("head.form", NO_ADAPTIVE)),
        }
    }

    /// Networks that the system has.
    pub(crate) fn num_members(&self) -> usize {
        match self.head.form {
            HeadForm::Clustered => self.clusters.num_clusterings,
            HeadForm::Flat | HeadForm::Exact | HeadForm::Attention | HeadForm::Adaptive => 1,
        }
    }
}

impl<Form: Default, Count: Default> Default for PieceHeadConfig<Form, Count> {
    fn default() -> Self {
        Self {
            form: Form::default(),
            bottleneck: Count::default(),
            activation: Activation::None,
            negatives: Negatives::Dynamic,
            clusters_by: ClustersBy::Pieces,
            names: Auto::Set(false),
            name_scale: NAME_SCALE,
            label_learning_rate: 0.05,
            label_momentum: 0.9,
            label_weight_decay: 0.0,
        }
    }
}

impl<Form, Count: Setting<usize>> PieceHeadConfig<Form, Count> {
    fn validate(&self) -> Result<()> {
        let bottleneck = self.bottleneck.value().copied();
        within("head.bottleneck", bottleneck, 0..=65_536)?;
        above_zero("head.name_scale", self.name_scale)?;
        above_zero("head.label_learning_rate", self.label_learning_rate)?;
        share_below_one("head.label_momentum", self.label_momentum)?;
        share_below_one("head.label_weight_decay", self.label_weight_decay)
    }
}

/// The settings of a system's recipe, for tests.
#[cfg(test)]
pub(crate) fn recipe(system: &str) -> OpenPieceConfig {
    let found = super::family::SYSTEMS
        .iter()
        .find(|spec| spec.name == system);
    toml::from_str(found.unwrap().recipe).unwrap()
}

#[cfg(test)]
mod tests {
    use crate::pretrained::choices::example;
    use crate::systems::Trains as _;

    #[test]
    fn a_share_of_the_epochs_is_never_none_of_them() {
        let mut config = example();
        config.train.epochs = 15;
        let epochs = |share: f64| config.with_epoch_share(share).train.epochs;
        assert_eq!([1.0, 1.0 / 3.0, 1.0 / 27.0].map(epochs), [15, 5, 1]);
    }
}
