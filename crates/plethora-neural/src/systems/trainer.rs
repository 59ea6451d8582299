//! Training all networks of a system.

use std::collections::BTreeMap;

use plethora_core::artifact::WorkFolder;
use plethora_core::{Progress, Result as CoreResult, SeedStream};
use plethora_system::Device;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::chosen::Chosen;
use super::journal::Journal;
use super::model::NeuralModel;
use super::run_settings::share_of_epochs;
use super::text_set::{TextSet, Texts};
use super::validation_documents::ValidationDocuments;
use crate::Result;
use crate::guard::guarded;
use crate::train::{BatchMaker, Network, TrainConfig, Trainer, TrainingLength, Validator, memory};

/// Settings without a choice left, by which networks are trained.
pub trait Trains: Clone + Serialize + DeserializeOwned {
    /// What networks read.
    type Texts: Texts;

    /// What comes out.
    type Model: NeuralModel<Config = Self>;

    /// Refuses settings that cannot work, naming the key.
    fn validate(&self) -> CoreResult<()>;

    /// Draws first weights, the order of documents and what dropout leaves out.
    fn seed(&self) -> u64;

    /// How weights are found.
    fn train(&self) -> &TrainConfig;

    /// The same, to change it.
    fn train_mut(&mut self) -> &mut TrainConfig;

    /// The same settings with this share of the epochs, and at least one.
    #[must_use]
    fn with_epoch_share(&self, share: f64) -> Self {
        let mut config = self.clone();
        let epochs = &mut config.train_mut().epochs;
        *epochs = share_of_epochs(*epochs, share);
        config
    }

    /// Trains all networks; those that the work folder has in full are taken from there, and the one
    /// that it has in part is resumed.
    fn train_networks(run: &mut NetworkRun<'_, Self>, seed: SeedStream) -> Result<Self::Model>;
}

/// What a system learns from, and how.
pub struct SystemTrainer<'a, C: Trains> {
    /// The training documents.
    pub set: &'a TextSet<C::Texts>,
    /// Documents to choose the best weights by; without them, the last or averaged ones are kept.
    pub valid: Option<&'a ValidationDocuments>,
    /// The settings, the seed among them.
    pub config: &'a C,
    /// The device that computes.
    pub device: Device,
}

impl<C: Trains> SystemTrainer<'_, C> {
    /// Trains, or resumes what `work` has of it.
    pub fn run(&self, work: &WorkFolder, progress: &dyn Progress) -> Result<C::Model> {
        let journal = Journal::new(work.folder());
        Ok(self.run_with(journal, None, (work, progress))?.0)
    }

    /// As [`run`](Self::run), with this log; where documents that were held back have `chosen` how long each
    /// network is trained, so long. Gives beside the model what the networks' own validation has chosen.
    pub(crate) fn run_with(
        &self,
        journal: Journal<'_>,
        chosen: Option<&Chosen<C>>,
        (work, progress): (&WorkFolder, &dyn Progress),
    ) -> Result<(C::Model, Chosen<C>)> {
        self.config.validate()?;
        let seed = SeedStream::new(self.config.seed());
        let none = ValidationDocuments::default();
        let all: Vec<u32> = (0..self.set.labels_of_documents.num_rows() as u32).collect();
        let mut run = self.begin(self.valid.unwrap_or(&none), &all, work, progress);
        run.journal = journal;
        if let Some(chosen) = chosen {
            run.lengths.clone_from(&chosen.lengths);
            run.fitted = Some(&chosen.fitted);
        }
        guarded(|| {
            let model = C::train_networks(&mut run, seed)?;
            let chosen = Chosen {
                config: model.config().clone(),
                fitted: model.fitted(),
                log: run.journal.place(),
                lengths: std::mem::take(&mut run.kept),
            };
            Ok((model, chosen))
        })
    }

    /// A run that trains on some of the documents and chooses weights by others.
    pub(crate) fn begin<'r>(
        &'r self,
        valid: &'r ValidationDocuments,
        documents: &'r [u32],
        work: &'r WorkFolder,
        progress: &'r dyn Progress,
    ) -> NetworkRun<'r, C> {
        NetworkRun {
            set: self.set,
            config: self.config,
            device: self.device,
            valid,
            documents,
            work,
            progress,
            fitted: None,
            lengths: BTreeMap::new(),
            kept: BTreeMap::new(),
            journal: Journal::new(work.folder()),
        }
    }
}

/// A run under way.
pub struct NetworkRun<'a, C: Trains> {
    pub(crate) set: &'a TextSet<C::Texts>,
    pub(crate) config: &'a C,
    pub(crate) device: Device,
    pub(crate) valid: &'a ValidationDocuments,
    /// Numbers of the documents that are trained on.
    pub(crate) documents: &'a [u32],
    pub(crate) work: &'a WorkFolder,
    pub(crate) progress: &'a dyn Progress,
    /// What an earlier run fitted to documents that were held back from it, see
    /// [`NeuralModel::fitted`]; absent in a run that has none before it.
    pub(crate) fitted: Option<&'a [u64]>,
    /// How long networks are trained for which that has been chosen, by the names of their stages.
    lengths: BTreeMap<String, TrainingLength>,
    /// How long those of this run were trained until they were best.
    kept: BTreeMap<String, TrainingLength>,
    journal: Journal<'a>,
}

/// The training of one network.
pub(crate) struct NetworkStage<'a> {
    /// Its name and that of its files.
    pub(crate) name: &'a str,
    /// Whether values are logged without the name before theirs.
    pub(crate) is_only: bool,
    pub(crate) train: &'a TrainConfig,
    pub(crate) seed: SeedStream,
}

impl<C: Trains> NetworkRun<'_, C> {
    /// Makes sure that the device has the memory that training will need; `settings` are those that lower the
    /// need. A second run takes what the first one took, and libtorch never gave back.
    pub(crate) fn check_memory(&self, needed: u64, settings: &[&str]) -> Result<()> {
        match self.fitted {
            None => memory::check(self.device, needed, settings),
            Some(_) => Ok(()),
        }
    }

    /// Trains a network; `validator` chooses its weights unless there is nothing to choose by.
    pub(crate) fn train_network<N: Network, B: BatchMaker<Batch = N::Batch>>(
        &mut self,
        stage: &NetworkStage<'_>,
        network: &N,
        batches: &B,
        mut validator: Option<impl Validator<N>>,
    ) -> Result<()> {
        let prefix = if stage.is_only {
            String::new()
        } else {
            format!("{}/", stage.name)
        };
        self.journal.begin(prefix);
        let validator = validator.as_mut().filter(|_| !self.valid.is_empty());
        let outcome = Trainer {
            config: stage.train,
            seed: stage.seed,
            work: self.work,
            name: stage.name,
            length: self.lengths.get(stage.name).copied(),
            progress: self.progress,
            journal: &mut self.journal,
        }
        .run(network, batches, validator.map(|one| one as _))?;
        self.kept.insert(stage.name.to_owned(), outcome.kept);
        self.journal.end(outcome.steps, outcome.epochs);
        Ok(())
    }
}
