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
use super::reading::{check_validation, read_set, read_validation};
use super::text_set::{NamesFiles, ReadsTexts, TextSet, Texts};
use super::trained_facts::trained_facts;
use super::trainer::{SystemTrainer, Trains};
use crate::open_device;

/// From where an interrupted run is resumed.
const RESUME_POINT: &str = "the last checkpoint";

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

    /// Passes over the documents at most, where they are not left to the data.
    fn epochs(&self) -> Option<usize>;

    /// The settings with paths in place of what the caches of a run know by name.
    fn resolved(&self, _run: &RunContext<'_>) -> Result<Self> {
        Ok(self.clone())
    }

    /// Finds files that are missing.
    fn check_files(&self) -> Result<()>;

    /// What training will cost, roughly.
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
        self.0.estimate(size)
    }

    fn train(&self, documents: &mut dyn DocumentStream, run: &RunContext<'_>) -> Result<Trained> {
        let asked_for = self.0.resolved(run)?;
        let reader = asked_for.reader(run)?;
        let (set, mut stages) = read_set(documents, run, self.0.system(), reader, Texts::summary)?;
        let started = Instant::now();
        let valid = match run.valid {
            Some(source) => {
                let mut features = Vec::new();
                let read = |texts: &[String]| {
                    let rows = set.texts.features_of(texts);
                    features.extend(rows.iter().flat_map(|rows| rows.rows().map(Into::into)));
                    set.texts.sequences_of(texts)
                };
                let documents = read_validation(source, run, &set.space, read)?;
                Some(documents.with_features(features))
            }
            None => None,
        };
        let fingerprint = set.fingerprint(&asked_for, valid.as_ref())?;
        let work = run.open_work(&fingerprint, RESUME_POINT)?;
        let settled = match asked_for.settle(&set, run, &work) {
            Ok(settled) => settled,
            Err(error) => {
                if !run.resumes {
                    work.remove()?;
                }
                return Err(error);
            }
        };
        let device = run.compute.device;
        let model = SystemTrainer {
            set: &set,
            valid: valid.as_ref(),
            config: &settled.with_epoch_share(run.epoch_share),
            device,
        }
        .run(&work, run.progress)?;
        stages.end("training", started);
        let known = set.texts.known();
        Ok(Trained {
            facts: trained_facts(known, model.num_parameters(), device),
            num_documents: set.labels_of_documents.num_rows() as u64,
            num_features: known.1,
            takes_text: true,
            labels: set.space,
            ranker: Box::new(NeuralRanker::new(model)),
            work,
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
