//! Settings of the systems that read words.

use std::path::PathBuf;

use plethora_core::checks::{at_least, check, number_from, share_below_one, within};
use plethora_core::text::WordsConfig;
use plethora_core::{Error, Result};
use plethora_system::settings::Auto;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::clustered_attention_config::ClusteredAttentionConfig;
use super::family::SYSTEMS;
use super::plt_config::PltConfig;
use crate::ClustersConfig;
use crate::setting::Setting;
use crate::systems::recipes::recipe_of;
use crate::systems::{NamesFiles, VectorsConfig};
use crate::train::{ChosenNumbers, TrainConfig};

/// Batches that an epoch is cut into about.
const BATCHES_OF_WORDS: usize = 640;

/// Fewest and most documents of a batch. Fewer take longer on any machine, more learn less in as many
/// epochs.
const WORD_BATCHES: (usize, usize) = (16, 64);

/// Batches are multiples of this.
const BATCH_STEP: usize = 8;

/// Words that a filter spans; whole paragraphs would be a typing error.
const MAX_WINDOW: usize = 1024;

/// Settings as users give them: what they leave open is chosen by the number of documents, see
/// [`settled`](Self::settled).
pub type OpenWordConfig = WordConfig<Auto<usize>>;

/// Settings of a system that reads words, with all choices made: what training and models have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WordConfig<Batch = usize> {
    /// Name of the system, which is its recipe's.
    pub system: String,
    /// Draws first weights, the order of documents and what dropout leaves out.
    pub seed: u64,
    /// Networks whose scores are averaged, each with first weights and an order of documents of its own, in
    /// systems without trees or clusters; one where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<usize>,
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
    pub train: TrainConfig<Batch>,
}

/// From word vectors to what a head takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum EncoderConfig {
    /// A bidirectional LSTM: one state per word.
    Bilstm(BiLstmConfig),
    /// Convolutions with dynamic pooling: one vector per document.
    Cnn(CnnConfig),
}

/// A bidirectional LSTM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CnnConfig {
    /// Words that a filter sees, one entry per group of filters.
    pub windows: Vec<usize>,
    /// Filters per group.
    pub filters: usize,
    /// Parts of the document of which each filter keeps its strongest answer.
    pub pools: usize,
    /// Share of the numbers of word vectors that a training step leaves out.
    pub word_dropout: f64,
}

/// From states or a document vector to labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllLabelsConfig {
    /// Widths of the fully connected layers before the output layer.
    pub layers: Vec<usize>,
    /// Share of the numbers of each layer that a training step leaves out.
    pub dropout: f64,
}

/// An encoder with a head that takes what it gives.
pub(crate) enum NetworkForm<'a> {
    /// A state per word.
    States(&'a BiLstmConfig, StatesForm<'a>),
    /// A vector per document.
    Convolutions(&'a CnnConfig, &'a AllLabelsConfig),
}

/// A head that takes states.
pub(crate) enum StatesForm<'a> {
    /// Each label attends.
    Attention(&'a AttentionConfig),
    /// Clusters of labels attend first.
    Clustered(&'a ClusteredAttentionConfig, &'a ClustersConfig),
    /// States are pooled.
    Pooled(&'a AllLabelsConfig),
}

impl<Batch: Setting<usize>> WordConfig<Batch> {
    /// Refuses settings that cannot work, naming the key.
    pub fn validate(&self) -> Result<()> {
        self.words.validate()?;
        self.vectors.validate()?;
        self.encoder.validate()?;
        self.head.validate()?;
        if let Some(plt) = &self.plt {
            check(
                matches!(self.head, HeadConfig::Attention(_)),
                "plt",
                "needs the attention head",
            )?;
            plt.validate().map_err(|error| error.within("plt"))?;
        }
        self.validate_members()?;
        self.validate_clusters()?;
        self.train.validate().map_err(|error| error.within("train"))
    }

    fn validate_members(&self) -> Result<()> {
        check(
            self.members.is_none() || self.plt.is_none(),
            "members",
            "must be absent here: plt.num_trees says how many trees there are",
        )?;
        check(
            self.members.is_none() || self.clusters.is_none(),
            "members",
            "must be absent here: clusters.num_clusterings says how many there are",
        )?;
        within("members", self.members, 1..=100)
    }

    fn validate_clusters(&self) -> Result<()> {
        let needs_clusters = matches!(
            self.form()?,
            NetworkForm::States(_, StatesForm::Clustered(..))
        );
        let Some(clusters) = &self.clusters else {
            return Ok(());
        };
        check(
            needs_clusters,
            "clusters",
            "needs the clustered-attention head",
        )?;
        at_least("clusters.beam", clusters.beam, 1)?;
        clusters.validate()
    }
}

impl<Batch> WordConfig<Batch> {
    /// The encoder with a head that can take what it gives.
    pub(crate) fn form(&self) -> Result<NetworkForm<'_>> {
        let lstm = match (&self.encoder, &self.head) {
            (EncoderConfig::Bilstm(lstm), _) => lstm,
            (EncoderConfig::Cnn(cnn), HeadConfig::AllLabels(head)) => {
                return Ok(NetworkForm::Convolutions(cnn, head));
            }
            (EncoderConfig::Cnn(_), _) => {
                return Err(Error::config(
                    "head.kind",
                    "must be all-labels with convolutions: they leave no states to attend to",
                ));
            }
        };
        let head = match (&self.head, &self.clusters) {
            (HeadConfig::Attention(head), _) => StatesForm::Attention(head),
            (HeadConfig::AllLabels(head), _) => StatesForm::Pooled(head),
            (HeadConfig::ClusteredAttention(head), Some(clusters)) => {
                StatesForm::Clustered(head, clusters)
            }
            (HeadConfig::ClusteredAttention(_), None) => {
                return Err(Error::config("clusters", "is missing"));
            }
        };
        Ok(NetworkForm::States(lstm, head))
    }
}

impl OpenWordConfig {
    /// The settings of a system's recipe.
    pub fn of_system(system: &str) -> Result<Self> {
        recipe_of(&SYSTEMS, system)
    }

    /// These settings with the choices made that they leave, for so many training documents.
    #[must_use]
    pub fn settled(&self, num_documents: usize) -> WordConfig {
        let train = &self.train;
        let batch_size = train.batch_size;
        WordConfig {
            system: self.system.clone(),
            seed: self.seed,
            members: self.members,
            words: self.words.clone(),
            vectors: self.vectors.clone(),
            encoder: self.encoder.clone(),
            head: self.head.clone(),
            plt: self.plt.clone(),
            clusters: self.clusters.clone(),
            train: train.settled(ChosenNumbers {
                epochs: train.epochs,
                batch_size: batch_size.unwrap_or_else(|| batch_of_words(num_documents)),
                learning_rate: train.learning_rate,
                label_rate: train.label_rate,
                hidden_rate: train.hidden_rate,
            }),
        }
    }
}

impl<Batch: Serialize> NamesFiles for WordConfig<Batch> {
    fn files(&self) -> Vec<PathBuf> {
        self.vectors.files()
    }
}

impl WordConfig {
    /// How the network of a level is trained.
    pub(crate) fn train_config(&self, level: usize) -> TrainConfig {
        match &self.plt {
            Some(plt) => plt.train_config(&self.train, level),
            None => self.train.clone(),
        }
    }

    /// Trees, clusterings or members, each with networks of its own, whose scores are averaged.
    pub(crate) fn num_trees(&self) -> usize {
        let of_clusters = self.clusters.as_ref().map(|one| one.num_clusterings);
        let of_trees = self.plt.as_ref().map(|plt| plt.num_trees);
        of_trees.or(of_clusters).or(self.members).unwrap_or(1)
    }

    /// Nodes of a level or clusters that are kept: in prediction, and of nodes in training.
    pub(crate) fn beam(&self, level: usize) -> usize {
        let of_clusters = self.clusters.as_ref().map(|one| one.predict_beam());
        let of_trees = self.plt.as_ref().map(|plt| plt.beam(level));
        of_trees.or(of_clusters).unwrap_or(1)
    }
}

impl EncoderConfig {
    fn validate(&self) -> Result<()> {
        match self {
            Self::Bilstm(lstm) => {
                within("encoder.hidden", lstm.hidden, 1..=8192)?;
                share_below_one("encoder.word_dropout", lstm.word_dropout)?;
                share_below_one("encoder.dropout", lstm.dropout)
            }
            Self::Cnn(cnn) => {
                let is_window = |words| (1..=MAX_WINDOW).contains(words);
                check(
                    !cnn.windows.is_empty() && cnn.windows.iter().all(is_window),
                    "encoder.windows",
                    "must be numbers from 1 to 1024",
                )?;
                within("encoder.filters", cnn.filters, 1..=65_536)?;
                within("encoder.pools", cnn.pools, 1..=65_536)?;
                share_below_one("encoder.word_dropout", cnn.word_dropout)
            }
        }
    }
}

impl HeadConfig {
    fn validate(&self) -> Result<()> {
        let checked = match self {
            Self::Attention(attention) => attention.validate(),
            Self::AllLabels(all) => {
                share_below_one("dropout", all.dropout).and_then(|()| check_layers(&all.layers))
            }
            Self::ClusteredAttention(clustered) => clustered.validate(),
        };
        checked.map_err(|error| error.within("head"))
    }
}

impl AttentionConfig {
    /// Refuses settings that cannot work, naming the key below the head or its part.
    pub(crate) fn validate(&self) -> Result<()> {
        number_from("start_spread", self.start_spread, 0.0)?;
        check_some_layers(&self.layers)
    }
}

/// Refuses layers that are too narrow or too wide to be meant.
fn check_layers(layers: &[usize]) -> Result<()> {
    let is_valid = layers.iter().all(|width| (1..=65_536).contains(width));
    check(is_valid, "layers", "must be widths from 1 to 65536")
}

/// As [`check_layers`], where there must be one.
pub(super) fn check_some_layers(layers: &[usize]) -> Result<()> {
    check(!layers.is_empty(), "layers", "must name at least one layer")?;
    check_layers(layers)
}

/// Documents of a batch: few of few, so that there are steps enough to learn from.
fn batch_of_words(num_documents: usize) -> usize {
    let share = num_documents / BATCHES_OF_WORDS;
    (share / BATCH_STEP * BATCH_STEP).clamp(WORD_BATCHES.0, WORD_BATCHES.1)
}

/// Settled settings of a recipe, for tests.
#[cfg(test)]
pub(crate) fn settled(system: &str) -> WordConfig {
    OpenWordConfig::of_system(system).unwrap().settled(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::Trains as _;

    #[test]
    fn few_documents_make_small_batches_of_words() {
        let batches = [20, 2_400, 20_000, 41_333, 45_000, 1_000_000].map(batch_of_words);
        assert_eq!(batches, [16, 16, 24, 64, 64, 64]);
    }

    #[test]
    fn a_share_of_the_epochs_is_never_none_of_them() {
        let config = settled("attentionxml-plt");
        let epochs = |share: f64| {
            let config = config.with_epoch_share(share);
            (config.train.epochs, config.plt.unwrap().lower_epochs)
        };
        assert_eq!(epochs(1.0), (15, 8));
        assert_eq!(epochs(1.0 / 3.0), (5, 3));
        assert_eq!(epochs(1.0 / 27.0), (1, 1));
    }
}
