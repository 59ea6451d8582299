//! Training a whole neural system, by [`WordRun`], [`PieceRun`] or [`TReaderRun`].

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use plethora_core::artifact::WorkFolder;
use plethora_core::{Error as CoreError, Progress, SeedStream, SparseRow, SparseVector};
use sha2::{Digest, Sha256};

use super::journal::Journal;
use super::model::{NeuralModel, TrainedPart};
use super::piece_run::PieceRun;
use super::reader::TextReader;
use super::sequences::Sequences;
use super::training_set::NeuralSet;
use super::treader_run::TReaderRun;
use super::validation_documents::ValidationDocuments;
use super::word_run::WordRun;
use super::word_vectors::first_vectors;
use crate::config::NeuralConfig;
use crate::guard::guarded;
use crate::piece_config::PieceConfig;
use crate::treader::TReaderConfig;
use crate::word_config::{VectorsConfig, WordConfig};
use crate::{Device, Result};

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
        // Features tell of a text what lies behind the words that are read.
        if let (Some(features), Some(_)) = (&self.set.features, &self.set.tfidf) {
            add_features(&mut hasher, features.rows());
        }
        if let Some(valid) = self.valid {
            add_rows(&mut hasher, valid.sequences.rows());
            add_rows(&mut hasher, valid.labels.rows());
            add_features(&mut hasher, valid.features.iter().map(SparseVector::as_row));
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
            NeuralConfig::Words(config) => vector_files(&config.vectors),
            NeuralConfig::TReader(config) => vector_files(&config.vectors),
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
            NeuralConfig::TReader(config) => parts.train_reader(config, seed)?,
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
        config.check_settled()?;
        let set = self.trainer.set;
        let TextReader::Words(words) = &set.reader else {
            unreachable!("systems of words read words");
        };
        let Sequences::Words(sequences) = &set.sequences else {
            unreachable!("systems of words read words");
        };
        let texts = (words, sequences);
        let word_vectors = first_vectors(texts, &config.vectors, seed, self.progress)?;
        let mut run = WordRun {
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
        (0..config.num_trees())
            .map(|tree| run.train_tree(tree, seed.named("tree").child(tree as u64)))
            .collect::<Result<_>>()
            .map(TrainedPart::Trees)
    }

    fn train_reader(self, config: &TReaderConfig, seed: SeedStream) -> Result<TrainedPart> {
        let set = self.trainer.set;
        let (TextReader::Words(words), Sequences::Words(sequences)) = (&set.reader, &set.sequences)
        else {
            unreachable!("systems of words read words");
        };
        let texts = (words, sequences);
        let word_vectors = first_vectors(texts, &config.vectors, seed, self.progress)?;
        let run = TReaderRun {
            config,
            set,
            words,
            sequences,
            device: self.trainer.device,
            valid: self.valid,
            documents: self.documents,
            word_vectors: &word_vectors,
            work: self.work,
            progress: self.progress,
            journal: Journal::new(self.work.folder()),
        };
        let part = run.train(seed)?;
        Ok(TrainedPart::TReader(Box::new(part)))
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

/// The file that word vectors come from, where there is one.
fn vector_files(config: &VectorsConfig) -> Vec<PathBuf> {
    let file = Some(&config.file).filter(|file| !file.is_empty());
    file.map(PathBuf::from).into_iter().collect()
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

fn add_features<'a>(hasher: &mut Sha256, rows: impl Iterator<Item = SparseRow<'a>>) {
    for row in rows {
        hasher.update((row.len() as u64).to_le_bytes());
        for (column, value) in row.iter() {
            hasher.update((column as u64).to_le_bytes());
            hasher.update(value.to_le_bytes());
        }
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
