//! Settings that follow from the data and the machine: what users leave open is chosen here, by what
//! was measured on real data.

use plethora_core::artifact::WorkFolder;
use plethora_core::grouped;
use plethora_system::Device;

use super::adaptive::{AdaptiveConfig, adaptive_summary, choose_adaptive};
use super::config::{
    DocumentConfig, HeadForm, OpenPieceConfig, PieceConfig, PieceHeadConfig, SettledForm,
};
use super::memory::PieceSizes;
use super::training_set::PieceSet;
use crate::precision::compute_kind;
use crate::systems::run_settings::{begun_with, keep_settings};
use crate::train::{ChosenNumbers, TrainConfig, memory};
use crate::transformer::Architecture;
use crate::{ClustersConfig, Result, open_device};

/// Up to this many labels one layer over all of them is the fastest and as good as any.
pub(super) const MAX_FLAT_LABELS: usize = 100_000;

/// Share of the documents that are not cut.
const UNCUT_SHARE: f64 = 0.95;

/// Pieces that are read at most on a processor, which takes seconds for a batch of more.
const MAX_LENGTH_CPU: usize = 128;

/// Lengths are multiples of this.
const LENGTH_STEP: usize = 32;

/// Encoders of at most this width are small: larger batches and learning rates suit them.
const SMALL_WIDTH: usize = 512;

/// Steps that training takes about, whatever the number of documents.
const STEPS: usize = 9000;

/// Fewest documents that are computed together, where memory is short.
const MIN_BATCH: usize = 4;

/// Share of the free memory that training may plan with.
const USABLE_SHARE: f64 = 0.9;

/// Width of the clustered form's bottleneck.
const BOTTLENECK: usize = 512;

/// Settings without a choice left, and what was chosen, for users to see.
#[derive(Debug, Clone)]
pub struct Choices {
    /// The settings.
    pub config: PieceConfig,
    /// What was chosen.
    pub summary: String,
}

impl PieceSet {
    /// As [`settle`](Self::settle), for a run that may be resumed: what it was begun with stays,
    /// wherever and with how much memory it is resumed.
    pub fn settle_run(
        &self,
        open: &OpenPieceConfig,
        device: Device,
        work: &WorkFolder,
    ) -> Result<Choices> {
        if let Some(config) = begun_with(work) {
            return self.checked(config, device);
        }
        let choices = self.settle(open, device)?;
        keep_settings(work, &choices.config)?;
        Ok(choices)
    }

    /// Makes the choices that `open` leaves, by these documents and the device.
    pub fn settle(&self, open: &OpenPieceConfig, device: Device) -> Result<Choices> {
        let adaptive = match &open.adaptive {
            Some(adaptive) => Some(choose_adaptive(
                adaptive,
                &self.labels_of_documents,
                self.space.len(),
            )?),
            None => None,
        };
        let rows =
            (0..self.texts.rows.num_rows()).map(|document| self.texts.rows.row(document).len());
        let config = self.facts(device).choose(open, adaptive, rows)?;
        self.checked(config, device)
    }

    /// Refuses settings that will not do.
    fn checked(&self, config: PieceConfig, device: Device) -> Result<Choices> {
        config.validate()?;
        self.facts(device).check_memory(&config)?;
        let summary = summary(&config, self.space.len())?;
        Ok(Choices { config, summary })
    }

    fn facts(&self, device: Device) -> Facts<'_> {
        Facts {
            architecture: &self.texts.architecture,
            num_labels: self.space.len(),
            num_documents: self.texts.rows.num_rows(),
            device,
            free_memory: memory::free_bytes(device),
        }
    }
}

/// What choices follow from.
struct Facts<'a> {
    architecture: &'a Architecture,
    num_labels: usize,
    num_documents: usize,
    device: Device,
    /// Bytes of the device; absent where it does not tell.
    free_memory: Option<u64>,
}

impl Facts<'_> {
    /// Makes all choices for documents of these lengths.
    fn choose(
        &self,
        open: &OpenPieceConfig,
        adaptive: Option<AdaptiveConfig>,
        lengths: impl Iterator<Item = usize>,
    ) -> Result<PieceConfig> {
        let form = open.head.form.unwrap_or_else(|| {
            if self.num_labels <= MAX_FLAT_LABELS {
                HeadForm::Flat
            } else {
                HeadForm::Clustered
            }
        });
        let mut config = PieceConfig {
            system: open.system.clone(),
            seed: open.seed,
            encoder: open.encoder.clone(),
            document: DocumentConfig {
                max_length: (open.document.max_length).unwrap_or_else(|| self.max_length(lengths)),
                dropout: open.document.dropout,
                dropout_share: open.document.dropout_share,
            },
            head: head(open, form),
            clusters: self.clusters(open, form),
            adaptive,
            train: self.train(open),
        };
        if open.train.batch_size.is_auto() {
            self.fit_batch(&mut config)?;
        }
        Ok(config)
    }

    /// So long that few documents are cut.
    fn max_length(&self, lengths: impl Iterator<Item = usize>) -> usize {
        let mut lengths: Vec<usize> = lengths.collect();
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

    fn clusters(&self, open: &OpenPieceConfig, form: HeadForm) -> ClustersConfig {
        let clusters = &open.clusters;
        let num_clusters = self.num_labels.div_ceil(clusters.tree.max_leaf.max(1));
        ClustersConfig {
            num_clusterings: clusters.num_clusterings,
            beam: clusters.beam.unwrap_or_else(|| match form {
                HeadForm::Clustered => (num_clusters / 20).clamp(10, 75),
                HeadForm::Flat | HeadForm::Exact | HeadForm::Adaptive => 0,
            }),
            predict_beam: clusters.predict_beam.unwrap_or_else(|| 0),
            tree: clusters.tree.clone(),
        }
    }

    fn train(&self, open: &OpenPieceConfig) -> TrainConfig {
        let is_small = self.architecture.width() <= SMALL_WIDTH;
        let by_size = |small: f64, large: f64| if is_small { small } else { large };
        let train = &open.train;
        let learning_rate = train.learning_rate.unwrap_or_else(|| by_size(2e-4, 6e-5));
        let label_rate = train
            .label_rate
            .unwrap_or_else(|| by_size(3e-3, 2e-3) / learning_rate);
        let batch_size = (train.batch_size).unwrap_or_else(|| if is_small { 64 } else { 32 });
        // Smaller batches where memory is short make as many steps: more of them make one.
        let per_epoch = self.num_documents.div_ceil(batch_size * train.accumulate);
        train.settled(ChosenNumbers {
            epochs: (train.epochs).unwrap_or_else(|| (STEPS / per_epoch.max(1)).clamp(4, 40)),
            batch_size,
            learning_rate,
            label_rate,
            // Between the others, as the paper has it.
            hidden_rate: train.hidden_rate.unwrap_or_else(|| label_rate.sqrt()),
        })
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
        memory::check_free(self.device, self.free_memory, needed, &sizes.settings())
    }

    fn sizes<'c>(&'c self, config: &'c PieceConfig) -> Result<PieceSizes<'c>> {
        Ok(PieceSizes {
            config,
            form: config.form()?,
            architecture: self.architecture,
            num_labels: self.num_labels,
            num_clusters: self.num_labels / config.clusters.tree.max_leaf.max(1) * 2,
            kind: compute_kind(config.train.precision, open_device(self.device)?),
        })
    }
}

fn head(open: &OpenPieceConfig, form: HeadForm) -> PieceHeadConfig {
    let head = &open.head;
    PieceHeadConfig {
        form,
        bottleneck: head.bottleneck.unwrap_or_else(|| match form {
            HeadForm::Clustered => BOTTLENECK,
            HeadForm::Flat | HeadForm::Exact | HeadForm::Adaptive => 0,
        }),
        activation: head.activation,
        negatives: head.negatives,
        label_learning_rate: head.label_learning_rate,
        label_momentum: head.label_momentum,
        label_weight_decay: head.label_weight_decay,
    }
}

fn summary(config: &PieceConfig, num_labels: usize) -> Result<String> {
    let form = match config.form()? {
        SettledForm::Flat => "one layer over".to_owned(),
        SettledForm::Clustered => format!(
            "the best {} clusters of at most {} of",
            config.clusters.beam, config.clusters.tree.max_leaf
        ),
        SettledForm::Exact => "every one of".to_owned(),
        SettledForm::Adaptive(adaptive) => adaptive_summary(adaptive, num_labels),
    };
    let train = &config.train;
    let batch = match train.accumulate {
        1 => train.batch_size.to_string(),
        parts => format!("{parts} x {}", train.batch_size),
    };
    Ok(format!(
        "{form} {} labels, {} pieces per document, {} epochs of batches of {batch}, learning rate \
         {:.1e} (labels {:.1e})",
        grouped(num_labels as u64),
        config.document.max_length,
        train.epochs,
        train.learning_rate,
        train.learning_rate * train.label_rate
    ))
}

/// Settled settings of a recipe, for tests.
#[cfg(test)]
pub(crate) fn example() -> PieceConfig {
    let mut open = super::config::recipe("lightxml");
    open.document.max_length = 64.into();
    let architecture = tests::architecture();
    let chosen = tests::facts(&architecture, None).choose(&open, None, std::iter::empty());
    chosen.unwrap()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use plethora_system::settings::Auto;

    use super::*;
    use crate::pretrained::config::recipe;

    pub(super) fn architecture() -> Architecture {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/encoder");
        Architecture::read(Path::new(folder)).unwrap()
    }

    pub(super) fn facts(architecture: &Architecture, free_memory: Option<u64>) -> Facts<'_> {
        Facts {
            architecture,
            num_labels: 5000,
            num_documents: 20_000,
            device: Device::Cpu,
            free_memory,
        }
    }

    fn config() -> OpenPieceConfig {
        let mut config = recipe("lightxml");
        config.document.max_length = Auto::Set(64);
        config
    }

    fn choose(facts: &Facts<'_>, open: &OpenPieceConfig) -> PieceConfig {
        let chosen = facts.choose(open, None, std::iter::empty()).unwrap();
        chosen.validate().unwrap();
        chosen
    }

    #[test]
    fn batches_are_halved_where_memory_is_short() {
        let architecture = architecture();
        let chosen = |free_memory| {
            let facts = facts(&architecture, free_memory);
            let config = choose(&facts, &config());
            let fits = facts.check_memory(&config).is_ok();
            (config.train.batch_size, config.train.accumulate, fits)
        };
        assert_eq!(chosen(None), (64, 1, true));
        assert_eq!(chosen(Some(1 << 40)), (64, 1, true));
        let needed = |batch_size: usize| {
            let mut config = config();
            config.train.batch_size = batch_size.into();
            let facts = facts(&architecture, None);
            let config = choose(&facts, &config);
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
            config.head.form = form.into();
            config.train.batch_size = 48.into();
            let config = choose(&facts, &config);
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
            let facts = Facts {
                num_labels,
                ..facts(&architecture, None)
            };
            let config = choose(&facts, &config());
            (config.head.form, config.clusters.beam)
        };
        assert_eq!(chosen(100_000), (HeadForm::Flat, 0));
        assert_eq!(chosen(100_001), (HeadForm::Clustered, 50));
        assert_eq!(chosen(1_000_000), (HeadForm::Clustered, 75));
    }

    #[test]
    fn longest_documents_alone_are_cut() {
        let architecture = architecture();
        let length =
            |lengths: &[usize]| facts(&architecture, None).max_length(lengths.iter().copied());
        let mut lengths = vec![20; 99];
        lengths.push(60);
        assert_eq!(length(&lengths), 32);
        assert_eq!(length(&[40; 10]), 40);
        assert_eq!(length(&[3]), 32);
        // The encoder has no more places.
        assert_eq!(length(&[100; 10]), 64);
    }
}
