//! A course of training: once, or first without the documents that are held back to choose by and then, as long
//! as they have chosen, anew with all of them.

use plethora_core::artifact::WorkFolder;
use plethora_core::corpus::LabelSpace;
use plethora_core::{Error, Result, SeedStream, grouped};
use plethora_system::RunContext;
use plethora_system::ranks::{self, Ranks};

use super::chosen::Chosen;
use super::family::NeuralSettings;
use super::journal::Journal;
use super::reading::{read_validation, tell_read};
use super::text_set::{ReadDocuments, ReadsTexts, TextSet, Texts as _};
use super::trainer::{SystemTrainer, Trains};
use super::validation_documents::{Split, ValidationDocuments};
use crate::train::TrainConfig;

/// From where an interrupted run is resumed.
pub(super) const RESUME_POINT: &str = "the last checkpoint";

/// Name of the first training in the work folder of the second.
pub(crate) const FIRST: &str = "without-held-back";

/// What stands before the names of values in the log of the second training.
pub(crate) const SECOND: &str = "all/";

/// What texts of these settings become.
type Read<C> = <<C as NeuralSettings>::Reader as ReadsTexts>::Read;

/// A model of these settings.
type Model<C> = <<C as NeuralSettings>::Settled as Trains>::Model;

/// A course of training with these settings.
pub(super) struct Course<'a, C> {
    pub(super) config: &'a C,
    pub(super) run: &'a RunContext<'a>,
}

/// What comes out of it.
pub(super) struct Trained<M> {
    pub(super) model: M,
    /// The labels, with the documents that each has.
    pub(super) labels: LabelSpace,
    pub(super) num_documents: u64,
    /// What is known of texts: its name, and how much.
    pub(super) known: (&'static str, u64),
    pub(super) work: WorkFolder,
}

impl<C: NeuralSettings> Course<'_, C> {
    pub(super) fn train(&self, read: ReadDocuments<C::Reader>) -> Result<Trained<Model<C>>> {
        let num_documents = read.len() as u64;
        let num_read = num_documents + read.num_without_labels;
        let labels = read.space.clone();
        let holding = self.config.holding_back();
        let seed = SeedStream::new(self.config.seed());
        let split = Split::hold_back(read.len(), holding, seed);
        let (model, known, work) = if self.run.valid.is_some() || split.held.is_empty() {
            let set = read.whole()?;
            tell_read(self.run, num_read, &set);
            let valid = self.given(&set)?;
            self.once(&set, valid.as_ref())?
        } else {
            let (set, held) = read.apart(&split.held)?;
            tell_read(self.run, num_read, &set);
            if holding.returns {
                self.twice(read, set, held)?
            } else {
                self.once(&set, Some(&held))?
            }
        };
        Ok(Trained {
            model,
            labels,
            num_documents,
            known,
            work,
        })
    }

    /// The user's own documents to choose by, where there are some.
    fn given(&self, set: &TextSet<Read<C>>) -> Result<Option<ValidationDocuments>> {
        let Some(source) = self.run.valid else {
            return Ok(None);
        };
        let mut features = Vec::new();
        let read = |texts: &[String]| {
            let rows = set.texts.features_of(texts);
            features.extend(rows.iter().flat_map(|rows| rows.rows().map(Into::into)));
            set.texts.sequences_of(texts)
        };
        let documents = read_validation(source, self.run, &set.space, read)?;
        Ok(Some(documents.with_features(features)))
    }

    /// Opens the work folder of a run on these documents and makes the choices that settings leave.
    fn begin(
        &self,
        set: &TextSet<Read<C>>,
        valid: Option<&ValidationDocuments>,
    ) -> Result<(C::Settled, WorkFolder, String)> {
        let fingerprint = set.fingerprint(self.config, valid)?;
        let work = self.run.open_work(&fingerprint, RESUME_POINT)?;
        match self.config.settle(set, self.run, &work) {
            Ok(settled) => {
                let mut settled = settled.with_epoch_share(self.run.epoch_share);
                if let Some(ranks) = ranks::group() {
                    *settled.train_mut() = chosen_by_first(ranks, settled.train())?;
                }
                Ok((settled, work, fingerprint))
            }
            Err(error) => {
                if !self.run.resumes {
                    work.remove()?;
                }
                Err(error)
            }
        }
    }

    fn once(
        &self,
        set: &TextSet<Read<C>>,
        valid: Option<&ValidationDocuments>,
    ) -> Result<(Model<C>, (&'static str, u64), WorkFolder)> {
        let (config, work, _) = self.begin(set, valid)?;
        let trainer = SystemTrainer {
            set,
            valid,
            config: &config,
            device: self.run.compute.device,
        };
        let model = trainer.run(&work, self.run.progress)?;
        Ok((model, set.texts.known(), work))
    }

    fn twice(
        &self,
        read: ReadDocuments<C::Reader>,
        set: TextSet<Read<C>>,
        held: ValidationDocuments,
    ) -> Result<(Model<C>, (&'static str, u64), WorkFolder)> {
        let (config, work, fingerprint) = self.begin(&set, Some(&held))?;
        let chosen = match Chosen::read(&work)? {
            Some(chosen) => chosen,
            None => self.choose((&set, &held), &config, &work, &fingerprint)?,
        };
        drop((set, held));
        let (progress, count) = (self.run.progress, read.len() as u64);
        progress.start("held-back documents return", None);
        let set = read.whole()?;
        progress.finish(&format!(
            "training anew with all {} documents",
            grouped(count)
        ));
        let trainer = SystemTrainer {
            set: &set,
            valid: None,
            config: &chosen.config,
            device: self.run.compute.device,
        };
        let journal = Journal::behind(work.folder(), chosen.log, SECOND);
        let (model, _) = trainer.run_with(journal, Some(&chosen), (&work, progress))?;
        Ok((model, set.texts.known(), work))
    }

    /// What held-back documents choose.
    fn choose(
        &self,
        (set, held): (&TextSet<Read<C>>, &ValidationDocuments),
        config: &C::Settled,
        work: &WorkFolder,
        fingerprint: &str,
    ) -> Result<Chosen<C::Settled>> {
        let first = WorkFolder::open(&work.path(FIRST), fingerprint, true)?;
        let trainer = SystemTrainer {
            set,
            valid: Some(held),
            config,
            device: self.run.compute.device,
        };
        let journal = Journal::new(work.folder());
        let (_, chosen) = trainer.run_with(journal, None, (&first, self.run.progress))?;
        chosen.write(work)?;
        first.remove()?;
        Ok(chosen)
    }
}

/// What rank 0 has chosen: batches follow from the memory that is free, which differs between devices and from
/// day to day.
fn chosen_by_first(ranks: &dyn Ranks, own: &TrainConfig) -> Result<TrainConfig> {
    let damaged = |error: serde_json::Error| {
        Error::Compute(format!("the message of another rank is damaged: {error}"))
    };
    let own = serde_json::to_vec(own).map_err(damaged)?;
    serde_json::from_slice(&ranks.broadcast(&own)?).map_err(damaged)
}
