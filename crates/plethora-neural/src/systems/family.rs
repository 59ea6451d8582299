//! What all families of networks do alike: from settings to a training run, from a folder to a model.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::time::Instant;

use plethora_core::Result;
use plethora_core::artifact::{ModelReader, WorkFolder};
use plethora_system::settings::{Settings, schema_of};
use plethora_system::{
    Device, DocumentStream, Effort, Estimate, Family, OpenParts, Ranker, RunContext, SystemSpec,
    Trainable, Trained, TrainingSize,
};
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;

use super::model::{NeuralModel, NeuralRanker};
use super::network_file::num_values;
use super::reading::{check_validation, read_documents};
use super::returning::{Course, RESUME_POINT};
use super::text_set::{NamesFiles, ReadsTexts, TextSet};
use super::trained_facts::trained_facts;
use super::trainer::Trains;
use crate::open_device;
use crate::train::HoldingBack;

/// A family of networks, by the type of the settings that users give.
#[derive(Debug)]
pub struct NeuralFamily<C>(PhantomData<fn() -> C>);

/// The settings that users give: all that a family of networks does in its own way.
pub trait NeuralSettings:
    NamesFiles + JsonSchema + DeserializeOwned + Debug + Clone + Send + Sync + 'static
{
    /// Reads texts.
    type Reader: ReadsTexts;

    /// The same settings with all choices made.
    type Settled: Trains<Texts = <Self::Reader as ReadsTexts>::Read>;

    /// The systems that have such settings.
    fn systems() -> &'static [SystemSpec];

    /// Refuses settings that cannot work, naming the key.
    fn validate(&self) -> Result<()>;

    /// The name of the system.
    fn system(&self) -> &str;

    /// Draws all that is left to chance.
    fn seed(&self) -> u64;

    /// Which documents are held back, where none are given to choose by.
    fn holding_back(&self) -> HoldingBack;

    /// Passes over the documents at most, where they are not left to the data.
    fn epochs(&self) -> Option<usize>;

    /// The settings with paths in place of what the caches of a run know by name.
    fn resolved(&self, _run: &RunContext<'_>) -> Result<Self> {
        Ok(self.clone())
    }

    /// Finds files that are missing.
    fn check_files(&self) -> Result<()>;

    /// What training all documents once will cost, roughly.
    fn estimate(&self, size: &TrainingSize) -> Estimate;

    /// What reads the texts of a run.
    fn reader(&self, run: &RunContext<'_>) -> Result<Self::Reader>;

    /// Makes the choices that are left and says so; those that an interrupted run was begun with stay.
    fn settle(
        &self,
        set: &TextSet<<Self::Reader as ReadsTexts>::Read>,
        run: &RunContext<'_>,
        work: &WorkFolder,
    ) -> Result<Self::Settled>;

    /// Names of the files of networks in a model folder.
    fn network_files(folder: &ModelReader) -> Result<Vec<String>>;
}

impl<C> NeuralFamily<C> {
    /// There is nothing to know of a family but its type.
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<C: NeuralSettings> Family for NeuralFamily<C> {
    fn systems(&self) -> &'static [SystemSpec] {
        C::systems()
    }

    fn schema(&self) -> Schema {
        schema_of::<C>()
    }

    fn config(&self, settings: &Settings) -> Result<Box<dyn Trainable>> {
        let config: C = settings.read_as()?;
        config.validate()?;
        Ok(Box::new(NeuralSystem(config)))
    }

    fn open(&self, folder: &ModelReader, parts: &OpenParts<'_>) -> Result<Box<dyn Ranker>> {
        let num_labels = parts.labels.len();
        let model = <C::Settled as Trains>::Model::open(folder, num_labels, parts.compute)?;
        Ok(Box::new(NeuralRanker::new(model)))
    }

    fn computes_on(&self, _device: Device) -> bool {
        true
    }

    fn open_device(&self, device: Device) -> Result<()> {
        open_device(device)?;
        Ok(())
    }

    fn num_parameters(&self, folder: &ModelReader) -> Result<Option<u64>> {
        num_values(folder, C::network_files(folder)?).map(Some)
    }
}

/// A system with its settings.
#[derive(Debug)]
struct NeuralSystem<C>(C);

impl<C: NeuralSettings> Trainable for NeuralSystem<C> {
    fn check(&self, run: &RunContext<'_>) -> Result<()> {
        open_device(run.compute.device)?;
        self.0.resolved(run)?.check_files()?;
        check_validation(run)
    }

    fn estimate(&self, size: &TrainingSize) -> Estimate {
        let passes = self.0.holding_back().passes(size.num_documents as usize);
        let estimate = self.0.estimate(size);
        Estimate {
            cpu_seconds: passes * estimate.cpu_seconds,
            ..estimate
        }
    }

    fn train(&self, documents: &mut dyn DocumentStream, run: &RunContext<'_>) -> Result<Trained> {
        let asked_for = self.0.resolved(run)?;
        let reader = asked_for.reader(run)?;
        let (read, mut stages) = read_documents(documents, run, self.0.system(), reader)?;
        let started = Instant::now();
        let course = Course {
            config: &asked_for,
            run,
        };
        let trained = course.train(read)?;
        stages.end("training", started);
        let device = run.compute.device;
        let num_parameters = trained.model.num_parameters();
        Ok(Trained {
            facts: trained_facts(trained.known, num_parameters, device),
            num_documents: trained.num_documents,
            num_features: trained.known.1,
            takes_text: true,
            labels: trained.labels,
            ranker: Box::new(NeuralRanker::new(trained.model)),
            work: trained.work,
            stages,
        })
    }

    fn trains_together(&self) -> bool {
        true
    }

    fn resume_point(&self) -> &'static str {
        RESUME_POINT
    }

    fn effort(&self) -> Effort {
        Effort::Epochs(self.0.epochs())
    }
}
