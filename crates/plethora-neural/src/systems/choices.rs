//! Settings that follow from the data and the machine.
//!
//! A zero in the settings of a system of pieces, and the form `auto`, leave a choice; here it is made,
//! by what was measured on real data. What users set stays.

use plethora_core::{Error, grouped};
use tch::Kind;

use super::reader::TextReader;
use super::sequences::Sequences;
use super::training_set::NeuralSet;
use crate::config::NeuralConfig;
use crate::piece_config::{HeadForm, PieceConfig};
use crate::piece_memory::PieceSizes;
use crate::precision::compute_kind;
use crate::train::memory;
use crate::transformer::Architecture;
use crate::{Device, Result};

/// Up to this many labels one layer over all of them is the fastest and as good as any.
const MAX_FLAT_LABELS: usize = 100_000;

/// Share of the documents that are not cut.
const UNCUT_SHARE: f64 = 0.95;

/// Pieces that are read at most on a processor, which takes seconds for a batch of more.
const MAX_LENGTH_CPU: usize = 128;

/// Lengths are multiples of this.
const LENGTH_STEP: usize = 32;

/// Encoders of at most this width are small: larger batches and steps suit them.
const SMALL_WIDTH: usize = 512;

/// Steps that training takes about, whatever the number of documents.
const STEPS: usize = 9000;

/// Fewest documents that are computed together, where memory is short.
const MIN_BATCH: usize = 4;

/// Share of the free memory that training may plan with.
const USABLE_SHARE: f64 = 0.9;

/// Settings without a choice left, and what was chosen, for users to see.
#[derive(Debug, Clone)]
pub struct Choices {
    /// The settings.
    pub config: NeuralConfig,
    /// What was chosen; absent where there was no choice.
    pub summary: Option<String>,
}

impl NeuralSet {
    /// Makes the choices that `config` leaves, by these documents and the device.
    pub fn settle(&mut self, config: &NeuralConfig, device: Device) -> Result<Choices> {
        let NeuralConfig::Pieces(config) = config else {
            return Ok(Choices {
                config: config.clone(),
                summary: None,
            });
        };
        let (Some(architecture), TextReader::Pieces { max_length, .. }) =
            (&self.architecture, &mut self.reader)
        else {
            unreachable!("systems of pieces read pieces");
        };
        let facts = Facts {
            architecture,
            num_labels: self.space.len(),
            num_documents: self.sequences.num_rows(),
            device,
        };
        let mut chosen = config.clone();
        if chosen.document.max_length == 0 {
            chosen.document.max_length = facts.max_length(&self.sequences);
        }
        facts.choose(&mut chosen)?;
        if chosen.document.max_length < *max_length {
            // Texts to come are cut at once; those of the set as they are wanted.
            *max_length = chosen.document.max_length;
        }
        chosen.validate()?;
        Ok(Choices {
            summary: Some(summary(&chosen, self.space.len())),
            config: NeuralConfig::Pieces(chosen),
        })
    }
}

/// What choices follow from.
struct Facts<'a> {
    architecture: &'a Architecture,
    num_labels: usize,
    num_documents: usize,
    device: Device,
}

impl Facts<'_> {
    /// So long that few documents are cut.
    fn max_length(&self, sequences: &Sequences) -> usize {
        let mut lengths: Vec<usize> = sequences.rows().map(<[u32]>::len).collect();
        lengths.sort_unstable();
        let place = (UNCUT_SHARE * lengths.len() as f64) as usize;
        let length = lengths.get(place).or(lengths.last()).copied().unwrap_or(1);
        let longest = lengths.last().copied().unwrap_or(1).max(LENGTH_STEP);
        let limit = if self.device == Device::Cpu {
            MAX_LENGTH_CPU
        } else {
            usize::MAX
        };
        (length.div_ceil(LENGTH_STEP) * LENGTH_STEP)
            .min(longest)
            .min(limit)
    }

    fn choose(&self, config: &mut PieceConfig) -> Result<()> {
        let is_small = self.architecture.width() <= SMALL_WIDTH;
        if config.head.form == HeadForm::Auto {
            config.head.form = if self.num_labels <= MAX_FLAT_LABELS {
                HeadForm::Flat
            } else {
                HeadForm::Clustered
            };
        }
        if config.head.form == HeadForm::Clustered {
            self.choose_clusters(config);
        }
        let train = &mut config.train;
        if train.learning_rate == 0.0 {
            train.learning_rate = if is_small { 2e-4 } else { 6e-5 };
        }
        if train.label_rate == 0.0 {
            let rate = if is_small { 3e-3 } else { 2e-3 };
            train.label_rate = rate / train.learning_rate;
        }
        if train.batch_size == 0 {
            train.batch_size = if is_small { 64 } else { 32 };
            self.fit_batch(config)?;
        }
        let train = &mut config.train;
        if train.epochs == 0 {
            let per_epoch = self
                .num_documents
                .div_ceil(train.batch_size * train.accumulate);
            train.epochs = (STEPS / per_epoch.max(1)).clamp(4, 40);
        }
        Ok(())
    }

    fn choose_clusters(&self, config: &mut PieceConfig) {
        let num_clusters = self.num_labels.div_ceil(config.clusters.tree.max_leaf);
        if config.clusters.beam == 0 {
            config.clusters.beam = (num_clusters / 20).clamp(10, 75);
        }
        if config.head.bottleneck == 0 {
            config.head.bottleneck = 512;
        }
    }

    /// Halves the batch until it fits, and lets a step have more of them instead.
    fn fit_batch(&self, config: &mut PieceConfig) -> Result<()> {
        let Some(free) = memory::free_bytes(self.device) else {
            return Ok(());
        };
        let kind: Kind = compute_kind(config.train.precision, self.device.open()?);
        loop {
            let sizes = PieceSizes {
                config,
                architecture: self.architecture,
                num_labels: self.num_labels,
                num_clusters: self.num_labels / config.clusters.tree.max_leaf.max(1) * 2,
                kind,
            };
            let fits = sizes.bytes(self.device) as f64 <= USABLE_SHARE * free as f64;
            if fits || config.train.batch_size <= MIN_BATCH {
                return Ok(());
            }
            config.train.batch_size /= 2;
            config.train.accumulate *= 2;
        }
    }
}

fn summary(config: &PieceConfig, num_labels: usize) -> String {
    let form = match config.head.form {
        HeadForm::Auto | HeadForm::Flat => "one layer over".to_owned(),
        HeadForm::Clustered => format!(
            "the best {} clusters of at most {} of",
            config.clusters.beam, config.clusters.tree.max_leaf
        ),
        HeadForm::Exact => "every one of".to_owned(),
    };
    let train = &config.train;
    let batch = match train.accumulate {
        1 => train.batch_size.to_string(),
        parts => format!("{parts} x {}", train.batch_size),
    };
    format!(
        "{form} {} labels, {} pieces a document, {} epochs of batches of {batch}, step size {:.1e} \
         (labels {:.1e})",
        grouped(num_labels as u64),
        config.document.max_length,
        train.epochs,
        train.learning_rate,
        train.learning_rate * train.label_rate
    )
}

impl PieceConfig {
    /// Refuses settings that still leave a choice, which those of a trained model never do.
    pub(crate) fn check_settled(&self) -> plethora_core::Result<()> {
        let is_open = self.document.max_length == 0 || self.head.form == HeadForm::Auto;
        if is_open {
            return Err(Error::config("document.max_length", "is not chosen"));
        }
        Ok(())
    }
}
