//! Training a whole neural system: word vectors, trees, one network after another; systems of pieces are
//! trained by [`PieceRun`].

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use plethora_core::artifact::WorkFolder;
use plethora_core::tree::{build, label_features};
use plethora_core::{Error as CoreError, IndexRows, Progress, SeedStream};
use sha2::{Digest, Sha256};
use tch::Tensor;

use super::beam::{Beam, LevelRanker};
use super::journal::Journal;
use super::level_batches::{Choice, LevelBatches};
use super::level_validator::LevelValidator;
use super::levels::Levels;
use super::model::{NeuralModel, TrainedPart, TrainedTree};
use super::piece_run::PieceRun;
use super::reader::TextReader;
use super::sequences::Sequences;
use super::training_set::NeuralSet;
use super::validation_documents::ValidationDocuments;
use super::word_vectors::first_vectors;
use crate::config::NeuralConfig;
use crate::guard::guarded;
use crate::head::LabelFacts;
use crate::memory_need::memory_need;
use crate::piece_config::PieceConfig;
use crate::start::Start;
use crate::train::{TrainConfig, Trainer, Validator, memory};
use crate::word_config::WordConfig;
use crate::word_network::{NetworkSetup, WordNetwork};
use crate::{Device, Error, Result};

/// What a neural system learns from, and how.
#[derive(Clone, Copy)]
pub struct NeuralTrainer<'a> {
    /// The training documents.
    pub set: &'a NeuralSet,
    /// Documents to choose the best weights by; some are held back where absent.
    pub valid: Option<&'a ValidationDocuments>,
    /// The settings, the seed among them.
    pub config: &'a NeuralConfig,
    /// The device that computes.
    pub device: Device,
}

impl NeuralTrainer<'_> {
    /// Says which data, settings and seed a run has, so that only an equal one resumes it. The
    /// device is left out, and so are choices that follow from it where the settings are those that
    /// were asked for: a run may move.
    pub fn fingerprint(&self) -> Result<String> {
        let mut hasher = Sha256::new();
        let labels = self.set.space.labels();
        let settings = serde_json::to_vec(&(env!("CARGO_PKG_VERSION"), self.config, labels))
            .map_err(|error| CoreError::Data(error.to_string()))?;
        hasher.update(settings);
        add_rows(&mut hasher, self.set.sequences.rows());
        add_rows(&mut hasher, self.set.labels_of_documents.rows());
        if let Some(valid) = self.valid {
            add_rows(&mut hasher, valid.sequences.rows());
            add_rows(&mut hasher, valid.labels.rows());
        }
        for path in self.files() {
            add_file(&mut hasher, &path).map_err(CoreError::read(&path))?;
        }
        let mut text = String::new();
        for byte in hasher.finalize() {
            let _ = write!(text, "{byte:02x}");
        }
        Ok(text)
    }

    /// Trains all networks; those that `work` has in full are taken from there, and the one that
    /// it has in part is gone on with.
    pub fn run(&self, work: &WorkFolder, progress: &dyn Progress) -> Result<NeuralModel> {
        guarded(|| self.train(work, progress))
    }

    /// Pretrained vectors or weights that training starts from.
    fn files(&self) -> Vec<PathBuf> {
        match self.config {
            NeuralConfig::Words(config) if config.vectors.file.is_empty() => Vec::new(),
            NeuralConfig::Words(config) => vec![PathBuf::from(&config.vectors.file)],
            NeuralConfig::Pieces(config) => weight_files(Path::new(&config.encoder.folder)),
        }
    }

    fn train(&self, work: &WorkFolder, progress: &dyn Progress) -> Result<NeuralModel> {
        self.config.validate()?;
        let seed = SeedStream::new(self.config.seed());
        let (valid, documents) = match self.valid {
            Some(valid) => {
                let all = (0..self.set.sequences.num_rows() as u32).collect();
                (valid.clone(), all)
            }
            None => ValidationDocuments::hold_back(self.set, self.config.train(), seed),
        };
        let parts = Parts {
            trainer: *self,
            valid: &valid,
            documents: &documents,
            work,
            progress,
        };
        let trained = match self.config {
            NeuralConfig::Words(config) => parts.train_words(config, seed)?,
            NeuralConfig::Pieces(config) => parts.train_pieces(config, seed)?,
        };
        Ok(NeuralModel::new(
            self.config.clone(),
            self.set.reader.clone(),
            self.device,
            trained,
            self.set.space.len(),
        ))
    }
}

/// What a run of either family takes.
struct Parts<'a> {
    trainer: NeuralTrainer<'a>,
    valid: &'a ValidationDocuments,
    /// Numbers of the documents that are trained on.
    documents: &'a [u32],
    work: &'a WorkFolder,
    progress: &'a dyn Progress,
}

impl Parts<'_> {
    fn train_words(self, config: &WordConfig, seed: SeedStream) -> Result<TrainedPart> {
        let set = self.trainer.set;
        let TextReader::Words(words) = &set.reader else {
            unreachable!("systems of words read words");
        };
        let Sequences::Words(sequences) = &set.sequences else {
            unreachable!("systems of words read words");
        };
        let texts = (words, sequences);
        let word_vectors = first_vectors(texts, &config.vectors, seed, self.progress)?;
        let mut run = Run {
            trainer: self.trainer,
            config,
            sequences,
            device: self.trainer.device.open()?,
            valid: self.valid,
            documents: self.documents,
            word_vectors: &word_vectors,
            work: self.work,
            progress: self.progress,
            journal: Journal::new(self.work.folder()),
        };
        let num_trees = config.plt.as_ref().map_or(1, |plt| plt.num_trees);
        (0..num_trees)
            .map(|tree| run.train_tree(tree, seed.named("tree").child(tree as u64)))
            .collect::<Result<_>>()
            .map(TrainedPart::Trees)
    }

    fn train_pieces(self, config: &PieceConfig, seed: SeedStream) -> Result<TrainedPart> {
        config.check_settled()?;
        let set = self.trainer.set;
        let architecture = set
            .architecture
            .as_ref()
            .expect("sets of pieces know their encoder");
        let members = PieceRun {
            config,
            architecture,
            set,
            device: self.trainer.device,
            valid: self.valid,
            documents: self.documents,
            work: self.work,
            progress: self.progress,
            journal: Journal::new(self.work.folder()),
        }
        .train(seed)?;
        Ok(TrainedPart::Members {
            architecture: architecture.clone(),
            members,
        })
    }
}

/// A run under way.
struct Run<'a> {
    trainer: NeuralTrainer<'a>,
    config: &'a WordConfig,
    sequences: &'a IndexRows,
    device: tch::Device,
    valid: &'a ValidationDocuments,
    /// Numbers of the documents that are trained on.
    documents: &'a [u32],
    word_vectors: &'a Tensor,
    work: &'a WorkFolder,
    progress: &'a dyn Progress,
    journal: Journal<'a>,
}

/// What is known of the documents after a level: their true items, and those the level ranks best.
struct Reached {
    truth: IndexRows,
    beams: Vec<Beam>,
}

impl Run<'_> {
    fn train_tree(&mut self, tree: usize, seed: SeedStream) -> Result<TrainedTree> {
        let levels = self.levels(seed)?;
        let mut networks: Vec<WordNetwork> = Vec::new();
        let mut above: Option<(Reached, Reached)> = None;
        for level in 0..levels.len() {
            let stage = Stage {
                levels: &levels,
                level,
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
        Ok(TrainedTree { levels, networks })
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

    fn train_level(
        &mut self,
        stage: &Stage<'_>,
        (train_truth, valid_truth): (&IndexRows, &IndexRows),
        previous: Option<&WordNetwork>,
        above: Option<&(Reached, Reached)>,
    ) -> Result<WordNetwork> {
        let config = self.config;
        let counts = counts(train_truth, stage.levels.num_items(stage.level));
        let mut network = WordNetwork::new(&NetworkSetup {
            config,
            word_vectors: self.word_vectors,
            labels: LabelFacts {
                train_counts: &counts,
                num_documents: train_truth.num_rows() as u64,
            },
            has_candidates: stage.level > 0,
            device: self.device,
            start: Start::seeded(stage.seed),
        });
        if let Some(previous) = previous {
            network.take_over(previous);
        }
        let train = self.train_config(stage.level);
        let device = self.trainer.device;
        let need = memory_need(&network, config, device);
        memory::check(device, need, &["train.batch_size", "words.max_length"])?;
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
        };
        let validator: Option<&mut dyn Validator<WordNetwork>> = if self.valid.is_empty() {
            None
        } else {
            Some(&mut level_validator)
        };
        let prefix = if stage.levels.len() > 1 {
            format!("{}/", stage.name)
        } else {
            String::new()
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
    levels: &'a Levels,
    level: usize,
    name: String,
    seed: SeedStream,
}

/// The weights of an encoder, in whatever files its folder has them.
fn weight_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension()
                .is_some_and(|suffix| suffix == "safetensors")
        })
        .collect();
    files.sort();
    files
}

fn add_rows<'a>(hasher: &mut Sha256, rows: impl Iterator<Item = &'a [u32]>) {
    let mut bytes = Vec::new();
    for row in rows {
        hasher.update((row.len() as u64).to_le_bytes());
        bytes.clear();
        bytes.extend(row.iter().flat_map(|number| number.to_le_bytes()));
        hasher.update(&bytes);
    }
}

/// Vectors under the same name may be others.
fn add_file(hasher: &mut Sha256, path: &Path) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        hasher.update(&buffer[..count]);
    }
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
