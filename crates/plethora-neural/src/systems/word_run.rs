//! Training a system of words: one network, or one for each level of each label tree.

use plethora_core::artifact::WorkFolder;
use plethora_core::tree::{build, label_features};
use plethora_core::{Error as CoreError, IndexRows, Progress, SeedStream};
use tch::Tensor;

use super::beam::{Beam, LevelRanker};
use super::journal::Journal;
use super::label_clusters::label_clusters;
use super::level_batches::{Choice, LevelBatches};
use super::level_validator::LevelValidator;
use super::levels::Levels;
use super::model::TrainedTree;
use super::trainer::NeuralTrainer;
use super::validation_documents::ValidationDocuments;
use crate::head::{Clusters, LabelFacts};
use crate::memory_need::memory_need;
use crate::start::Start;
use crate::train::{TrainConfig, Trainer, Validator, memory};
use crate::word_config::WordConfig;
use crate::word_network::{NetworkSetup, WordNetwork};
use crate::{Error, Result};

/// A run under way.
pub(super) struct WordRun<'a> {
    pub(super) trainer: NeuralTrainer<'a>,
    pub(super) config: &'a WordConfig,
    pub(super) sequences: &'a IndexRows,
    pub(super) device: tch::Device,
    pub(super) valid: &'a ValidationDocuments,
    /// Numbers of the documents that are trained on.
    pub(super) documents: &'a [u32],
    pub(super) word_vectors: &'a Tensor,
    pub(super) work: &'a WorkFolder,
    pub(super) progress: &'a dyn Progress,
    pub(super) journal: Journal<'a>,
}

/// What is known of the documents after a level: their true items, and those the level ranks best.
struct Reached {
    truth: IndexRows,
    beams: Vec<Beam>,
}

impl WordRun<'_> {
    pub(super) fn train_tree(&mut self, tree: usize, seed: SeedStream) -> Result<TrainedTree> {
        let levels = self.levels(seed)?;
        let clusters = self.clusters(seed)?;
        let mut networks: Vec<WordNetwork> = Vec::new();
        let mut above: Option<(Reached, Reached)> = None;
        for level in 0..levels.len() {
            let stage = Stage {
                tree,
                levels: &levels,
                level,
                clusters: clusters.as_ref(),
                name: format!("tree-{tree}.level-{level}"),
                seed: seed.named("level").child(level as u64),
            };
            let train_truth = truth_of(&levels, level, &self.trainer.set.labels_of_documents);
            let valid_truth = truth_of(&levels, level, &self.valid.labels);
            let network = self.train_level(
                &stage,
                (&train_truth, &valid_truth),
                networks.last(),
                above.as_ref(),
            )?;
            if level + 1 < levels.len() {
                let (train_above, valid_above) = match &above {
                    Some((train, valid)) => (Some(&train.beams), Some(&valid.beams)),
                    None => (None, None),
                };
                let sequences = self.sequences;
                let train = self.reach(&stage, &network, sequences, train_above)?;
                let valid = self.reach(&stage, &network, &self.valid.sequences, valid_above)?;
                above = Some((
                    Reached {
                        truth: train_truth,
                        beams: train,
                    },
                    Reached {
                        truth: valid_truth,
                        beams: valid,
                    },
                ));
            }
            networks.push(network);
        }
        Ok(TrainedTree {
            levels,
            networks,
            clusters,
        })
    }

    /// The tree of the labels, or all of them side by side.
    fn levels(&self, seed: SeedStream) -> Result<Levels> {
        let set = self.trainer.set;
        let (Some(plt), Some(features)) = (&self.config.plt, &set.features) else {
            return Ok(Levels::flat(set.space.len()));
        };
        self.progress.start("label tree", None);
        let documents_of_labels = set.labels_of_documents.transpose(set.space.len());
        let vectors = label_features(features, &documents_of_labels, plt.tree.max_label_features);
        let tree = build(&vectors, &set.space, &plt.tree, seed)?;
        let levels = Levels::of_tree(&tree);
        let sizes: Vec<String> = (0..levels.len())
            .map(|level| levels.num_items(level).to_string())
            .collect();
        self.progress
            .finish(&format!("levels of {} items", sizes.join(", ")));
        Ok(levels)
    }

    /// Groups of labels by the words of their documents, where the system chooses from such.
    fn clusters(&self, seed: SeedStream) -> Result<Option<Clusters>> {
        let Some(config) = &self.config.clusters else {
            return Ok(None);
        };
        let num_words = self.word_vectors.size()[0] as usize;
        let set = self.trainer.set;
        label_clusters(set, num_words, &config.tree, seed, self.progress).map(Some)
    }

    fn train_level(
        &mut self,
        stage: &Stage<'_>,
        (train_truth, valid_truth): (&IndexRows, &IndexRows),
        previous: Option<&WordNetwork>,
        above: Option<&(Reached, Reached)>,
    ) -> Result<WordNetwork> {
        let config = self.config;
        let counts = counts(train_truth, stage.levels.num_items(stage.level));
        let facts = |train_counts| LabelFacts {
            train_counts,
            num_documents: train_truth.num_rows() as u64,
        };
        let cluster_counts =
            (stage.clusters).map(|clusters| clusters.count_documents(train_truth.rows()));
        let mut network = WordNetwork::new(&NetworkSetup {
            config,
            word_vectors: self.word_vectors,
            labels: facts(&counts),
            has_candidates: stage.level > 0,
            clusters: stage.clusters.zip(cluster_counts.as_deref().map(facts)),
            device: self.device,
            start: Start::seeded(stage.seed),
        });
        if let Some(previous) = previous {
            network.take_over(previous);
        }
        let train = self.train_config(stage.level);
        let device = self.trainer.device;
        let need = memory_need(&network, config, device);
        let mut lowering = vec!["train.batch_size", "words.max_length"];
        lowering.extend(config.clusters.as_ref().map(|_| "clusters.beam"));
        memory::check(device, need, &lowering)?;
        let batches = LevelBatches {
            sequences: self.sequences,
            documents: self.documents,
            truth: train_truth,
            choice: above.map(|(train, _)| Choice {
                levels: stage.levels,
                level: stage.level,
                above: &train.beams,
                true_parents: &train.truth,
                num_parents: config.plt.as_ref().map_or(1, |plt| plt.beam),
            }),
        };
        let mut level_validator = LevelValidator {
            levels: stage.levels,
            level: stage.level,
            sequences: &self.valid.sequences,
            truth: valid_truth,
            above: above.map(|(_, valid)| valid.beams.as_slice()),
            beam: config.predict_beam(),
        };
        let validator: Option<&mut dyn Validator<WordNetwork>> = if self.valid.is_empty() {
            None
        } else {
            Some(&mut level_validator)
        };
        let is_only = stage.levels.len() == 1 && stage.tree == 0;
        let prefix = if is_only {
            String::new()
        } else {
            format!("{}/", stage.name)
        };
        self.journal.begin(prefix);
        let outcome = Trainer {
            config: &train,
            seed: stage.seed.named("training"),
            work: self.work,
            name: &stage.name,
            progress: self.progress,
            journal: &mut self.journal,
        }
        .run(&network, &batches, validator)?;
        self.journal.end(outcome.steps, outcome.epochs);
        Ok(network)
    }

    /// Levels below the first start from the one above and need less.
    fn train_config(&self, level: usize) -> TrainConfig {
        let mut config = self.config.train.clone();
        if let (Some(plt), 1..) = (&self.config.plt, level) {
            config.epochs = plt.lower_epochs;
        }
        config
    }

    /// The best items of documents at a level that is trained.
    fn reach(
        &self,
        stage: &Stage<'_>,
        network: &WordNetwork,
        sequences: &IndexRows,
        above: Option<&Vec<Beam>>,
    ) -> Result<Vec<Beam>> {
        let keep = self.config.plt.as_ref().map_or(1, |plt| plt.beam);
        let ranker = LevelRanker {
            network,
            levels: stage.levels,
            level: stage.level,
            keep,
            beam: keep,
        };
        let total = sequences.num_rows() as u64;
        self.progress.start("choosing candidates", Some(total));
        let beams = ranker.rank(sequences, above.map(Vec::as_slice), |count| {
            self.progress.advance(count as u64);
            if self.progress.is_cancelled() {
                return Err(Error::Core(CoreError::Interrupted));
            }
            Ok(())
        })?;
        self.progress.finish(&format!("{total} documents"));
        Ok(beams)
    }
}

/// One level of one tree.
struct Stage<'a> {
    tree: usize,
    levels: &'a Levels,
    level: usize,
    clusters: Option<&'a Clusters>,
    name: String,
    seed: SeedStream,
}

/// The true items of each document at a level.
fn truth_of(levels: &Levels, level: usize, labels: &IndexRows) -> IndexRows {
    let mut truth = IndexRows::default();
    for labels in labels.rows() {
        truth.push(levels.items_of(level, labels));
    }
    truth
}

/// Documents of each item.
pub(super) fn counts(truth: &IndexRows, num_items: usize) -> Vec<u32> {
    let mut counts = vec![0; num_items];
    for items in truth.rows() {
        for &item in items {
            counts[item as usize] += 1;
        }
    }
    counts
}
