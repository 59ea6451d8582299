//! Settings of TReaderXML.

use std::path::PathBuf;

use plethora_core::Result;
use plethora_core::checks::{above_zero, at_least, check, number_from, share_below_one, within};
use plethora_core::text::{TfIdfConfig, WordsConfig};
use plethora_system::settings::Auto;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::family::SYSTEMS;
use crate::head::{Activation, OutputKind};
use crate::systems::recipes::recipe_of;
use crate::systems::{NamesFiles, VectorsConfig};
use crate::train::TrainConfig;

/// More neighbours or labels would be a typing error.
const MAX_COUNT: usize = 10_000;

/// More rounds would be a typing error.
const MAX_ROUNDS: usize = 100;

/// Settings of TReaderXML.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TReaderConfig {
    /// Name of the system, which is its recipe's.
    pub system: String,
    /// Draws first weights, the order of documents and what dropout leaves out.
    pub seed: u64,
    /// How texts become word sequences.
    pub words: WordsConfig,
    /// The vectors that words start with.
    pub vectors: VectorsConfig,
    /// Which training documents are near a text.
    pub neighbours: NeighboursConfig,
    /// What is made of their labels.
    pub teacher: TeacherConfig,
    /// How both sides are read.
    pub reading: ReadingConfig,
    /// How both sides meet.
    pub interaction: Interaction,
    /// From there to labels.
    pub head: TReaderHeadConfig,
    /// How the weights are found.
    pub train: TrainConfig,
    /// What follows when they no longer get better.
    #[serde(default)]
    pub decay: DecayConfig,
}

/// Which training documents are near a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NeighboursConfig {
    /// Neighbours of a document.
    pub limit: usize,
    /// Exponent of a neighbour's similarity in its vote; higher ones favour the nearest. Training
    /// chooses it where it is open, so that models have one.
    pub power: Auto<f32>,
    /// By what documents are compared.
    pub by: NeighbourVectors,
    /// Whether copies of a training document are none of its neighbours in training.
    pub skips_copies: bool,
    /// The features of documents, where these are compared.
    pub text: TfIdfConfig,
}

/// By what documents are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NeighbourVectors {
    /// The terms that they share.
    TfIdf,
    /// The means of their words' first vectors, as the paper has it.
    Mean,
}

/// What is made of the labels of neighbours.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch that users turn"
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TeacherConfig {
    /// False leaves the text alone with itself.
    pub used: bool,
    /// Whether the network reads the labels of neighbours beside the words.
    pub read: bool,
    /// Labels that are read of a document's neighbours, those with most votes.
    pub max_labels: usize,
    /// Whether the parents of labels are read too, where the vocabulary has some.
    pub parents: bool,
    /// What is read.
    pub tokens: TeacherTokens,
    /// Words of a label's description that are read.
    pub label_words: usize,
    /// Where descriptions are from.
    #[serde(default)]
    pub descriptions: Descriptions,
    /// Whether a label is read by the words of its description.
    pub label_text: bool,
    /// Whether a label is read by a vector of its own, which is learnt.
    pub label_vectors: bool,
    /// Whether a label is read together with its votes.
    pub weights: bool,
    /// Whether votes raise the scores of their labels at once, by a factor that is learnt.
    pub prior: bool,
    /// Whether what was read of a label raises its score at once, or lowers it.
    pub own_scores: bool,
    /// Whether what the network says and votes are made one score, in the way that explains validation documents best.
    /// The network itself leans on votes too little: it knows training documents by their words.
    pub mixed: bool,
}

impl TeacherConfig {
    /// Whether the network reads what neighbours bring.
    pub(crate) fn is_read(&self) -> bool {
        self.used && self.read
    }

    /// Whether labels are read by words.
    pub(crate) fn reads_descriptions(&self) -> bool {
        self.is_read() && (self.label_text || self.tokens == TeacherTokens::Positions)
    }

    /// Whether votes are part of scores beside what the network says.
    pub(crate) fn is_mixed(&self) -> bool {
        self.used && self.mixed
    }
}

/// What is read of the labels of neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TeacherTokens {
    /// One vector per label.
    Labels,
    /// One vector per place in labels' names: the mean of the words there, as the paper has it.
    Positions,
}

/// Where the words are from by which labels are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Descriptions {
    /// Their names.
    #[default]
    Names,
    /// Their training documents, of which they are the most telling words.
    Documents,
    /// Their names, where these have a known word, and else their training documents.
    Missing,
}

/// How a side is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadingConfig {
    /// The first attention.
    pub first: Look,
    /// The second.
    pub second: Look,
    /// Heads of an attention.
    pub heads: usize,
    /// Around which attentions the states are added.
    pub residual: Residual,
    /// Whether states are brought to mean 0 and variance 1 before each attention and at the end.
    pub norm: bool,
    /// Whether the output of an attention goes through tanh.
    pub tanh: bool,
    /// What the masked attention does not see.
    pub mask: MaskSide,
    /// Whether words know their place in the text.
    pub positions: bool,
    /// Share of the numbers of word and label vectors that a training step leaves out.
    pub word_dropout: f64,
    /// Share of the numbers of what an attention gives that a training step leaves out.
    pub dropout: f64,
}

/// What an attention looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Look {
    /// There is none.
    None,
    /// One side of each place.
    Masked,
    /// Everything.
    Full,
}

/// Around which attentions the states are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Residual {
    /// Around none.
    None,
    /// Around the first, as the paper has it.
    First,
    /// Around each.
    Both,
}

/// What a masked attention does not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MaskSide {
    /// What follows a place, as the paper's text says.
    Future,
    /// What comes before it, as the paper's formulas say.
    Past,
}

/// How the two sides meet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interaction {
    /// Whether each side attends to the other.
    pub cross: bool,
    /// Whether the text, with the labels before it, goes through one more masked attention, as the
    /// paper's text says.
    #[serde(default)]
    pub masked: bool,
    /// How the states of a side become one vector.
    pub pooling: PoolingKind,
}

/// How the states of a side become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PoolingKind {
    /// A mean whose weights are learnt.
    Attention,
    /// Their mean.
    Mean,
    /// Their maximum.
    Max,
}

/// From the vectors of both sides to labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TReaderHeadConfig {
    /// How labels are trained.
    pub form: TReaderForm,
    /// Width of the layer before the labels.
    pub bottleneck: usize,
    /// What follows it.
    pub activation: Activation,
    /// Share of its numbers that a training step leaves out.
    pub dropout: f64,
    /// How scores become probabilities.
    pub output: OutputKind,
    /// What the flat form's label vectors start from.
    #[serde(default)]
    pub start: LabelStart,
    /// Learning rate of the exact form's labels at its highest.
    pub label_learning_rate: f64,
    /// Share of their momentum that a step keeps.
    pub label_momentum: f64,
    /// Share by which a step shrinks their weights, times the learning rate.
    pub label_weight_decay: f64,
}

/// What label vectors start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LabelStart {
    /// Zeros: at first every label is as likely as it is frequent.
    #[default]
    Zero,
    /// Random numbers, as every other matrix.
    Random,
}

/// Further trainings after the weights have stopped getting better, each from the best weights so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DecayConfig {
    /// How many.
    pub rounds: usize,
    /// The learning rate of each, as a share of that of the one before.
    pub factor: f64,
}

/// How labels are trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TReaderForm {
    /// One layer, by Adam.
    Flat,
    /// Chunk by chunk, by gradient descent with momentum, so that millions fit.
    Exact,
}

impl TReaderConfig {
    /// The settings of the recipe.
    pub fn of_system(system: &str) -> Result<Self> {
        recipe_of(&SYSTEMS, system)
    }

    /// Refuses settings that cannot work, naming the key.
    pub fn validate(&self) -> Result<()> {
        self.words.validate()?;
        self.vectors.validate()?;
        self.neighbours.validate()?;
        self.teacher.validate()?;
        self.reading.validate(self.vectors.width)?;
        self.head.validate()?;
        self.decay.validate(&self.train)?;
        self.train.validate().map_err(|error| error.within("train"))
    }
}

impl NamesFiles for TReaderConfig {
    fn files(&self) -> Vec<PathBuf> {
        self.vectors.files()
    }
}

impl NeighboursConfig {
    /// The exponent of similarities, which training has chosen; where nobody votes there may be none.
    pub(crate) fn votes_by(&self) -> f32 {
        self.power.unwrap_or_else(|| 1.0)
    }

    fn validate(&self) -> Result<()> {
        within("neighbours.limit", self.limit, 1..=MAX_COUNT)?;
        if let Auto::Set(power) = self.power {
            number_from("neighbours.power", power, 0.0)?;
        }
        (self.text.validate()).map_err(|error| error.within("neighbours"))
    }
}

impl TeacherConfig {
    fn validate(&self) -> Result<()> {
        within("teacher.max_labels", self.max_labels, 1..=MAX_COUNT)?;
        within("teacher.label_words", self.label_words, 1..=64)?;
        check(
            !self.used || self.read || self.mixed,
            "teacher.used",
            "must be false where teacher.read and teacher.mixed are: nothing would come of it",
        )?;
        check(
            !self.used || self.read || !self.prior,
            "teacher.prior",
            "must be false where teacher.read is: votes reach the network with what it reads",
        )?;
        check(
            !self.used || self.read || !self.own_scores,
            "teacher.own_scores",
            "must be false where teacher.read is: nothing is read of labels",
        )?;
        check(
            !self.own_scores || self.tokens == TeacherTokens::Labels,
            "teacher.own_scores",
            "must be false where teacher.tokens is positions: nothing is read of single labels",
        )?;
        check(
            self.label_text || self.label_vectors || self.tokens == TeacherTokens::Positions,
            "teacher.label_text",
            "must be true where teacher.label_vectors is not: labels would be nothing to read",
        )
    }
}

impl ReadingConfig {
    fn validate(&self, width: usize) -> Result<()> {
        at_least("reading.heads", self.heads, 1)?;
        check(
            width.is_multiple_of(self.heads),
            "reading.heads",
            "must divide vectors.width: each head has as many of its numbers",
        )?;
        check(
            self.first != Look::None || self.second == Look::None,
            "reading.second",
            "must be none where reading.first is",
        )?;
        share_below_one("reading.word_dropout", self.word_dropout)?;
        share_below_one("reading.dropout", self.dropout)
    }
}

impl Default for DecayConfig {
    fn default() -> Self {
        Self {
            rounds: 0,
            factor: 0.1,
        }
    }
}

impl DecayConfig {
    fn validate(&self, train: &TrainConfig) -> Result<()> {
        within("decay.rounds", self.rounds, 0..=MAX_ROUNDS)?;
        above_zero("decay.factor", self.factor)?;
        share_below_one("decay.factor", self.factor)?;
        check(
            self.rounds == 0 || train.patience > 0,
            "decay.rounds",
            "must be 0 where train.patience is: nothing says when weights have stopped getting better",
        )
    }
}

impl TReaderHeadConfig {
    fn validate(&self) -> Result<()> {
        within("head.bottleneck", self.bottleneck, 1..=65_536)?;
        share_below_one("head.dropout", self.dropout)?;
        check(
            self.output == OutputKind::Sigmoid || self.form == TReaderForm::Flat,
            "head.output",
            "must be sigmoid with the exact form: a softmax needs all labels at once",
        )?;
        check(
            self.start == LabelStart::Zero || self.form == TReaderForm::Flat,
            "head.start",
            "must be zero with the exact form",
        )?;
        above_zero("head.label_learning_rate", self.label_learning_rate)?;
        share_below_one("head.label_momentum", self.label_momentum)?;
        share_below_one("head.label_weight_decay", self.label_weight_decay)
    }
}

#[cfg(test)]
mod tests;
