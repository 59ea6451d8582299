//! Runs the trainer in a work folder and keeps what it said.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use plethora_core::artifact::WorkFolder;
use plethora_core::{Progress, SeedStream};
use plethora_neural::Result;
use plethora_neural::train::{
    Averaging, Clip, LossScale, Precision, Schedule, TrainConfig, Trainer, TrainingJournal,
    TrainingOutcome,
};

use crate::toy::{ToyDocuments, ToyNetwork, ToyValidator};

/// libtorch has one generator for a process, which every step seeds anew: runs of tests that share
/// a process must not mix.
static GENERATOR: Mutex<()> = Mutex::new(());

pub(crate) fn config() -> TrainConfig {
    TrainConfig {
        epochs: 3,
        batch_size: 8,
        accumulate: 1,
        loss: LossScale::Sum,
        learning_rate: 0.05,
        label_rate: 0.5,
        hidden_rate: 1.0,
        word_rate: 1.0,
        weight_decay: 0.01,
        epsilon: 1e-8,
        schedule: Schedule::Linear,
        warm_up: 0.1,
        clip: Clip::Adaptive,
        clip_norm: 0.9,
        averaging: Averaging::None,
        averaging_start: 0.3,
        averaging_every: 2,
        averaging_decay: 0.6,
        precision: Precision::F32,
        valid_share: 0.1,
        valid_max: 100,
        return_held_back: false,
        validate_every: 1.0,
        patience: 0,
        checkpoint_minutes: 10.0,
        label_chunk: 0,
    }
}

/// A model folder to be, and how to train for it.
pub(crate) struct Workshop {
    scratch: tempfile::TempDir,
    pub(crate) dropout: f64,
    pub(crate) num_documents: usize,
}

/// What came of a run.
pub(crate) struct Run {
    pub(crate) outcome: Result<TrainingOutcome>,
    pub(crate) network: ToyNetwork,
    pub(crate) validator: ToyValidator,
    pub(crate) journal: Journal,
    pub(crate) shown: Vec<String>,
}

impl Workshop {
    pub(crate) fn new() -> Self {
        Self {
            scratch: tempfile::tempdir().unwrap(),
            dropout: 0.3,
            num_documents: 40,
        }
    }

    /// A file of the work folder.
    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        WorkFolder::path_for(&self.scratch.path().join("model")).join(name)
    }

    pub(crate) fn train(&self, config: &TrainConfig, seed: u64) -> Run {
        let network = ToyNetwork::new(self.dropout);
        self.train_with(config, seed, network, ToyValidator::default(), None)
    }

    /// Goes on with what an earlier run left, to the end or until so many steps are taken.
    pub(crate) fn train_with(
        &self,
        config: &TrainConfig,
        seed: u64,
        network: ToyNetwork,
        mut validator: ToyValidator,
        interrupt_at: Option<u64>,
    ) -> Run {
        let _alone = GENERATOR
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        // Too small for two threads, which only wait for each other where the machine is busy.
        tch::set_num_threads(1);
        let work = WorkFolder::open(&self.scratch.path().join("model"), "toy", true).unwrap();
        let progress = Interrupting {
            at: interrupt_at,
            ..Interrupting::default()
        };
        let mut journal = Journal::default();
        let trainer = Trainer {
            config,
            seed: SeedStream::new(seed),
            work: &work,
            name: "toy",
            length: None,
            progress: &progress,
            journal: &mut journal,
        };
        let documents = ToyDocuments::new(self.num_documents);
        let outcome = trainer.run(&network, &documents, Some(&mut validator));
        Run {
            outcome,
            network,
            validator,
            journal,
            shown: progress.shown.into_inner().unwrap(),
        }
    }
}

/// Asks to stop once so many steps are taken, those of earlier runs counted in.
#[derive(Default)]
struct Interrupting {
    at: Option<u64>,
    steps: AtomicU64,
    shown: Mutex<Vec<String>>,
}

impl Progress for Interrupting {
    fn start(&self, stage: &str, total: Option<u64>) {
        assert_eq!(stage, "training toy");
        assert!(total.is_some());
    }

    fn advance(&self, steps: u64) {
        self.steps.fetch_add(steps, Ordering::Relaxed);
    }

    fn show(&self, figures: &str) {
        self.shown.lock().unwrap().push(figures.to_owned());
    }

    fn finish(&self, summary: &str) {
        assert!(summary.contains(" steps, "), "{summary}");
    }

    fn is_cancelled(&self) -> bool {
        self.at
            .is_some_and(|at| self.steps.load(Ordering::Relaxed) >= at)
    }
}

/// Keeps all records.
#[derive(Default)]
pub(crate) struct Journal {
    pub(crate) resumed_at: Option<u64>,
    records: Vec<(String, f64)>,
}

impl Journal {
    pub(crate) fn values(&self, name: &str) -> Vec<f64> {
        let named = self.records.iter().filter(|(other, _)| other == name);
        named.map(|(_, value)| *value).collect()
    }
}

impl TrainingJournal for Journal {
    fn resume_at(&mut self, step: u64) -> Result<()> {
        assert!(self.resumed_at.is_none() && self.records.is_empty());
        self.resumed_at = Some(step);
        Ok(())
    }

    fn record(&mut self, step: u64, epoch: f64, values: &[(&str, f64)]) -> Result<()> {
        assert!(step > self.resumed_at.unwrap() || values[0].0.starts_with("valid/"));
        assert!(
            (epoch * 5.0 - step as f64).abs() < 1e-9,
            "five steps an epoch"
        );
        self.records
            .extend(values.iter().map(|&(name, value)| (name.to_owned(), value)));
        Ok(())
    }
}
