//! Training a system of words: one network, or one for each level of each label tree.

use plethora_core::{Error as CoreError, IndexRows, SeedStream};
use tch::Tensor;

use super::beam::{Beam, LevelRanker};
use super::config::{HeadConfig, WordConfig};
use super::level_batches::{Choice, LevelBatches};
use super::level_validator::LevelValidator;
use super::levels::Levels;
use super::memory::memory_need;
use super::model::{TrainedTree, WordModel};
use super::network::{NetworkSetup, WordNetwork};
use super::training_set::{Structure, WordTexts};
use crate::device::open_device;
use crate::head::{Clusters, LabelFacts, Negatives, Phase};
use crate::start::Start;
use crate::systems::label_clusters::{counts, label_clusters};
use crate::systems::run_settings::share_of_epochs;
use crate::systems::word_vectors::first_vectors;
use crate::systems::{NetworkRun, NetworkStage, Trains};
use crate::train::TrainConfig;
use crate::{Error, Result};

/// A run under way.
pub(super) type WordRun<'a> = NetworkRun<'a, WordConfig>;

/// What is known of the documents after a level: their true items, and those the level ranks best.
struct Reached {
    truth: IndexRows,
    beams: Vec<Beam>,
}

impl Trains for WordConfig {
    type Texts = WordTexts;
    type Model = WordModel;

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

    fn with_epoch_share(&self, share: f64) -> Self {
        let mut config = self.clone();
        config.train.epochs = share_of_epochs(self.train.epochs, share);
        if let Some(plt) = &mut config.plt {
            plt.take_epoch_share(share);
        }
        config
    }

    fn train_networks(run: &mut WordRun<'_>, seed: SeedStream) -> Result<WordModel> {
        let (config, texts) = (run.config, &run.set.texts);
        let read = (&texts.words, &texts.sequences);
        let word_vectors = first_vectors(read, &config.vectors, seed, run.progress)?;
        let trees = (0..config.num_trees())
            .map(|tree| {
                let seed = seed.named("tree").child(tree as u64);
                run.train_tree(tree, &word_vectors, seed)
            })
            .collect::<Result<_>>()?;
        Ok(WordModel {
            config: config.clone(),
            words: texts.words.clone(),
            trees,
            num_labels: run.set.space.len(),
        })
    }
}

impl WordRun<'_> {
    fn train_tree(
        &mut self,
        tree: usize,
        word_vectors: &Tensor,
        seed: SeedStream,
    ) -> Result<TrainedTree> {
        let (levels, clusters) = self.structure(seed)?;
        let mut networks: Vec<WordNetwork> = Vec::new();
        let mut above: Option<(Reached, Reached)> = None;
        for level in 0..levels.len() {
            let stage = Stage {
                tree,
                levels: &levels,
                level,
                clusters: clusters.as_ref(),
                word_vectors,
                name: format!("tree-{tree}.level-{level}"),
                seed: seed.named("level").child(level as u64),
            };
            let train_truth = truth_of(&levels, level, &self.set.labels_of_documents);
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
                let sequences = &self.set.texts.sequences;
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

    /// What labels are found through: the levels of a tree, or all of them side by side and perhaps in
    /// groups.
    fn structure(&self, seed: SeedStream) -> Result<(Levels, Option<Clusters>)> {
        let set = self.set;
        let flat = Levels::flat(set.space.len());
        match &set.texts.structure {
            Structure::Flat => Ok((flat, None)),
            Structure::Clusters(tree) => {
                let sequences = &set.texts.sequences;
                let clusters = label_clusters(
                    (sequences.rows(), set.texts.words.num_rows()),
                    (&set.space, &set.labels_of_documents),
                    tree,
                    seed,
                    self.progress,
                )?;
                Ok((flat, Some(clusters)))
            }
            Structure::Tree(grouping) => {
                self.progress.start("label tree", None);
                let tree = grouping.tree(&set.space, &set.labels_of_documents, seed)?;
                let levels = Levels::of_tree(&tree);
                let sizes: Vec<String> = (0..levels.len())
                    .map(|level| levels.num_items(level).to_string())
                    .collect();
                self.progress
                    .finish(&format!("levels of {} items", sizes.join(", ")));
                Ok((levels, None))
            }
        }
    }

    fn train_level(
        &mut self,
        stage: &Stage<'_>,
        (train_truth, valid_truth): (&IndexRows, &IndexRows),
        previous: Option<&WordNetwork>,
        above: Option<&(Reached, Reached)>,
    ) -> Result<WordNetwork> {
        let config = self.config;
        let train = config.train_config(stage.level);
        let counts = counts(train_truth, stage.levels.num_items(stage.level));
        let facts = |train_counts| LabelFacts {
            train_counts,
            num_documents: train_truth.num_rows() as u64,
        };
        let cluster_counts =
            (stage.clusters).map(|clusters| clusters.count_documents(train_truth.rows()));
        let mut network = WordNetwork::new(&NetworkSetup {
            config,
            word_vectors: stage.word_vectors,
            labels: facts(&counts),
            candidates: (stage.level.checked_sub(1))
                .map(|above| (stage.levels).most_candidates(stage.level, config.beam(above))),
            clusters: stage.clusters.zip(cluster_counts.as_deref().map(facts)),
            device: open_device(self.device)?,
            start: Start::seeded(stage.seed),
        })?;
        if let Some(previous) = previous {
            network.take_over(previous);
        }
        let need = memory_need(&network, (config, &train), self.device);
        let mut lowering = vec!["train.batch_size", "words.max_length"];
        lowering.extend(stage.clusters.map(|_| "clusters.beam"));
        self.check_memory(need, &lowering)?;
        let batches = LevelBatches {
            sequences: &self.set.texts.sequences,
            documents: self.documents,
            truth: train_truth,
            choice: above.map(|(train, _)| Choice {
                levels: stage.levels,
                level: stage.level,
                above: &train.beams,
                true_parents: &train.truth,
                num_parents: config.beam(stage.level - 1),
            }),
        };
        let validator = LevelValidator {
            levels: stage.levels,
            level: stage.level,
            sequences: &self.valid.sequences,
            truth: valid_truth,
            above: above.map(|(_, valid)| valid.beams.as_slice()),
            beam: config.beam(stage.level),
        };
        let Some(parts) = self.parts(stage) else {
            let training = NetworkStage {
                name: &stage.name,
                is_only: stage.levels.len() == 1 && stage.tree == 0,
                train: &train,
                seed: stage.seed.named("training"),
            };
            self.train_network(&training, &network, &batches, Some(validator))?;
            return Ok(network);
        };
        for (part, phase) in parts {
            network.set_phase(phase);
            let is_recall = phase == Phase::Recall;
            let training = NetworkStage {
                name: &format!("{}.{part}", stage.name),
                is_only: false,
                train: &TrainConfig {
                    // Decay alone would move what is at rest.
                    weight_decay: if is_recall { train.weight_decay } else { 0.0 },
                    ..train.clone()
                },
                seed: stage.seed.named(part),
            };
            // Before labels have been learnt there is nothing to choose by.
            let validator = (!is_recall).then_some(&validator);
            self.train_network(&training, &network, &batches, validator.cloned())?;
        }
        network.set_phase(Phase::Joint);
        Ok(network)
    }

    /// What learns on its own, one after the other, where negatives are chosen by what has been learnt before.
    fn parts(&self, stage: &Stage<'_>) -> Option<[(&'static str, Phase); 2]> {
        let HeadConfig::ClusteredAttention(head) = &self.config.head else {
            return None;
        };
        let clusters = stage.clusters?;
        let has_two = clusters.num_clusters() < clusters.num_labels();
        (has_two && head.negatives == Negatives::Static)
            .then_some([("clusters", Phase::Recall), ("labels", Phase::Rank)])
    }

    /// The best items of documents at a level that is trained.
    fn reach(
        &self,
        stage: &Stage<'_>,
        network: &WordNetwork,
        sequences: &IndexRows,
        above: Option<&Vec<Beam>>,
    ) -> Result<Vec<Beam>> {
        let keep = self.config.beam(stage.level);
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
    word_vectors: &'a Tensor,
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
