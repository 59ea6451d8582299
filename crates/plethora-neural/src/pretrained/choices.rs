//! Settings that follow from the data and the machine: what users leave open is chosen here, by what
//! was measured on real data.

use plethora_core::artifact::WorkFolder;
use plethora_core::grouped;
use plethora_system::settings::Auto;
use plethora_system::{Device, ranks};

use super::adaptive::{AdaptiveConfig, adaptive_summary, choose_adaptive};
use super::config::{
    DocumentConfig, HeadForm, OpenPieceConfig, PieceConfig, PieceHeadConfig, SettledForm,
};
use super::memory::PieceSizes;
use super::training_set::PieceSet;
use crate::precision::compute_kind;
use crate::systems::run_settings::{begun_with, keep_settings};
use crate::train::{Averaging, ChosenNumbers, TrainConfig, memory};
use crate::transformer::Architecture;
use crate::{ClustersConfig, Result, open_device};

/// Up to this many labels one layer over all of them is the fastest and as good as any.
pub(super) const MAX_FLAT_LABELS: usize = 100_000;

/// Share of the documents that are not cut.
const UNCUT_SHARE: f64 = 0.95;

/// Pieces that are read at most on a processor, which takes seconds for a batch of more.
const MAX_LENGTH_CPU: usize = 128;

/// Windows that are read at most where their number is left to the documents: each takes as long as a
/// document of one.
pub(super) const MAX_CHOSEN_WINDOWS: usize = 4;

/// Lengths are multiples of this.
const LENGTH_STEP: usize = 32;

/// Encoders of at most this width are small: larger batches and learning rates suit them.
const SMALL_WIDTH: usize = 512;

/// Steps that training takes about, whatever the number of documents.
const STEPS: usize = 9000;

/// The same where the mean of many weights is kept, which gains from longer runs.
const STEPS_OF_MEAN: usize = 14_400;

/// Up to this many labels may attend to whole documents: beyond, that takes longer than to read them.
const MAX_ATTENDING_LABELS: usize = 30_000;

/// Fewest documents that are computed together, where memory is short.
const MIN_BATCH: usize = 4;

/// Share of the free memory that training may plan with.
const USABLE_SHARE: f64 = 0.9;

/// Width of the clustered form's bottleneck.
const BOTTLENECK: usize = 512;

/// Width of what labels find in a text in the attention form.
const FOUND_WIDTH: usize = 256;

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
            num_special: self.texts.reader.pieces.num_special(),
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
    /// Special pieces around a text.
    num_special: usize,
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
        let lengths: Vec<usize> = lengths.collect();
        let (max_length, windows) = self.lengths(open, lengths);
        let form = form_of(open.head.form, windows, self.num_labels);
        let mut config = PieceConfig {
            system: open.system.clone(),
            seed: open.seed,
            encoder: open.encoder.clone(),
            document: DocumentConfig {
                max_length,
                windows,
                lowercase: open.document.lowercase,
                dropout: open.document.dropout,
                dropout_share: open.document.dropout_share,
            },
            head: head(open, form),
            clusters: self.clusters(open, form),
            adaptive,
            neighbours: open.neighbours.clone(),
            train: self.train(open),
        };
        if open.train.batch_size.is_auto() {
            self.fit_batch(&mut config)?;
        }
        Ok(config)
    }

    /// Pieces of a window and windows of a document: so many that few documents are cut.
    fn lengths(&self, open: &OpenPieceConfig, mut lengths: Vec<usize>) -> (usize, usize) {
        lengths.sort_unstable();
        let max_length = (open.document.max_length).unwrap_or_else(|| self.max_length(&lengths));
        let windows = open.document.windows.unwrap_or_else(|| {
            let most = match self.device {
                Device::Cpu => 1,
                Device::Cuda(_) => MAX_CHOSEN_WINDOWS,
            };
            let place = (UNCUT_SHARE * lengths.len() as f64) as usize;
            let length = lengths.get(place).or(lengths.last()).copied().unwrap_or(1);
            let room = max_length.saturating_sub(self.num_special).max(1);
            let text = length.saturating_sub(self.num_special);
            text.div_ceil(room).clamp(1, most)
        });
        (max_length, windows)
    }

    /// So long that few documents are cut, of documents with these lengths, rising.
    fn max_length(&self, lengths: &[usize]) -> usize {
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
                _ => 0,
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
        let batch_size = batch_size_of(train, self.architecture.width());
        // Smaller batches where memory is short make as many steps: more of them make one.
        let per_epoch = self.num_documents.div_ceil(batch_size * train.accumulate);
        train.settled(ChosenNumbers {
            epochs: (train.epochs)
                .unwrap_or_else(|| (steps_of(train) / per_epoch.max(1)).clamp(4, 40)),
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
            num_ranks: ranks::count(),
        })
    }
}

/// How labels are scored: by one layer, beside which labels attend to documents of several windows, or in
/// clusters where they are many.
pub(super) fn form_of(form: Auto<HeadForm>, windows: usize, num_labels: usize) -> HeadForm {
    form.unwrap_or_else(|| match num_labels {
        0..=MAX_ATTENDING_LABELS if windows > 1 => HeadForm::Attention,
        0..=MAX_FLAT_LABELS => HeadForm::Flat,
        _ => HeadForm::Clustered,
    })
}

/// Documents of a batch, for an encoder of this width.
pub(super) fn batch_size_of(
    train: &TrainConfig<Auto<usize>, Auto<usize>, Auto<f64>>,
    width: usize,
) -> usize {
    train
        .batch_size
        .unwrap_or_else(|| if width <= SMALL_WIDTH { 64 } else { 32 })
}

/// Steps that training takes about.
pub(super) fn steps_of<Epochs, Count, Rate>(train: &TrainConfig<Epochs, Count, Rate>) -> usize {
    match train.averaging {
        Averaging::Mean => STEPS_OF_MEAN,
        _ => STEPS,
    }
}

fn head(open: &OpenPieceConfig, form: HeadForm) -> PieceHeadConfig {
    let head = &open.head;
    PieceHeadConfig {
        form,
        bottleneck: head.bottleneck.unwrap_or_else(|| match form {
            HeadForm::Clustered => BOTTLENECK,
            HeadForm::Attention => FOUND_WIDTH,
            HeadForm::Flat | HeadForm::Exact | HeadForm::Adaptive => 0,
        }),
        activation: head.activation,
        negatives: head.negatives,
        clusters_by: head.clusters_by,
        names: head.names,
        name_scale: head.name_scale,
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
        SettledForm::Attention => format!(
            "one layer and an attention of {} numbers for each of",
            config.head.bottleneck
        ),
        SettledForm::Adaptive(adaptive) => adaptive_summary(adaptive, num_labels),
    };
    let train = &config.train;
    let batch = match train.accumulate {
        1 => train.batch_size.to_string(),
        parts => format!("{parts} x {}", train.batch_size),
    };
    let windows = match config.document.windows {
        1 => String::new(),
        windows => format!("up to {windows} windows of "),
    };
    Ok(format!(
        "{form} {} labels, {windows}{} pieces per document, {} epochs of batches of {batch}, learning rate \
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
mod tests;
