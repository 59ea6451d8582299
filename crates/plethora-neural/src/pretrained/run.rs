//! Training a system of pieces: one network, or one for each clustering of the labels.

use std::path::Path;

use plethora_core::artifact::WorkFolder;
use plethora_core::{Progress, SeedStream};
use plethora_system::Device;

use super::adaptive::{AdaptiveConfig, frequency_clusters};
use super::batch::Cut;
use super::batches::PieceBatches;
use super::config::{PieceConfig, SettledForm};
use super::memory::PieceSizes;
use super::model::{PieceMember, PieceModel};
use super::network::{HeadPlan, PieceNetwork, PieceSetup};
use super::reader::PieceReader;
use super::training_set::PieceSet;
use super::validator::PieceValidator;
use crate::guard::guarded;
use crate::head::{Clusters, LabelFacts, Negatives, Phase};
use crate::precision::compute_kind;
use crate::start::Start;
use crate::systems::journal::Journal;
use crate::systems::label_clusters::{counts, label_clusters};
use crate::systems::validation_documents::{Split, ValidationDocuments};
use crate::train::{TrainConfig, Trainer, Validator, memory};
use crate::transformer::Weights;
use crate::{Result, open_device};

/// What a system of pieces learns from, and how.
#[derive(Clone, Copy)]
pub struct PieceTrainer<'a> {
    /// The training documents.
    pub set: &'a PieceSet,
    /// Documents to choose the best weights by; some are held back where absent.
    pub valid: Option<&'a ValidationDocuments>,
    /// The settings, the seed among them.
    pub config: &'a PieceConfig,
    /// The device that computes.
    pub device: Device,
}

impl PieceTrainer<'_> {
    /// Trains all networks; those that `work` has in full are taken from there, and the one that
    /// it has in part is resumed.
    pub fn run(&self, work: &WorkFolder, progress: &dyn Progress) -> Result<PieceModel> {
        guarded(|| self.train(work, progress))
    }

    fn train(&self, work: &WorkFolder, progress: &dyn Progress) -> Result<PieceModel> {
        self.config.validate()?;
        let seed = SeedStream::new(self.config.seed);
        let rows = &self.set.texts.rows;
        let (split, held);
        let valid = if let Some(valid) = self.valid {
            split = Split::none_held(rows.num_rows());
            valid
        } else {
            split = Split::hold_back(rows.num_rows(), self.config.train.held_back(), seed);
            let labels = &self.set.labels_of_documents;
            held = ValidationDocuments::held_back(&split.held, |one| rows.row(one), labels);
            &held
        };
        let members = PieceRun {
            config: self.config,
            set: self.set,
            device: self.device,
            valid,
            documents: &split.documents,
            work,
            progress,
            journal: Journal::new(work.folder()),
        }
        .train(seed)?;
        Ok(PieceModel::new(
            self.config.clone(),
            self.set.texts.reader.pieces.clone(),
            self.set.texts.architecture.clone(),
            members,
            self.device,
        ))
    }
}

/// A run under way.
struct PieceRun<'a> {
    config: &'a PieceConfig,
    set: &'a PieceSet,
    device: Device,
    valid: &'a ValidationDocuments,
    /// Numbers of the documents that are trained on.
    documents: &'a [u32],
    work: &'a WorkFolder,
    progress: &'a dyn Progress,
    journal: Journal<'a>,
}

/// A part of training, with a name of its own.
struct Stage<'a> {
    name: &'a str,
    phase: Phase,
    train: TrainConfig,
    seed: SeedStream,
}

impl PieceRun<'_> {
    fn train(&mut self, seed: SeedStream) -> Result<Vec<PieceMember>> {
        (0..self.config.num_members())
            .map(|member| self.train_member(member, seed.named("member").child(member as u64)))
            .collect()
    }

    fn train_member(&mut self, member: usize, seed: SeedStream) -> Result<PieceMember> {
        let plan = self.plan(seed)?;
        let mut network = self.network(&plan, member, seed)?;
        let train = &self.config.train;
        let name = format!("member-{member}");
        // Where each cluster is one label, there is no second stage.
        let has_two_stages = match &plan {
            HeadPlan::Clustered(clusters) => clusters.num_clusters() < self.set.space.len(),
            _ => false,
        };
        let is_static = has_two_stages && self.config.head.negatives == Negatives::Static;
        if is_static {
            self.train_stage(
                &network,
                &Stage {
                    name: &format!("{name}.clusters"),
                    phase: Phase::Recall,
                    train: train.clone(),
                    seed: seed.named("clusters"),
                },
            )?;
            // Decay alone would move what is at rest.
            let at_rest = TrainConfig {
                weight_decay: 0.0,
                ..train.clone()
            };
            self.train_stage(
                &network,
                &Stage {
                    name: &format!("{name}.labels"),
                    phase: Phase::Rank,
                    train: at_rest,
                    seed: seed.named("labels"),
                },
            )?;
        } else {
            self.train_stage(
                &network,
                &Stage {
                    name: &name,
                    phase: Phase::Joint,
                    train: train.clone(),
                    seed: seed.named("training"),
                },
            )?;
        }
        network.end_training();
        Ok(PieceMember { plan, network })
    }

    /// How labels are scored, after grouping them where the form has groups.
    fn plan(&self, seed: SeedStream) -> Result<HeadPlan> {
        let rows = &self.set.texts.rows;
        Ok(match self.config.form()? {
            SettledForm::Flat => HeadPlan::Flat,
            SettledForm::Exact => HeadPlan::Exact,
            SettledForm::Clustered => HeadPlan::Clustered(label_clusters(
                (
                    (0..rows.num_rows()).map(|document| rows.row(document)),
                    self.set.texts.architecture.vocab_size(),
                ),
                (&self.set.space, &self.set.labels_of_documents),
                &self.config.clusters.tree,
                seed,
                self.progress,
            )?),
            SettledForm::Adaptive(config) => {
                HeadPlan::Adaptive(config.clone(), self.frequency_clusters(config)?)
            }
        })
    }

    /// Labels grouped by how often they occur.
    fn frequency_clusters(&self, config: &AdaptiveConfig) -> Result<Clusters> {
        let num_labels = self.set.space.len();
        config.check_labels(num_labels)?;
        let counts = counts(&self.set.labels_of_documents, num_labels);
        Ok(frequency_clusters(&counts, &config.cut_offs))
    }

    fn network(&self, plan: &HeadPlan, member: usize, seed: SeedStream) -> Result<PieceNetwork> {
        let device = open_device(self.device)?;
        let kind = compute_kind(self.config.train.precision, device);
        let clusters = plan.clusters();
        let sizes = PieceSizes {
            config: self.config,
            form: self.config.form()?,
            architecture: &self.set.texts.architecture,
            num_labels: self.set.space.len(),
            num_clusters: clusters.map_or(0, Clusters::num_clusters),
            kind,
        };
        // Later members use again what the first one took, and libtorch never gave back.
        if member == 0 {
            memory::check(self.device, sizes.bytes(self.device), &sizes.settings())?;
        }
        let labels = &self.set.labels_of_documents;
        let counts = counts(labels, self.set.space.len());
        let num_documents = labels.num_rows() as u64;
        let cluster_counts = clusters
            .map(|clusters| clusters.count_documents(labels.rows()))
            .unwrap_or_default();
        let facts = |train_counts| LabelFacts {
            train_counts,
            num_documents,
        };
        PieceNetwork::new(&PieceSetup {
            config: self.config,
            architecture: &self.set.texts.architecture,
            weights: Weights::Folder(Path::new(&self.config.encoder.folder)),
            labels: facts(&counts),
            plan,
            clusters: facts(&cluster_counts),
            device,
            kind,
            start: Start::seeded(seed.named("network")),
            is_trained: true,
        })
    }

    fn train_stage(&mut self, network: &PieceNetwork, stage: &Stage<'_>) -> Result<()> {
        network.set_phase(stage.phase);
        let batches = PieceBatches {
            sequences: &self.set.texts.rows,
            cut: cut(self.config, &self.set.texts.reader, network.device()),
            documents: self.documents,
            labels: &self.set.labels_of_documents,
            device: network.device(),
        };
        let mut piece_validator = PieceValidator {
            sequences: &self.valid.sequences,
            labels: &self.valid.labels,
            num_labels: self.set.space.len(),
            cut: cut(self.config, &self.set.texts.reader, network.device()),
            beam: self.config.clusters.predict_beam(),
        };
        // Before labels have been learnt there is nothing to choose by.
        let validator: Option<&mut dyn Validator<PieceNetwork>> =
            if self.valid.is_empty() || stage.phase == Phase::Recall {
                None
            } else {
                Some(&mut piece_validator)
            };
        let prefix = if stage.name == "member-0" {
            String::new()
        } else {
            format!("{}/", stage.name)
        };
        self.journal.begin(prefix);
        let outcome = Trainer {
            config: &stage.train,
            seed: stage.seed,
            work: self.work,
            name: stage.name,
            progress: self.progress,
            journal: &mut self.journal,
        }
        .run(network, &batches, validator)?;
        self.journal.end(outcome.steps, outcome.epochs);
        Ok(())
    }
}

/// How a system cuts documents that are too long, for batches on a device.
pub(super) fn cut(config: &PieceConfig, reader: &PieceReader, device: tch::Device) -> Cut {
    Cut::new(
        config.document.max_length,
        reader.pieces.num_after(),
        device,
    )
}
