//! Settings of the systems that read words.

use plethora_core::text::{SkipGramConfig, TfIdfConfig, WordsConfig};
use plethora_core::tree::TreeConfig;
use plethora_core::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::clustered_attention_config::ClusteredAttentionConfig;
use crate::piece_config::ClustersConfig;
use crate::recipe::settings_of;
use crate::train::TrainConfig;

/// Settings of a system that reads words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordConfig {
    /// Name of the system, which is its recipe's.
    pub system: String,
    /// Draws first weights, the order of documents and what dropout leaves out.
    pub seed: u64,
    /// How texts become word sequences.
    pub words: WordsConfig,
    /// The vectors that words start with.
    pub vectors: VectorsConfig,
    /// From word vectors to states or to a document vector.
    pub encoder: EncoderConfig,
    /// From there to a score for each label.
    pub head: HeadConfig,
    /// The label tree, where one level after another is trained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plt: Option<PltConfig>,
    /// The groups of labels that a head with clusters chooses from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<Box<ClustersConfig>>,
    /// How the weights are found.
    pub train: TrainConfig,
}

/// The vectors that words start with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorsConfig {
    /// A file with pretrained vectors (GloVe, word2vec or fastText); empty for none.
    #[serde(default)]
    pub file: String,
    /// Numbers a word.
    pub width: usize,
    /// What words start with that the file does not have, or all without a file.
    pub start: VectorStart,
    /// Whether training changes the vectors.
    pub trained: bool,
    /// How skip-gram vectors are trained, where they are the start.
    pub skip_gram: SkipGramConfig,
}

/// Vectors of words that no file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VectorStart {
    /// Normal numbers that spread as the file's do, or by 0.3.
    Random,
    /// Uniform numbers from -1 to 1, as the paper's program has it.
    Uniform,
    /// Skip-gram vectors trained on the corpus.
    SkipGram,
}

/// From word vectors to what a head takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum EncoderConfig {
    /// A bidirectional LSTM: one state a word.
    Bilstm(BiLstmConfig),
    /// Convolutions with dynamic pooling: one vector a document.
    Cnn(CnnConfig),
}

/// A bidirectional LSTM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BiLstmConfig {
    /// Numbers of a state, in each direction.
    pub hidden: usize,
    /// Share of the numbers of word vectors that a training step leaves out.
    pub word_dropout: f64,
    /// Share of the numbers of states that a training step leaves out.
    pub dropout: f64,
    /// Whether a word's own vector stands beside its states. It lets a label find a rare word
    /// before the LSTM has learned to pass it on.
    pub word_skip: bool,
}

/// Convolutions over words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CnnConfig {
    /// Words that a filter sees, one entry a group of filters.
    pub windows: Vec<usize>,
    /// Filters a group.
    pub filters: usize,
    /// Parts of the document of which each filter keeps its strongest answer.
    pub pools: usize,
    /// Share of the numbers of word vectors that a training step leaves out.
    pub word_dropout: f64,
}

/// From states or a document vector to labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum HeadConfig {
    /// Each label attends to the states with a vector of its own.
    Attention(AttentionConfig),
    /// One document vector for all labels; states are pooled by their maximum.
    AllLabels(AllLabelsConfig),
    /// Clusters of labels attend first, the labels of the best ones then.
    ClusteredAttention(ClusteredAttentionConfig),
}

/// Multi-label attention.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttentionConfig {
    /// Widths of the fully connected layers that all labels share.
    pub layers: Vec<usize>,
    /// Spread of the attention vectors at the start; 0 draws them as Xavier and Glorot do.
    pub start_spread: f64,
    /// Whether each label has output weights of its own beside the shared ones.
    pub label_outputs: bool,
    /// Whether each label has a bias of its own, which starts at the label's log-odds.
    pub label_bias: bool,
}

/// One output layer over all labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllLabelsConfig {
    /// Widths of the fully connected layers before the output layer.
    pub layers: Vec<usize>,
    /// Share of the numbers of each layer that a training step leaves out.
    pub dropout: f64,
}

/// A label tree of which each level has a network of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PltConfig {
    /// Trees whose scores are averaged.
    pub num_trees: usize,
    /// Nodes of a level that are gone on with, in training and prediction.
    pub beam: usize,
    /// Epochs of a level below the first, which starts from the level above.
    pub lower_epochs: usize,
    /// The features by which labels are grouped.
    pub text: TfIdfConfig,
    /// How labels are grouped.
    pub tree: TreeConfig,
}

impl WordConfig {
    /// The settings of a system's recipe.
    pub fn of_system(system: &str) -> Result<Self> {
        settings_of(system, "system of words")
    }

    /// Refuses settings that cannot work, naming the key.
    pub fn validate(&self) -> Result<()> {
        self.words
            .validate()
            .map_err(|error| renamed("text", "words", error))?;
        self.vectors.validate()?;
        self.encoder.validate()?;
        self.head.validate()?;
        check(
            !matches!(
                (&self.encoder, &self.head),
                (
                    EncoderConfig::Cnn(_),
                    HeadConfig::Attention(_) | HeadConfig::ClusteredAttention(_)
                )
            ),
            "head.kind",
            "must be all-labels with convolutions: they leave no states to attend to",
        )?;
        if let Some(plt) = &self.plt {
            check(
                matches!(self.head, HeadConfig::Attention(_)),
                "plt",
                "needs the attention head",
            )?;
            plt.validate()?;
        }
        self.validate_clusters()?;
        self.train
            .validate_with_open_batch()
            .map_err(|error| below("train", error))
    }

    fn validate_clusters(&self) -> Result<()> {
        let needs_clusters = matches!(self.head, HeadConfig::ClusteredAttention(_));
        let Some(clusters) = &self.clusters else {
            return check(!needs_clusters, "clusters", "is missing");
        };
        check(
            needs_clusters,
            "clusters",
            "needs the clustered-attention head",
        )?;
        check(clusters.beam >= 1, "clusters.beam", "must be at least 1")?;
        clusters.validate()
    }

    /// Trees or clusterings, each with networks of its own, whose scores are averaged.
    pub(crate) fn num_trees(&self) -> usize {
        let of_clusters = self.clusters.as_ref().map(|one| one.num_clusterings);
        let of_trees = self.plt.as_ref().map(|plt| plt.num_trees);
        of_trees.or(of_clusters).unwrap_or(1)
    }

    /// Nodes or clusters that are gone on with in prediction.
    pub(crate) fn predict_beam(&self) -> usize {
        let of_clusters = self.clusters.as_ref().map(|one| one.predict_beam());
        let of_trees = self.plt.as_ref().map(|plt| plt.beam);
        of_trees.or(of_clusters).unwrap_or(1)
    }
}

impl VectorsConfig {
    pub(crate) fn validate(&self) -> Result<()> {
        check(
            (1..=4096).contains(&self.width),
            "vectors.width",
            "must be from 1 to 4096",
        )?;
        check(
            self.start != VectorStart::SkipGram || self.skip_gram.width == self.width,
            "vectors.skip_gram.width",
            "must equal vectors.width",
        )?;
        self.skip_gram
            .validate()
            .map_err(|error| below("vectors", error))
    }
}

impl EncoderConfig {
    fn validate(&self) -> Result<()> {
        match self {
            Self::Bilstm(lstm) => {
                check(
                    (1..=8192).contains(&lstm.hidden),
                    "encoder.hidden",
                    "must be from 1 to 8192",
                )?;
                check_share(lstm.word_dropout, "encoder.word_dropout")?;
                check_share(lstm.dropout, "encoder.dropout")
            }
            Self::Cnn(cnn) => {
                check(
                    !cnn.windows.is_empty() && cnn.windows.iter().all(|&words| words >= 1),
                    "encoder.windows",
                    "must be numbers from 1",
                )?;
                check(cnn.filters >= 1, "encoder.filters", "must be at least 1")?;
                check(cnn.pools >= 1, "encoder.pools", "must be at least 1")?;
                check_share(cnn.word_dropout, "encoder.word_dropout")
            }
        }
    }
}

impl HeadConfig {
    fn validate(&self) -> Result<()> {
        match self {
            Self::Attention(attention) => attention.validate(),
            Self::AllLabels(all) => {
                check_share(all.dropout, "head.dropout")?;
                check_layers(&all.layers, "head.layers")
            }
            Self::ClusteredAttention(clustered) => clustered.validate(),
        }
    }
}

impl AttentionConfig {
    pub(crate) fn validate(&self) -> Result<()> {
        check(
            !self.layers.is_empty(),
            "head.layers",
            "must name at least one layer",
        )?;
        check_spread(self.start_spread, "head.start_spread")?;
        check_layers(&self.layers, "head.layers")
    }
}

impl PltConfig {
    fn validate(&self) -> Result<()> {
        check(
            (1..=100).contains(&self.num_trees),
            "plt.num_trees",
            "must be from 1 to 100",
        )?;
        check(self.beam >= 1, "plt.beam", "must be at least 1")?;
        check(
            self.lower_epochs >= 1,
            "plt.lower_epochs",
            "must be at least 1",
        )?;
        self.text.validate().map_err(|error| below("plt", error))?;
        self.tree.validate().map_err(|error| below("plt", error))
    }
}

pub(crate) fn check(is_valid: bool, key: &str, message: &str) -> Result<()> {
    if is_valid {
        Ok(())
    } else {
        Err(Error::config(key, message))
    }
}

pub(crate) fn check_share(value: f64, key: &str) -> Result<()> {
    check(
        (0.0..1.0).contains(&value),
        key,
        "must be a number from 0 to below 1",
    )
}

pub(crate) fn check_layers(layers: &[usize], key: &str) -> Result<()> {
    check(
        layers.iter().all(|width| (1..=65_536).contains(width)),
        key,
        "must be widths from 1 to 65536",
    )
}

pub(crate) fn check_spread(value: f64, key: &str) -> Result<()> {
    check(
        value >= 0.0 && value.is_finite(),
        key,
        "must be a number from 0",
    )
}

/// The error of a part that goes by another name here.
pub(crate) fn renamed(from: &str, to: &str, error: Error) -> Error {
    match error {
        Error::Config { key, message } => {
            let rest = key.strip_prefix(from).unwrap_or(&key);
            Error::config(format!("{to}{rest}"), message)
        }
        other => other,
    }
}

/// The error of a part, with the key as the whole has it.
pub(crate) fn below(group: &str, error: Error) -> Error {
    match error {
        Error::Config { key, message } => Error::config(format!("{group}.{key}"), message),
        other => other,
    }
}
