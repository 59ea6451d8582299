//! Training a system of pieces: one network, or one for each clustering of the labels.

use std::path::Path;

use plethora_core::artifact::WorkFolder;
use plethora_core::{Progress, SeedStream};

use super::journal::Journal;
use super::label_clusters::label_clusters;
use super::piece_batches::PieceBatches;
use super::piece_validator::PieceValidator;
use super::reader::TextReader;
use super::training_set::NeuralSet;
use super::validation_documents::ValidationDocuments;
use super::word_run::counts;
use crate::head::{Clusters, LabelFacts, Negatives, Phase, frequency_clusters};
use crate::piece_batch::Cut;
use crate::piece_config::{HeadForm, PieceConfig};
use crate::piece_memory::PieceSizes;
use crate::piece_network::{PieceNetwork, PieceSetup};
use crate::precision::compute_kind;
use crate::start::Start;
use crate::train::{TrainConfig, Trainer, Validator, memory};
use crate::transformer::{Architecture, Weights};
use crate::{Device, Result};

/// A trained network and the clusters it was trained with.
#[derive(Debug)]
pub(crate) struct PieceMember {
    pub(crate) clusters: Option<Clusters>,
    pub(crate) network: PieceNetwork,
}

/// A run under way.
pub(super) struct PieceRun<'a> {
    pub(super) config: &'a PieceConfig,
    pub(super) architecture: &'a Architecture,
    pub(super) set: &'a NeuralSet,
    pub(super) device: Device,
    pub(super) valid: &'a ValidationDocuments,
    /// Numbers of the documents that are trained on.
    pub(super) documents: &'a [u32],
    pub(super) work: &'a WorkFolder,
    pub(super) progress: &'a dyn Progress,
    pub(super) journal: Journal<'a>,
}

/// A part of training, with a name of its own.
struct Stage<'a> {
    name: &'a str,
    phase: Phase,
    train: TrainConfig,
    seed: SeedStream,
}

impl PieceRun<'_> {
    pub(super) fn train(&mut self, seed: SeedStream) -> Result<Vec<PieceMember>> {
        (0..self.config.num_members())
            .map(|member| self.train_member(member, seed.named("member").child(member as u64)))
            .collect()
    }

    fn train_member(&mut self, member: usize, seed: SeedStream) -> Result<PieceMember> {
        let clusters = match self.config.head.form {
            HeadForm::Clustered => Some(label_clusters(
                self.set,
                self.architecture.vocab_size(),
                &self.config.clusters.tree,
                seed,
                self.progress,
            )?),
            HeadForm::Adaptive => Some(self.frequency_clusters()?),
            _ => None,
        };
        let mut network = self.network(clusters.as_ref(), member, seed)?;
        let train = &self.config.train;
        let name = format!("member-{member}");
        // Where each cluster is one label, there is no second stage.
        let has_two_stages = self.config.head.form == HeadForm::Clustered
            && (clusters.as_ref())
                .is_some_and(|clusters| clusters.num_clusters() < self.set.space.len());
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
        Ok(PieceMember { clusters, network })
    }

    /// Labels grouped by how often they occur.
    fn frequency_clusters(&self) -> Result<Clusters> {
        let adaptive = self.config.adaptive().expect("the form has settings");
        let num_labels = self.set.space.len();
        adaptive.check_labels(num_labels)?;
        let counts = counts(&self.set.labels_of_documents, num_labels);
        Ok(frequency_clusters(&counts, &adaptive.cut_offs))
    }

    fn network(
        &self,
        clusters: Option<&Clusters>,
        member: usize,
        seed: SeedStream,
    ) -> Result<PieceNetwork> {
        let device = self.device.open()?;
        let kind = compute_kind(self.config.train.precision, device);
        let sizes = PieceSizes {
            config: self.config,
            architecture: self.architecture,
            num_labels: self.set.space.len(),
            num_clusters: clusters.map_or(0, Clusters::num_clusters),
            kind,
        };
        // Later members use again what the first one took, and libtorch never gave back.
        if member == 0 {
            memory::check(self.device, sizes.bytes(self.device), sizes.settings())?;
        }
        let labels = &self.set.labels_of_documents;
        let counts = counts(labels, self.set.space.len());
        let num_documents = labels.num_rows() as u64;
        let cluster_counts = clusters.map(|clusters| clusters.count_documents(labels.rows()));
        let facts = |train_counts| LabelFacts {
            train_counts,
            num_documents,
        };
        PieceNetwork::new(&PieceSetup {
            config: self.config,
            architecture: self.architecture,
            weights: Weights::Folder(Path::new(&self.config.encoder.folder)),
            labels: facts(&counts),
            clusters: clusters.zip(cluster_counts.as_deref().map(facts)),
            device,
            kind,
            start: Start::seeded(seed.named("network")),
            is_trained: true,
        })
    }

    fn train_stage(&mut self, network: &PieceNetwork, stage: &Stage<'_>) -> Result<()> {
        network.set_phase(stage.phase);
        let batches = PieceBatches {
            sequences: &self.set.sequences,
            cut: cut(self.config, &self.set.reader, network.device()),
            documents: self.documents,
            labels: &self.set.labels_of_documents,
            device: network.device(),
        };
        let mut piece_validator = PieceValidator {
            sequences: &self.valid.sequences,
            labels: &self.valid.labels,
            num_labels: self.set.space.len(),
            cut: cut(self.config, &self.set.reader, network.device()),
            beam: self.config.predict_beam(),
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
pub(super) fn cut(config: &PieceConfig, reader: &TextReader, device: tch::Device) -> Cut {
    let TextReader::Pieces { pieces, .. } = reader else {
        unreachable!("systems of pieces read pieces");
    };
    Cut::new(config.document.max_length, pieces.num_after(), device)
}
