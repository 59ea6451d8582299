//! Settings that follow from the data and the machine.
//!
//! A zero in the settings of a system, and the form `auto`, leave a choice; here it is made,
//! by what was measured on real data. What users set stays.

use plethora_core::artifact::WorkFolder;
use plethora_core::{Error, grouped};

use super::adaptive_choices::adaptive_summary;
use super::reader::TextReader;
use super::sequences::Sequences;
use super::training_set::NeuralSet;
use crate::config::NeuralConfig;
use crate::piece_config::{HeadForm, PieceConfig};
use crate::piece_memory::PieceSizes;
use crate::precision::compute_kind;
use crate::train::memory;
use crate::transformer::Architecture;
use crate::word_config::WordConfig;
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

/// Batches that an epoch of a system of words is cut into about.
const BATCHES_OF_WORDS: usize = 640;

/// Fewest and most documents of such a batch. Fewer take longer on any machine, more learn less in as many epochs.
const WORD_BATCHES: (usize, usize) = (16, 64);

/// Such batches are multiples of this.
const BATCH_STEP: usize = 8;

/// Steps that training takes about, whatever the number of documents.
const STEPS: usize = 9000;

/// Fewest documents that are computed together, where memory is short.
const MIN_BATCH: usize = 4;

/// Share of the free memory that training may plan with.
const USABLE_SHARE: f64 = 0.9;

/// Name of the settings that a run was begun with, in its work folder.
const SETTLED_FILE: &str = "settings.json";

/// Settings without a choice left, and what was chosen, for users to see.
#[derive(Debug, Clone)]
pub struct Choices {
    /// The settings.
    pub config: NeuralConfig,
    /// What was chosen; absent where there was no choice.
    pub summary: Option<String>,
}

impl NeuralSet {
    /// As [`settle`](Self::settle), for a run that may be gone on with: what it was begun with stays,
    /// wherever and with how much memory it goes on.
    pub fn settle_run(
        &mut self,
        config: &NeuralConfig,
        device: Device,
        work: &WorkFolder,
    ) -> Result<Choices> {
        let path = work.path(SETTLED_FILE);
        let begun_with = match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).ok(),
            Err(_) => None,
        };
        let choices = self.settle(begun_with.as_ref().unwrap_or(config), device)?;
        if begun_with.is_none() && choices.summary.is_some() {
            let text = serde_json::to_vec_pretty(&choices.config)
                .map_err(|error| Error::Data(error.to_string()))?;
            let new = work.path(&format!("{SETTLED_FILE}.new"));
            std::fs::write(&new, text).map_err(Error::write(&new))?;
            std::fs::rename(&new, &path).map_err(Error::write(&path))?;
        }
        Ok(choices)
    }

    /// Makes the choices that `config` leaves, by these documents and the device.
    pub fn settle(&mut self, config: &NeuralConfig, device: Device) -> Result<Choices> {
        let config = match config {
            NeuralConfig::Pieces(config) => config,
            NeuralConfig::Words(config) => return Ok(self.settle_words(config)),
            NeuralConfig::TReader(_) => {
                return Ok(Choices {
                    config: config.clone(),
                    summary: None,
                });
            }
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
            free_memory: memory::free_bytes(device),
        };
        let mut chosen = config.clone();
        if chosen.document.max_length == 0 {
            chosen.document.max_length = facts.max_length(&self.sequences);
        }
        facts.choose_adaptive(&mut chosen, &self.labels_of_documents)?;
        facts.choose(&mut chosen)?;
        chosen.validate()?;
        facts.check_memory(&chosen)?;
        if chosen.document.max_length < *max_length {
            // Texts to come are cut at once; those of the set as they are wanted.
            *max_length = chosen.document.max_length;
        }
        Ok(Choices {
            summary: Some(summary(&chosen, self.space.len())),
            config: NeuralConfig::Pieces(chosen),
        })
    }

    fn settle_words(&self, config: &WordConfig) -> Choices {
        let chosen = config.settled(self.sequences.num_rows());
        let summary = (config.train.batch_size == 0)
            .then(|| format!("batches of {} documents", chosen.train.batch_size));
        Choices {
            config: NeuralConfig::Words(chosen),
            summary,
        }
    }
}

impl WordConfig {
    /// These settings with the choices made that they leave, for so many training documents.
    #[must_use]
    pub fn settled(&self, num_documents: usize) -> Self {
        let mut chosen = self.clone();
        if chosen.train.batch_size == 0 {
            chosen.train.batch_size = batch_of_words(num_documents);
        }
        chosen
    }

    /// Refuses settings that still leave a choice, which those of a trained model never do.
    pub(crate) fn check_settled(&self) -> plethora_core::Result<()> {
        if self.train.batch_size == 0 {
            return Err(Error::config("train.batch_size", "is left open"));
        }
        Ok(())
    }
}

/// Documents of a batch: few of few, so that there are steps enough to learn from.
fn batch_of_words(num_documents: usize) -> usize {
    let share = num_documents / BATCHES_OF_WORDS;
    (share / BATCH_STEP * BATCH_STEP).clamp(WORD_BATCHES.0, WORD_BATCHES.1)
}

/// What choices follow from.
pub(super) struct Facts<'a> {
    architecture: &'a Architecture,
    pub(super) num_labels: usize,
    num_documents: usize,
    device: Device,
    /// Bytes of the device; absent where it does not tell.
    free_memory: Option<u64>,
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
        let places = self.architecture.max_length().unwrap_or(usize::MAX);
        (length.div_ceil(LENGTH_STEP) * LENGTH_STEP)
            .min(longest)
            .min(limit)
            .min(places)
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
        if train.hidden_rate == 0.0 {
            // Between the others, as the paper has it.
            train.hidden_rate = train.label_rate.sqrt();
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
        let Some(free) = self.free_memory else {
            return Ok(());
        };
        let usable = USABLE_SHARE * free as f64;
        while config.train.batch_size > MIN_BATCH
            && self.sizes(config)?.bytes(self.device) as f64 > usable
        {
            config.train.batch_size /= 2;
            config.train.accumulate *= 2;
        }
        Ok(())
    }

    /// Refuses what will not fit while nothing has been allocated yet.
    fn check_memory(&self, config: &PieceConfig) -> Result<()> {
        let sizes = self.sizes(config)?;
        let needed = sizes.bytes(self.device);
        memory::check_free(self.device, self.free_memory, needed, sizes.settings())
    }

    fn sizes<'c>(&'c self, config: &'c PieceConfig) -> Result<PieceSizes<'c>> {
        Ok(PieceSizes {
            config,
            architecture: self.architecture,
            num_labels: self.num_labels,
            num_clusters: self.num_labels / config.clusters.tree.max_leaf.max(1) * 2,
            kind: compute_kind(config.train.precision, self.device.open()?),
        })
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
        HeadForm::Adaptive => adaptive_summary(config, num_labels),
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
        let (head, train) = (&self.head, &self.train);
        let is_clustered = head.form == HeadForm::Clustered;
        for (is_open, key) in [
            (self.document.max_length == 0, "document.max_length"),
            (head.form == HeadForm::Auto, "head.form"),
            (is_clustered && head.bottleneck == 0, "head.bottleneck"),
            (is_clustered && self.clusters.beam == 0, "clusters.beam"),
            (train.epochs == 0, "train.epochs"),
            (train.batch_size == 0, "train.batch_size"),
            (train.learning_rate == 0.0, "train.learning_rate"),
            (train.label_rate == 0.0, "train.label_rate"),
            (train.hidden_rate == 0.0, "train.hidden_rate"),
        ] {
            if is_open {
                return Err(Error::config(key, "is left open"));
            }
        }
        self.check_adaptive_settled()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn architecture() -> Architecture {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/encoder");
        Architecture::read(Path::new(folder)).unwrap()
    }

    #[test]
    fn few_documents_make_small_batches_of_words() {
        let batches = [20, 2_400, 20_000, 41_333, 45_000, 1_000_000].map(batch_of_words);
        assert_eq!(batches, [16, 16, 24, 64, 64, 64]);
    }

    fn facts(architecture: &Architecture, free_memory: Option<u64>) -> Facts<'_> {
        Facts {
            architecture,
            num_labels: 5000,
            num_documents: 20_000,
            device: Device::Cpu,
            free_memory,
        }
    }

    fn config() -> PieceConfig {
        let mut config = PieceConfig::of_system("lightxml").unwrap();
        config.document.max_length = 64;
        config
    }

    #[test]
    fn batches_are_halved_where_memory_is_short() {
        let architecture = architecture();
        let chosen = |free_memory| {
            let mut config = config();
            let facts = facts(&architecture, free_memory);
            facts.choose(&mut config).unwrap();
            config.validate().unwrap();
            config.check_settled().unwrap();
            let fits = facts.check_memory(&config).is_ok();
            (config.train.batch_size, config.train.accumulate, fits)
        };
        assert_eq!(chosen(None), (64, 1, true));
        assert_eq!(chosen(Some(1 << 40)), (64, 1, true));
        let needed = |batch_size| {
            let mut config = config();
            config.train.batch_size = batch_size;
            facts(&architecture, None).choose(&mut config).unwrap();
            let facts = facts(&architecture, None);
            facts.sizes(&config).unwrap().bytes(Device::Cpu)
        };
        let room_for = |batch_size| Some((needed(batch_size) as f64 * 1.12) as u64);
        assert_eq!(chosen(room_for(32)), (32, 2, true));
        assert_eq!(chosen(room_for(8)), (8, 8, true));
        assert_eq!(chosen(Some(1 << 10)), (4, 16, false));
    }

    #[test]
    fn batches_that_were_set_stay_and_are_refused_where_they_do_not_fit() {
        let architecture = architecture();
        let facts = facts(&architecture, Some(1 << 20));
        for (form, settings) in [
            (HeadForm::Flat, "train.batch_size or document.max_length"),
            (
                HeadForm::Exact,
                "train.batch_size or document.max_length or head.bottleneck",
            ),
        ] {
            let mut config = config();
            config.head.form = form;
            config.train.batch_size = 48;
            facts.choose(&mut config).unwrap();
            assert_eq!((config.train.batch_size, config.train.accumulate), (48, 1));
            let message = facts.check_memory(&config).unwrap_err().to_string();
            let end = format!("make {settings} smaller");
            assert!(message.ends_with(&end), "{message}");
        }
    }

    #[test]
    fn many_labels_are_clustered() {
        let architecture = architecture();
        let chosen = |num_labels| {
            let mut config = config();
            let facts = Facts {
                num_labels,
                ..facts(&architecture, None)
            };
            facts.choose(&mut config).unwrap();
            (config.head.form, config.clusters.beam)
        };
        assert_eq!(chosen(100_000), (HeadForm::Flat, 0));
        assert_eq!(chosen(100_001), (HeadForm::Clustered, 50));
        assert_eq!(chosen(1_000_000), (HeadForm::Clustered, 75));
    }

    #[test]
    fn longest_documents_alone_are_cut() {
        let architecture = architecture();
        let length = |lengths: &[usize]| {
            let mut rows = plethora_core::IndexRows::default();
            for &length in lengths {
                rows.push(vec![5; length]);
            }
            facts(&architecture, None).max_length(&Sequences::Words(rows))
        };
        let mut lengths = vec![20; 99];
        lengths.push(60);
        assert_eq!(length(&lengths), 32);
        assert_eq!(length(&[40; 10]), 40);
        assert_eq!(length(&[3]), 32);
        // The encoder has no more places.
        assert_eq!(length(&[100; 10]), 64);
    }
}
