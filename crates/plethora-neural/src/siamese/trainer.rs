//! Training: rounds of mining and learning, then one vector per label.

use plethora_core::artifact::WorkFolder;
use plethora_core::neighbours::DenseIndex;
use plethora_core::{IndexRows, SeedStream};
use plethora_system::RunContext;

use super::batches::{KnownLabels, SiameseBatches};
use super::config::{OpenSiameseConfig, SiameseConfig};
use super::mining::{truth_among, wrong_labels};
use super::model::LABELS_FILE;
use super::network::SiameseNetwork;
use super::projection::{PROJECTION_FILE, Projection};
use super::prototypes::{LEARNT_FILE, Learnt, Means, Parts, with_free};
use super::search::nearest;
use super::training_set::{SiameseSet, Texts, ValidationSet};
use super::validator::SiameseValidator;
use crate::dense::text_vectors::TextVectors;
use crate::pretrained::Cut;
use crate::systems::journal::Journal;
use crate::systems::run_settings::share_of_epochs;
use crate::systems::validation::{DEPTH, truths, validation};
use crate::systems::validation_documents::Split;
use crate::systems::vectors::Vectors;
use crate::train::{TrainConfig, Trainer};
use crate::{Result, open_device};

/// Weights of means that are tried.
const CENTROIDS: [f32; 8] = [0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];

/// The weight where there are too few documents to choose by.
pub(super) const USUAL_CENTROID: f32 = 1.0;

/// A run.
pub(super) struct SiameseTrainer<'a> {
    pub(super) set: &'a SiameseSet,
    /// Documents to choose by, where some are given.
    pub(super) valid: Option<&'a ValidationSet>,
    /// The settings as they were asked for, and with what was chosen of them.
    pub(super) open: &'a OpenSiameseConfig,
    pub(super) config: &'a SiameseConfig,
    pub(super) run: &'a RunContext<'a>,
}

/// Documents to train on, and to choose by.
struct Documents<'a> {
    trained: &'a [u32],
    valid: &'a ValidationSet,
    /// False where the latter are training documents that were held back.
    is_given: bool,
}

impl SiameseTrainer<'_> {
    /// Trains and writes the vectors of labels into `work`; gives the settings with the weight of means, and
    /// the encoder.
    pub(super) fn run(
        &self,
        encoder: TextVectors,
        work: &WorkFolder,
    ) -> Result<(SiameseConfig, TextVectors)> {
        let seed = SeedStream::new(self.config.seed);
        let total = self.set.labels_of_documents.num_rows();
        let (split, held);
        let valid = if let Some(valid) = self.valid {
            split = Split::none_held(total);
            valid
        } else {
            split = Split::hold_back(total, self.config.train.held_back(), seed);
            held = self.set.held_back(&split.held);
            &held
        };
        let documents = Documents {
            trained: &split.documents,
            valid,
            is_given: self.valid.is_some(),
        };
        let known = KnownLabels::new(self.set, documents.trained);
        let device = open_device(self.run.compute.device)?;
        let width = encoder.encoder().width();
        let num_after = encoder.reader().pieces.num_after();
        let cut = Cut::new(self.config.document.max_length, num_after, device);
        let num_free = known.labels.len();
        let mut frozen = None;
        let network = if self.config.encoder.trained {
            SiameseNetwork::encoded(self.config, encoder, num_free)
        } else {
            frozen = Some(encoder);
            SiameseNetwork::projected(self.config, width, num_free, device)
        };
        if self.trains() {
            self.train_rounds(&network, &documents, &known, (cut, work))?;
        }
        network.refresh();
        let config = self.finish(&network, &documents, &known, work)?;
        let encoder = frozen.or_else(|| network.into_encoder());
        let encoder = encoder.expect("a network has an encoder, or stands behind one");
        Ok((config, encoder))
    }

    /// False where names, and the means of documents, are all there is.
    pub(super) fn trains(&self) -> bool {
        self.config.train.epochs > 0 && self.set.labels_of_documents.num_rows() > 0
    }

    fn train_rounds(
        &self,
        network: &SiameseNetwork,
        documents: &Documents<'_>,
        known: &KnownLabels,
        (cut, work): (Cut, &WorkFolder),
    ) -> Result<()> {
        let device = open_device(self.run.compute.device)?;
        let names = self.set.names.some(&known.labels);
        let is_named: Vec<bool> = (known.labels.iter())
            .map(|&label| self.set.is_named[label as usize])
            .collect();
        let epochs = share_of_epochs(self.config.train.epochs, self.run.epoch_share);
        // Where every batch meets every label, there is nothing to look for.
        let has_all = self.set.space.len() <= self.config.negatives.pool;
        let rounds = if has_all {
            1
        } else {
            self.config.negatives.rounds.min(epochs)
        };
        let mut journal = Journal::new(work.folder());
        for round in 0..rounds {
            let mined = if has_all || self.config.negatives.mined == 0 {
                documents.trained.iter().map(|_| []).collect()
            } else {
                self.mine(network, documents, known, (&names, &is_named))?
            };
            let seed = SeedStream::new(self.config.seed)
                .named("round")
                .child(round as u64);
            let batches = SiameseBatches {
                set: self.set,
                documents: documents.trained,
                known,
                mined: &mined,
                pool: self.config.negatives.pool,
                cut,
                seed: seed.named("pool"),
            };
            let mut validator = SiameseValidator {
                valid: documents.valid,
                known,
                set: self.set,
                device,
            };
            let validator = (!documents.valid.is_empty()).then_some(&mut validator as _);
            let train = TrainConfig {
                epochs: epochs * (round + 1) / rounds - epochs * round / rounds,
                ..self.config.train.clone()
            };
            let name = format!("round-{round}");
            journal.begin(match rounds {
                1 => String::new(),
                _ => format!("{name}/"),
            });
            let outcome = Trainer {
                config: &train,
                seed: seed.named("training"),
                work,
                name: &name,
                progress: self.run.progress,
                journal: &mut journal,
            }
            .run(network, &batches, validator)?;
            journal.end(outcome.steps, outcome.epochs);
        }
        Ok(())
    }

    /// The nearest wrong labels of the documents that are trained on.
    fn mine(
        &self,
        network: &SiameseNetwork,
        documents: &Documents<'_>,
        known: &KnownLabels,
        (names, is_named): (&Texts, &[bool]),
    ) -> Result<IndexRows> {
        self.run.check_interrupt()?;
        let progress = self.run.progress;
        progress.start("mining", None);
        network.refresh();
        let labels = with_free(
            &network.vectors(names)?,
            is_named,
            network.free().as_deref(),
        );
        let vectors = network.vectors(&self.set.documents.some(documents.trained))?;
        let truth = truth_among(&self.set.labels_of_documents, documents.trained, known);
        let device = open_device(self.run.compute.device)?;
        let count = self.config.negatives.mined;
        let mined = wrong_labels(&vectors, &labels, &truth, (count, device));
        progress.finish(&format!("{} wrong labels", mined.num_items()));
        Ok(mined)
    }

    /// Makes one vector of each label.
    fn finish(
        &self,
        network: &SiameseNetwork,
        documents: &Documents<'_>,
        known: &KnownLabels,
        work: &WorkFolder,
    ) -> Result<SiameseConfig> {
        self.run.check_interrupt()?;
        let progress = self.run.progress;
        progress.start("labels", None);
        let set = self.set;
        let names = network.vectors(&set.names)?;
        let vectors = network.vectors(&set.documents)?;
        let free = network.free().filter(|_| self.trains());
        let free = free.as_deref().map(|rows| (&known.labels[..], rows));
        let shrinkage = self.config.labels.shrinkage;
        let learnt_with = |documents: &[u32], weight: f32| {
            let rows = &set.labels_of_documents;
            let means = Means::new(&vectors, rows, documents, set.space.len());
            let parts = Parts {
                names: &names,
                is_named: &set.is_named,
                free,
                means: &means,
            };
            parts.learnt(weight, shrinkage)
        };
        let all: Vec<u32> = (0..set.labels_of_documents.num_rows() as u32).collect();
        let mut config = self.config.clone();
        config.labels.centroid = match self.open.labels.centroid.set() {
            Some(weight) => weight,
            None if documents.valid.is_empty() || all.is_empty() => USUAL_CENTROID,
            None => {
                let valid = network.vectors(&documents.valid.documents)?;
                let (mut best, mut best_score) = (USUAL_CENTROID, f64::NEG_INFINITY);
                for weight in CENTROIDS {
                    self.run.check_interrupt()?;
                    let learnt = learnt_with(documents.trained, weight);
                    let score = self.quality(&learnt, &names, (&valid, documents.valid))?;
                    tracing::debug!("means of documents with weight {weight}: {score:.4}");
                    if score > best_score {
                        (best, best_score) = (weight, score);
                    }
                }
                best
            }
        };
        debug_assert!(!documents.is_given || documents.trained.len() == all.len());
        let learnt = learnt_with(&all, config.labels.centroid);
        learnt.write(&work.path(LEARNT_FILE))?;
        let labels = learnt.vectors(&names, &set.is_named);
        DenseIndex::write_halves(labels.bits(), labels.width(), &work.path(LABELS_FILE))?;
        if let Some(values) = network.projection().filter(|_| self.trains()) {
            Projection::write(&values, &work.path(PROJECTION_FILE))?;
        }
        progress.finish(&format!(
            "{} vectors, {} of them with documents, which count {}",
            labels.len(),
            learnt.labels.len(),
            config.labels.centroid
        ));
        Ok(config)
    }

    fn quality(
        &self,
        learnt: &Learnt,
        names: &Vectors,
        (documents, valid): (&Vectors, &ValidationSet),
    ) -> Result<f64> {
        let labels = learnt.vectors(names, &self.set.is_named);
        let device = open_device(self.run.compute.device)?;
        let rankings = nearest(documents, &labels, DEPTH, device);
        let truths = truths(&valid.labels);
        Ok(validation(self.set.space.len(), truths.zip(rankings))?.score)
    }
}
