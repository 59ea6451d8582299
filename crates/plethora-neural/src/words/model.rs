//! A trained system of words that ranks labels and says what they attend to.

use std::ops::Range;

use plethora_core::artifact::{ModelReader, ModelWriter, WorkFolder};
use plethora_core::text::Words;
use plethora_core::{IndexRows, LabelId, ScoredLabel};
use plethora_system::{Explanation, Method, RankOptions, SpanWeight, keep_first};
use tch::{Kind, Tensor};

use super::batch::WordBatch;
use super::beam::{Beam, LevelRanker};
use super::config::WordConfig;
use super::level_validator::ranking;
use super::levels::Levels;
use super::network::WordNetwork;
use super::open::open_tree;
use crate::head::Clusters;
use crate::parameters::Parameters;
use crate::systems::NeuralModel;
use crate::systems::label_clusters::clusters_file_name;
use crate::systems::network_file::folder_of;
use crate::systems::rankings::{combine, depth};
use crate::train::Network as _;
use crate::{Error, Result};

/// Byte ranges of a text with the weight that a label gives to each.
pub type SpanWeights = Vec<(Range<usize>, f32)>;

/// A trained system of words.
#[derive(Debug)]
pub struct WordModel {
    pub(super) config: WordConfig,
    pub(super) words: Words,
    pub(super) trees: Vec<TrainedTree>,
    pub(super) num_labels: usize,
}

/// The networks of one tree; a flat system has a tree of one level.
#[derive(Debug)]
pub(crate) struct TrainedTree {
    pub(crate) levels: Levels,
    /// One per level.
    pub(crate) networks: Vec<WordNetwork>,
    /// The groups of labels that its network was trained with, in systems that choose from such.
    pub(crate) clusters: Option<Clusters>,
}

/// Name of the weights of a level in a model folder.
pub(super) fn network_file_name(tree: usize, level: usize) -> String {
    format!("tree-{tree}.level-{level}.safetensors")
}

/// Name of the levels of a tree in a model folder.
pub(super) fn levels_file_name(tree: usize) -> String {
    format!("tree-{tree}.json")
}

impl WordModel {
    fn rank_with(
        &self,
        tree: &TrainedTree,
        sequences: &IndexRows,
        top_k: usize,
        beam: Option<usize>,
    ) -> Result<Vec<Beam>> {
        let mut above: Option<Vec<Beam>> = None;
        for (level, network) in tree.networks.iter().enumerate() {
            let is_last = level + 1 == tree.levels.len();
            let beam = beam.unwrap_or_else(|| self.config.beam(level));
            let ranker = LevelRanker {
                network,
                levels: &tree.levels,
                level,
                keep: if is_last { top_k } else { beam },
                beam,
            };
            above = Some(ranker.rank(sequences, above.as_deref(), |_| Ok(()))?);
        }
        Ok(above.unwrap_or_default())
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
            let Some(weights) = network.attention(&batch, label.0) else {
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

    /// What each word adds to the log-odds of a label, of networks without attention, as the mean over
    /// them.
    fn contributions(&self, text: &str, label: LabelId) -> SpanWeights {
        let spans = self.words.spans(text);
        let rows: Vec<u32> = spans.iter().map(|&(row, _)| row).collect();
        let batch = WordBatch::new(&[&rows]);
        let mut weights = vec![0.0; spans.len()];
        for network in self.trees.iter().filter_map(|tree| tree.networks.last()) {
            for (weight, own) in weights
                .iter_mut()
                .zip(network.contributions(&batch, label.0))
            {
                *weight += own / self.trees.len() as f32;
            }
        }
        // The one place of a text without words is empty.
        let places = spans.into_iter().map(|(_, range)| range).zip(weights);
        places.filter(|(range, _)| !range.is_empty()).collect()
    }
}

impl NeuralModel for WordModel {
    type Config = WordConfig;

    fn config(&self) -> &WordConfig {
        &self.config
    }

    fn networks(&self) -> Vec<(String, &Parameters)> {
        let trees = self.trees.iter().enumerate();
        let networks = trees.flat_map(|(number, tree)| {
            let networks = tree.networks.iter().enumerate();
            networks.map(move |(level, network)| {
                (network_file_name(number, level), network.parameters())
            })
        });
        networks.collect()
    }

    fn open_networks(
        folder: &ModelReader,
        config: WordConfig,
        num_labels: usize,
        device: tch::Device,
    ) -> Result<Self> {
        let words = Words::load_from(folder.folder())?;
        let trees = (0..config.num_trees())
            .map(|tree| open_tree(folder, (&config, &words), num_labels, tree, device))
            .collect::<Result<_>>()?;
        Ok(Self {
            config,
            words,
            trees,
            num_labels,
        })
    }

    fn rank_texts<T: AsRef<str> + Sync>(
        &self,
        texts: &[T],
        options: RankOptions,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        let sequences = self.words.sequences(texts);
        let depth = depth(self.trees.len(), options.top_k);
        let of_trees = self
            .trees
            .iter()
            .map(|tree| {
                let beams = self.rank_with(tree, &sequences, depth, options.beam)?;
                Ok(beams.iter().map(ranking).collect())
            })
            .collect::<Result<_>>()?;
        Ok(combine(of_trees, sequences.num_rows(), options.top_k))
    }

    fn keep_members(&mut self, num_members: usize) -> plethora_core::Result<()> {
        keep_first(&mut self.trees, num_members)
    }

    /// Attention says where a label looks, not whether what it finds speaks for it.
    fn explain_text(&self, text: &str, label: LabelId) -> Result<Explanation> {
        let (method, places) = match self.attention(text, label)? {
            Some(places) => (Method::Attention, places),
            None => (Method::Gradient, self.contributions(text, label)),
        };
        let all = RankOptions {
            top_k: self.num_labels,
            beam: None,
        };
        let rankings = self.rank_texts(&[text], all)?;
        let ranked = rankings
            .iter()
            .flatten()
            .find(|scored| scored.label == label);
        // A label that the beam does not reach is not ranked at all.
        let score = ranked.map_or(0.0, |scored| scored.score);
        let spans = places.into_iter().map(|(place, weight)| SpanWeight {
            start: place.start,
            end: place.end,
            weight,
        });
        Ok(Explanation {
            spans: spans.collect(),
            ..Explanation::new(label, score, method)
        })
    }

    fn save_others(&self, _work: &WorkFolder, writer: &ModelWriter) -> Result<()> {
        for (number, tree) in self.trees.iter().enumerate() {
            writer.write_json(&levels_file_name(number), &tree.levels)?;
            if let Some(clusters) = &tree.clusters {
                writer.write_json(&clusters_file_name(number), clusters)?;
            }
        }
        self.words.save_to(&folder_of(writer))?;
        Ok(())
    }
}
