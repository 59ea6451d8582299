//! Whole training runs: equal for any number of threads, resumable by the tree, interruptible.
#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use plethora_catalogue::{Catalogue, CatalogueConfig};
use plethora_core::artifact::WorkFolder;
use plethora_core::corpus::{Content, Document};
use plethora_core::{Error, IndexRows, NoProgress, Progress};
use plethora_linear::trees::{LinearConfig, LinearModel, LinearTrainer};
use plethora_linear::{TrainingSet, TrainingSetBuilder};

fn training_set() -> TrainingSet {
    let config = CatalogueConfig {
        num_documents: 400,
        ..CatalogueConfig::default()
    };
    let text = LinearConfig::of_system("parabel").unwrap().text;
    let mut builder = TrainingSetBuilder::new(text).unwrap();
    for document in Catalogue::new(config).unwrap().documents() {
        let content = Content::Text(format!("{}\n{}", document.title, document.text));
        builder
            .add(Document {
                id: document.id,
                content,
                labels: document.labels,
            })
            .unwrap();
    }
    builder.finish(&[], None).unwrap()
}

fn config(system: &str) -> LinearConfig {
    let mut config = LinearConfig::of_system(system).unwrap();
    config.tree.max_leaf = 10;
    config
}

fn trainer<'a>(set: &'a TrainingSet, config: &'a LinearConfig) -> LinearTrainer<'a> {
    LinearTrainer {
        features: &set.features,
        num_pruned: set.features.num_columns(),
        labels_of_documents: &set.labels_of_documents,
        space: &set.space,
        candidates: None,
        label_names: None,
        config,
    }
}

fn files(work: &WorkFolder, config: &LinearConfig) -> Vec<Vec<u8>> {
    let names = LinearModel::file_names(config).into_iter();
    names
        .map(|name| fs::read(work.path(&name)).unwrap())
        .collect()
}

/// Trains in a fresh folder with so many threads and returns the bytes of the trees.
fn train_with_threads(system: &str, threads: usize) -> Vec<Vec<u8>> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(|| {
        let scratch = tempfile::tempdir().unwrap();
        let (set, config) = (training_set(), config(system));
        let work = WorkFolder::open(&scratch.path().join("model"), "x", false).unwrap();
        trainer(&set, &config).run(&work, &NoProgress).unwrap();
        files(&work, &config)
    })
}

#[test]
fn one_and_two_threads_write_the_same_bytes() {
    for system in ["wide-tree", "parabel", "bonsai"] {
        assert_eq!(
            train_with_threads(system, 1),
            train_with_threads(system, 2),
            "{system}"
        );
    }
}

/// Asks to stop after some steps.
struct StopAfter {
    steps: AtomicU64,
}

impl Progress for StopAfter {
    fn start(&self, _stage: &str, _total: Option<u64>) {}
    fn advance(&self, steps: u64) {
        let left = self.steps.load(Ordering::Relaxed);
        self.steps
            .store(left.saturating_sub(steps), Ordering::Relaxed);
    }
    fn finish(&self, _summary: &str) {}
    fn is_cancelled(&self) -> bool {
        self.steps.load(Ordering::Relaxed) == 0
    }
}

/// Resumes training in the work folder of `target`; false if it was stopped.
fn train_until_stopped(
    target: &Path,
    set: &TrainingSet,
    config: &LinearConfig,
    steps: u64,
) -> bool {
    let work = WorkFolder::open(target, "x", true).unwrap();
    let progress = StopAfter {
        steps: AtomicU64::new(steps),
    };
    match trainer(set, config).run(&work, &progress) {
        Ok(_) => true,
        Err(Error::Interrupted) => false,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_resumed_run_ends_with_the_same_model() {
    let (set, config) = (training_set(), config("parabel"));
    let scratch = tempfile::tempdir().unwrap();
    let whole = WorkFolder::open(&scratch.path().join("whole"), "x", false).unwrap();
    trainer(&set, &config).run(&whole, &NoProgress).unwrap();

    let target = scratch.path().join("stopped");
    assert!(!train_until_stopped(&target, &set, &config, 1));
    // Enough for the first tree, not for all three.
    assert!(!train_until_stopped(&target, &set, &config, 150));
    let work = WorkFolder::open(&target, "x", true).unwrap();
    assert!(work.contains("tree-0.safetensors") && !work.contains("tree-2.safetensors"));
    drop(work);
    assert!(train_until_stopped(&target, &set, &config, u64::MAX));
    let resumed = WorkFolder::open(&target, "x", true).unwrap();
    assert_eq!(files(&resumed, &config), files(&whole, &config));
}

#[test]
fn the_fingerprint_follows_data_and_settings() {
    let (set, config) = (training_set(), config("parabel"));
    let other = LinearConfig {
        seed: 9,
        ..config.clone()
    };
    let fingerprint = trainer(&set, &config).fingerprint().unwrap();
    assert_eq!(
        trainer(&training_set(), &config).fingerprint().unwrap(),
        fingerprint
    );
    assert_ne!(trainer(&set, &other).fingerprint().unwrap(), fingerprint);
}

#[test]
fn candidates_of_another_model_are_hard_negatives() {
    let (set, mut config) = (training_set(), config("parabel"));
    config.hard_negatives = 0;
    let trees = |candidates: Option<&IndexRows>| {
        let scratch = tempfile::tempdir().unwrap();
        let work = WorkFolder::open(&scratch.path().join("model"), "x", false).unwrap();
        let trainer = LinearTrainer {
            candidates,
            ..trainer(&set, &config)
        };
        trainer.run(&work, &NoProgress).unwrap();
        files(&work, &config)
    };
    let plain = trees(None);
    // Where a document belongs it is already.
    assert_eq!(trees(Some(&set.labels_of_documents)), plain);
    let others: IndexRows = (set.labels_of_documents.rows())
        .map(|row| [(row[0] + 1) % set.space.len() as u32])
        .collect();
    assert_ne!(trees(Some(&others)), plain);
}
