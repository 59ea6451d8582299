//! A trained neural system that ranks labels.

use std::ops::Range;

use plethora_core::artifact::ModelReader;
use plethora_core::text::Words;
use plethora_core::{IndexRows, LabelId, ScoredLabel};
use tch::{Kind, Tensor};

use super::beam::{Beam, LevelRanker};
use super::encoder_files::check_fit;
use super::level_validator::ranking;
use super::levels::Levels;
use super::network_file;
use super::open_networks::{open_members, open_tree};
use super::piece_ranker::PieceRanker;
use super::piece_run::{PieceMember, cut};
use super::reader::TextReader;
use super::treader_model::{NETWORK_FILE, ReaderExplanation, TReaderPart};
use crate::batch::WordBatch;
use crate::config::NeuralConfig;
use crate::guard::guarded;
use crate::head::Clusters;
use crate::parameters::Parameters;
use crate::piece_batch::Cut;
use crate::pieces::Pieces;
use crate::train::{Network as _, Precision};
use crate::transformer::Architecture;
use crate::word_network::WordNetwork;
use crate::{Device, Error, Result};

/// Name of the encoder's own settings in a model folder.
pub(super) const ARCHITECTURE_FILE: &str = "encoder.json";

/// Labels that each network ranks at least, where their scores are averaged.
const DEPTH: usize = 100;

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
    reader: TextReader,
    device: Device,
    trained: TrainedPart,
    num_labels: usize,
}

/// The networks of a system.
#[derive(Debug)]
pub(crate) enum TrainedPart {
    /// Networks of words, for each level of each tree.
    Trees(Vec<TrainedTree>),
    /// Networks of pieces, whose scores are averaged.
    Members {
        architecture: Architecture,
        members: Vec<PieceMember>,
    },
    /// A network of words and the labels of neighbours.
    TReader(Box<TReaderPart>),
}

/// The networks of one tree; a flat system has a tree of one level.
#[derive(Debug)]
pub(crate) struct TrainedTree {
    pub(crate) levels: Levels,
    /// One a level.
    pub(crate) networks: Vec<WordNetwork>,
    /// The groups of labels that its network was trained with, in systems that choose from such.
    pub(crate) clusters: Option<Clusters>,
}

/// Name of the weights of a level in a model folder.
pub(super) fn network_file_name(tree: usize, level: usize) -> String {
    format!("tree-{tree}.level-{level}.safetensors")
}

/// Name of the weights of a network of pieces in a model folder.
pub(super) fn member_file_name(member: usize) -> String {
    format!("member-{member}.safetensors")
}

/// Name of the clusters of a network in a model folder, by the number of its member or tree.
pub(super) fn clusters_file_name(number: usize) -> String {
    format!("clusters-{number}.json")
}

/// Name of the levels of a tree in a model folder.
pub(super) fn levels_file_name(tree: usize) -> String {
    format!("tree-{tree}.json")
}

impl NeuralModel {
    pub(crate) fn new(
        config: NeuralConfig,
        reader: TextReader,
        device: Device,
        trained: TrainedPart,
        num_labels: usize,
    ) -> Self {
        Self {
            config,
            reader,
            device,
            trained,
            num_labels,
        }
    }

    /// Opens the networks of a model folder on a device, to compute with numbers of `precision`; on
    /// which device and with which numbers they were trained does not matter.
    pub fn open(
        folder: &ModelReader,
        config: NeuralConfig,
        num_labels: usize,
        device: Device,
        precision: Precision,
    ) -> Result<Self> {
        config.validate()?;
        let on = device.open()?;
        guarded(|| match config {
            NeuralConfig::Words(mut config) => {
                config.train.precision = precision;
                let words = Words::load_from(folder.folder())?;
                let trees = (0..config.num_trees())
                    .map(|tree| open_tree(folder, &config, &words, num_labels, tree, on))
                    .collect::<Result<_>>()?;
                Ok(Self::new(
                    NeuralConfig::Words(config),
                    TextReader::Words(words),
                    device,
                    TrainedPart::Trees(trees),
                    num_labels,
                ))
            }
            NeuralConfig::TReader(mut config) => {
                config.train.precision = precision;
                let words = Words::load_from(folder.folder())?;
                let part = TReaderPart::open(folder, &config, &words, num_labels, on)?;
                Ok(Self::new(
                    NeuralConfig::TReader(config),
                    TextReader::Words(words),
                    device,
                    TrainedPart::TReader(Box::new(part)),
                    num_labels,
                ))
            }
            NeuralConfig::Pieces(mut config) => {
                config.train.precision = precision;
                config.check_settled()?;
                let (architecture, members) = open_members(folder, &config, num_labels, on)?;
                let pieces = Pieces::load_from(folder.folder())?;
                let encoder_file = folder.path(ARCHITECTURE_FILE)?;
                check_fit(&config, &architecture, &pieces, &encoder_file)?;
                let max_length = config.document.max_length;
                Ok(Self::new(
                    NeuralConfig::Pieces(config),
                    TextReader::Pieces {
                        pieces: Box::new(pieces),
                        max_length,
                    },
                    device,
                    TrainedPart::Members {
                        architecture,
                        members,
                    },
                    num_labels,
                ))
            }
        })
    }

    /// The best labels of each text, best first.
    pub fn rank(
        &self,
        texts: &[impl AsRef<str> + Sync],
        options: RankOptions,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        let sequences = self.reader.sequences(texts);
        if let (TrainedPart::TReader(part), NeuralConfig::TReader(config)) =
            (&self.trained, &self.config)
        {
            return guarded(|| part.rank(texts, &sequences, config, options.top_k));
        }
        guarded(|| self.rank_sequences(&sequences, options))
    }

    /// Which training documents like a text vote for a label, by what they are like it, and what the
    /// network says by itself. Absent for systems that ask no documents.
    pub fn explain_by_votes(
        &self,
        text: &str,
        label: LabelId,
    ) -> Result<Option<ReaderExplanation<'_>>> {
        let (TrainedPart::TReader(part), NeuralConfig::TReader(config)) =
            (&self.trained, &self.config)
        else {
            return Ok(None);
        };
        let sequences = self.reader.sequences(&[text]);
        guarded(|| part.explain(text, &sequences, label, config))
    }

    /// As [`rank`](Self::rank), of sequences.
    fn rank_sequences(
        &self,
        sequences: &IndexRows,
        options: RankOptions,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        // A label that is not among a network's best counts nothing there, which must not hang on how
        // many labels are asked for.
        let depth = match self.num_networks() {
            1 => options.top_k,
            _ => options.top_k.max(DEPTH),
        };
        let of_networks: Vec<Vec<Vec<ScoredLabel>>> = match &self.trained {
            TrainedPart::Trees(trees) => trees
                .iter()
                .map(|tree| {
                    let options = RankOptions {
                        top_k: depth,
                        ..options
                    };
                    let beams = self.rank_with(tree, sequences, options)?;
                    Ok(beams.iter().map(ranking).collect())
                })
                .collect::<Result<_>>()?,
            TrainedPart::Members { members, .. } => members
                .iter()
                .map(|member| {
                    PieceRanker {
                        network: &member.network,
                        cut: self.cut(member.network.device()),
                        beam: options.beam.unwrap_or_else(|| self.beam()),
                        keep: depth,
                    }
                    .rank(sequences)
                })
                .collect::<Result<_>>()?,
            TrainedPart::TReader(_) => unreachable!("TReaderXML ranks texts"),
        };
        Ok(combine(of_networks, sequences.num_rows(), options.top_k))
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
                beam,
            };
            above = Some(ranker.rank(sequences, above.as_deref(), |_| Ok(()))?);
        }
        Ok(above.unwrap_or_default())
    }

    fn num_networks(&self) -> usize {
        match &self.trained {
            TrainedPart::Trees(trees) => trees.len(),
            TrainedPart::Members { members, .. } => members.len(),
            TrainedPart::TReader(_) => 1,
        }
    }

    fn cut(&self, device: tch::Device) -> Cut {
        match &self.config {
            NeuralConfig::Pieces(config) => cut(config, &self.reader, device),
            _ => unreachable!("systems of words have no pieces"),
        }
    }

    fn beam(&self) -> usize {
        match &self.config {
            NeuralConfig::Words(config) => config.predict_beam(),
            NeuralConfig::Pieces(config) => config.predict_beam(),
            NeuralConfig::TReader(_) => 1,
        }
    }

    /// How strongly a label attends to each word of a text: byte ranges with weights that sum to
    /// one, a mean over the trees. Absent for systems without attention.
    pub fn attention(&self, text: &str, label: LabelId) -> Result<Option<SpanWeights>> {
        let TrainedPart::Trees(trees) = &self.trained else {
            return Ok(None);
        };
        let spans = self.reader.spans(text);
        let rows: Vec<u32> = spans.iter().map(|&(row, _)| row).collect();
        let batch = WordBatch::new(&[&rows]);
        let mut sum: Option<Tensor> = None;
        for tree in trees {
            let Some(network) = tree.networks.last() else {
                continue;
            };
            let Some(weights) = network.attention(&batch, label.0)? else {
                return Ok(None);
            };
            let weights = weights / trees.len() as f64;
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

    /// How texts become sequences.
    pub fn reader(&self) -> &TextReader {
        &self.reader
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
            .into_iter()
            .flat_map(|(_, parameters)| network_file::named(parameters))
            .map(|(_, tensor)| tensor.numel() as u64)
            .sum()
    }

    pub(super) fn trained(&self) -> &TrainedPart {
        &self.trained
    }

    /// The parameters of all networks, with the names of their files.
    pub(super) fn networks(&self) -> Vec<(String, &Parameters)> {
        match &self.trained {
            TrainedPart::Trees(trees) => (trees.iter().enumerate())
                .flat_map(|(number, tree)| {
                    let networks = tree.networks.iter().enumerate();
                    networks.map(move |(level, network)| {
                        (network_file_name(number, level), network.parameters())
                    })
                })
                .collect(),
            TrainedPart::Members { members, .. } => (members.iter().enumerate())
                .map(|(number, member)| (member_file_name(number), member.network.parameters()))
                .collect(),
            TrainedPart::TReader(part) => {
                vec![(NETWORK_FILE.to_owned(), part.network.parameters())]
            }
        }
    }
}

/// The mean of what the networks of a system say, or what its only one says.
fn combine(
    mut of_networks: Vec<Vec<Vec<ScoredLabel>>>,
    num_documents: usize,
    top_k: usize,
) -> Vec<Vec<ScoredLabel>> {
    if of_networks.len() == 1 {
        return of_networks.remove(0);
    }
    let mut together = vec![Vec::new(); num_documents];
    let num_networks = of_networks.len();
    for rankings in of_networks {
        for (all, ranking) in together.iter_mut().zip(rankings) {
            all.extend(ranking);
        }
    }
    together
        .into_iter()
        .map(|scored| mean(scored, num_networks, top_k))
        .collect()
}

/// A network that lacks a label counts zero for it.
fn mean(mut scored: Vec<ScoredLabel>, num_networks: usize, top_k: usize) -> Vec<ScoredLabel> {
    scored.sort_by_key(|scored| scored.label);
    let mut sums: Vec<ScoredLabel> = Vec::new();
    for one in scored {
        let share = one.score / num_networks as f32;
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
