//! A trained neural system that ranks labels.

use std::ops::Range;

use plethora_core::artifact::ModelReader;
use plethora_core::text::Words;
use plethora_core::{IndexRows, LabelId, ScoredLabel};
use tch::{Kind, Tensor};

use super::beam::{Beam, LevelRanker};
use super::level_validator::ranking;
use super::levels::Levels;
use super::network_file;
use crate::batch::WordBatch;
use crate::config::NeuralConfig;
use crate::guard::guarded;
use crate::head::LabelFacts;
use crate::start::Start;
use crate::train::{Network as _, Precision};
use crate::word_network::{NetworkSetup, WordNetwork};
use crate::{Device, Error, Result};

/// What to rank.
#[derive(Debug, Clone, Copy)]
pub struct RankOptions {
    /// Labels a document.
    pub top_k: usize,
    /// Tree nodes kept a level; the settings' number where absent.
    pub beam: Option<usize>,
}

/// Byte ranges of a text with the weight that a label gives to each.
pub type SpanWeights = Vec<(Range<usize>, f32)>;

/// A trained system.
#[derive(Debug)]
pub struct NeuralModel {
    config: NeuralConfig,
    words: Words,
    device: Device,
    trees: Vec<TrainedTree>,
    num_labels: usize,
}

/// The networks of one tree; a flat system has a tree of one level.
#[derive(Debug)]
pub(crate) struct TrainedTree {
    pub(crate) levels: Levels,
    /// One a level.
    pub(crate) networks: Vec<WordNetwork>,
}

/// Name of the weights of a level in a model folder.
pub(super) fn network_file_name(tree: usize, level: usize) -> String {
    format!("tree-{tree}.level-{level}.safetensors")
}

/// Name of the levels of a tree in a model folder.
pub(super) fn levels_file_name(tree: usize) -> String {
    format!("tree-{tree}.json")
}

impl NeuralModel {
    pub(crate) fn new(
        config: NeuralConfig,
        words: Words,
        device: Device,
        trees: Vec<TrainedTree>,
        num_labels: usize,
    ) -> Self {
        Self {
            config,
            words,
            device,
            trees,
            num_labels,
        }
    }

    /// Opens the networks of a model folder on a device; on which one they were trained does not
    /// matter.
    pub fn open(
        folder: &ModelReader,
        config: NeuralConfig,
        num_labels: usize,
        device: Device,
    ) -> Result<Self> {
        config.validate()?;
        let config = for_prediction(config);
        let words = Words::load_from(folder.folder())?;
        let on = device.open()?;
        let num_trees = config.plt.as_ref().map_or(1, |plt| plt.num_trees);
        let trees = guarded(|| {
            (0..num_trees)
                .map(|tree| open_tree(folder, &config, &words, num_labels, tree, on))
                .collect()
        })?;
        Ok(Self::new(config, words, device, trees, num_labels))
    }

    /// The best labels of each text, best first.
    pub fn rank(
        &self,
        texts: &[impl AsRef<str> + Sync],
        options: RankOptions,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        let sequences = self.words.sequences(texts);
        guarded(|| self.rank_sequences(&sequences, options))
    }

    /// As [`rank`](Self::rank), of word sequences.
    pub(crate) fn rank_sequences(
        &self,
        sequences: &IndexRows,
        options: RankOptions,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        let mut of_trees = self
            .trees
            .iter()
            .map(|tree| self.rank_with(tree, sequences, options));
        let Some(first) = of_trees.next() else {
            return Ok(vec![Vec::new(); sequences.num_rows()]);
        };
        let mut rankings: Vec<Vec<ScoredLabel>> = first?.iter().map(ranking).collect();
        if self.trees.len() == 1 {
            return Ok(rankings);
        }
        for beams in of_trees {
            for (all, beam) in rankings.iter_mut().zip(beams?) {
                all.extend(ranking(&beam));
            }
        }
        for ranking in &mut rankings {
            *ranking = mean(std::mem::take(ranking), self.trees.len(), options.top_k);
        }
        Ok(rankings)
    }

    fn rank_with(
        &self,
        tree: &TrainedTree,
        sequences: &IndexRows,
        options: RankOptions,
    ) -> Result<Vec<Beam>> {
        let mut above: Option<Vec<Beam>> = None;
        for (level, network) in tree.networks.iter().enumerate() {
            let is_last = level + 1 == tree.levels.len();
            let beam = options.beam.unwrap_or_else(|| self.beam());
            let ranker = LevelRanker {
                network,
                levels: &tree.levels,
                level,
                keep: if is_last { options.top_k } else { beam },
            };
            above = Some(ranker.rank(sequences, above.as_deref(), |_| Ok(()))?);
        }
        Ok(above.unwrap_or_default())
    }

    fn beam(&self) -> usize {
        self.config.plt.as_ref().map_or(1, |plt| plt.beam)
    }

    /// How strongly a label attends to each word of a text: byte ranges with weights that sum to
    /// one, a mean over the trees. Absent for systems without attention.
    pub fn attention(&self, text: &str, label: LabelId) -> Result<Option<SpanWeights>> {
        let spans = self.words.spans(text);
        let rows: Vec<u32> = spans.iter().map(|&(row, _)| row).collect();
        let batch = WordBatch::new(&[&rows]);
        let mut sum: Option<Tensor> = None;
        for tree in &self.trees {
            let Some(network) = tree.networks.last() else {
                continue;
            };
            let Some(weights) = network.attention(&batch, label.0)? else {
                return Ok(None);
            };
            let weights = weights / self.trees.len() as f64;
            sum = Some(match sum {
                Some(sum) => sum + weights,
                None => weights,
            });
        }
        let Some(sum) = sum else { return Ok(None) };
        let weights: Vec<f32> = sum
            .to_kind(Kind::Float)
            .flatten(0, -1)
            .try_into()
            .map_err(Error::from)?;
        let ranges = spans.into_iter().map(|(_, range)| range);
        Ok(Some(ranges.zip(weights).collect()))
    }

    /// The settings.
    pub fn config(&self) -> &NeuralConfig {
        &self.config
    }

    /// How texts become word sequences.
    pub fn words(&self) -> &Words {
        &self.words
    }

    /// Number of labels.
    pub fn num_labels(&self) -> usize {
        self.num_labels
    }

    /// The device that computes.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Number of trained values.
    pub fn num_parameters(&self) -> u64 {
        self.networks()
            .flat_map(|(_, _, network)| network_file::named(network.parameters()))
            .map(|(_, tensor)| tensor.numel() as u64)
            .sum()
    }

    pub(super) fn trees(&self) -> &[TrainedTree] {
        &self.trees
    }

    /// All networks, with the numbers of tree and level.
    pub(super) fn networks(&self) -> impl Iterator<Item = (usize, usize, &WordNetwork)> {
        self.trees.iter().enumerate().flat_map(|(number, tree)| {
            let networks = tree.networks.iter().enumerate();
            networks.map(move |(level, network)| (number, level, network))
        })
    }
}

/// Training may compute in 16 bits anywhere; prediction does where the device is made for it.
fn for_prediction(mut config: NeuralConfig) -> NeuralConfig {
    if config.train.precision == Precision::Bf16 {
        config.train.precision = Precision::Auto;
    }
    config
}

/// A tree that lacks a label counts zero for it.
fn mean(mut scored: Vec<ScoredLabel>, num_trees: usize, top_k: usize) -> Vec<ScoredLabel> {
    scored.sort_by_key(|scored| scored.label);
    let mut sums: Vec<ScoredLabel> = Vec::new();
    for one in scored {
        let share = one.score / num_trees as f32;
        match sums.last_mut() {
            Some(last) if last.label == one.label => last.score += share,
            _ => sums.push(ScoredLabel {
                label: one.label,
                score: share,
            }),
        }
    }
    sums.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.label.cmp(&b.label)));
    sums.truncate(top_k);
    sums
}

fn open_tree(
    folder: &ModelReader,
    config: &NeuralConfig,
    words: &Words,
    num_labels: usize,
    tree: usize,
    device: tch::Device,
) -> Result<TrainedTree> {
    let levels: Levels = folder.read_json(&levels_file_name(tree))?;
    let levels = levels.complete(num_labels).map_err(|error| {
        let path = folder.folder().join(levels_file_name(tree));
        plethora_core::Error::model(&path, error.to_string())
    })?;
    let shape = [words.num_rows() as i64, config.vectors.width as i64];
    let blank_words = Tensor::zeros(shape, (Kind::Float, tch::Device::Cpu));
    let networks = (0..levels.len())
        .map(|level| {
            let counts = vec![0; levels.num_items(level)];
            let network = WordNetwork::new(&NetworkSetup {
                config,
                word_vectors: &blank_words,
                labels: LabelFacts {
                    train_counts: &counts,
                    num_documents: 1,
                },
                has_candidates: level > 0,
                device,
                start: Start::blank(),
            });
            let name = network_file_name(tree, level);
            let arrays = folder.map(&name)?;
            network_file::load(network.parameters(), &arrays, &folder.path(&name)?)?;
            Ok(network)
        })
        .collect::<Result<_>>()?;
    Ok(TrainedTree { levels, networks })
}
