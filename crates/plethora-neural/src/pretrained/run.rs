//! Training a system of pieces: one network, or one for each clustering of the labels.

use std::path::Path;

use plethora_core::SeedStream;
use plethora_system::ranks;

use super::adaptive::{AdaptiveConfig, frequency_clusters};
use super::batch::Cut;
use super::batches::PieceBatches;
use super::config::{PieceConfig, SettledForm};
use super::memory::PieceSizes;
use super::model::{PieceMember, PieceModel};
use super::network::{HeadPlan, PieceNetwork, PieceSetup};
use super::reader::PieceReader;
use super::training_set::PieceTexts;
use super::validator::PieceValidator;
use crate::head::{Clusters, LabelFacts, Negatives, Phase};
use crate::precision::compute_kind;
use crate::start::Start;
use crate::systems::label_clusters::{clusters_by, counts, label_clusters};
use crate::systems::{NetworkRun, NetworkStage, Trains};
use crate::train::TrainConfig;
use crate::transformer::Weights;
use crate::{Result, open_device};

/// A run under way.
pub(super) type PieceRun<'a> = NetworkRun<'a, PieceConfig>;

impl Trains for PieceConfig {
    type Texts = PieceTexts;
    type Model = PieceModel;

    fn validate(&self) -> plethora_core::Result<()> {
        Self::validate(self)
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn train(&self) -> &TrainConfig {
        &self.train
    }

    fn train_mut(&mut self) -> &mut TrainConfig {
        &mut self.train
    }

    fn train_networks(run: &mut PieceRun<'_>, seed: SeedStream) -> Result<PieceModel> {
        let members: Vec<PieceMember> = (0..run.config.num_members())
            .map(|member| run.train_member(member, seed.named("member").child(member as u64)))
            .collect::<Result<_>>()?;
        let mut config = run.config.clone();
        let neighbours = run.keep_neighbours(&members)?.map(|(known, mix)| {
            config.neighbours.weight = f64::from(mix.weight).into();
            config.neighbours.temperature = f64::from(mix.temperature).into();
            known
        });
        let texts = &run.set.texts;
        Ok(PieceModel {
            config,
            reader: PieceReader::of(texts.reader.pieces.clone(), &run.config.document),
            architecture: texts.architecture.clone(),
            members,
            neighbours,
        })
    }
}

/// A part of training, with a name of its own.
struct Stage<'a> {
    name: &'a str,
    phase: Phase,
    train: TrainConfig,
    seed: SeedStream,
}

impl PieceRun<'_> {
    fn train_member(&mut self, member: usize, seed: SeedStream) -> Result<PieceMember> {
        let plan = self.plan(seed)?;
        let mut network = self.network(&plan, member, seed)?;
        self.start_from_names(&plan, &network)?;
        let train = &self.config.train;
        let name = format!("member-{member}");
        let negatives = plan.negatives(self.config);
        if negatives.is_some_and(|negatives| negatives != Negatives::Dynamic) {
            self.train_stage(
                &network,
                &Stage {
                    name: &format!("{name}.clusters"),
                    phase: Phase::Recall,
                    train: train.clone(),
                    seed: seed.named("clusters"),
                },
            )?;
            network.begin_ranking();
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
        let (texts, tree) = (&self.set.texts, &self.config.clusters.tree);
        let labels = (&self.set.space, &self.set.labels_of_documents);
        Ok(match self.config.form()? {
            SettledForm::Flat => HeadPlan::Flat,
            SettledForm::Exact => HeadPlan::Exact,
            SettledForm::Attention => HeadPlan::Attention,
            SettledForm::Clustered => HeadPlan::Clustered(if let Some(words) = &texts.words {
                clusters_by(words, labels, tree, seed, self.progress)?
            } else {
                let pieces = (texts.rows.rows(), texts.architecture.vocab_size());
                label_clusters(pieces, labels, tree, seed, self.progress)?
            }),
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
            num_ranks: ranks::count(),
        };
        // Later members use again what the first one took, and libtorch never gave back.
        if member == 0 {
            self.check_memory(sizes.bytes(self.device), &sizes.settings())?;
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
            numbers: kind.into(),
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
        let validator = PieceValidator {
            sequences: &self.valid.sequences,
            labels: &self.valid.labels,
            num_labels: self.set.space.len(),
            cut: batches.cut,
            beam: self.config.clusters.predict_beam(),
        };
        // Before labels have been learnt there is nothing to choose by.
        let validator = (stage.phase != Phase::Recall).then_some(validator);
        let training = NetworkStage {
            name: stage.name,
            is_only: stage.name == "member-0",
            train: &stage.train,
            seed: stage.seed,
        };
        self.train_network(&training, network, &batches, validator)
    }
}

/// How a system cuts documents that are too long, for batches on a device.
pub(super) fn cut(config: &PieceConfig, reader: &PieceReader, device: tch::Device) -> Cut {
    config.document.cut(&reader.pieces, device)
}
