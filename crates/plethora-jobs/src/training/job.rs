//! A training run, whatever the system: what to train, and the way from corpus to model folder.

use std::path::PathBuf;
use std::time::Instant;

use plethora_core::artifact::{
    METRICS_FILE, ModelCard, ModelDetails, ModelWriter, WorkFolder, save_label_space,
};
use plethora_core::corpus::VocabularyFile;
use plethora_core::metrics::{Evaluation, EvaluationConfig};
use plethora_core::{Argument, Error, Result};
use plethora_system::settings::Settings;
use plethora_system::{
    Device, DocumentSource, Facts, PIECE, PieceDetails, Predictor, RunContext, Shard, Trainable,
    Trained, ranks, resources,
};

use super::corpus::Corpus;
use super::documents::TrainingDocuments;
use super::names::WithNames;
use super::report::{EVALUATING, Seconds, TrainingReport};
use crate::corpus_reading::in_file;
use crate::evaluation::{EvaluationRun, MeasuredModel};
use crate::model_folder::{about_model, size_of_model};
use crate::{Session, folders};

/// What to train and where to put it.
#[derive(Debug, Clone)]
pub struct TrainingJob {
    /// Documents to learn from.
    pub data: Corpus,
    /// Documents to measure the model on; neural systems also choose their weights by them.
    pub valid: Option<Corpus>,
    /// Names of the labels.
    pub vocabulary: Option<VocabularyFile>,
    /// Folder for the model.
    pub output: PathBuf,
    /// The system and its settings.
    pub settings: Settings,
    /// Where to compute.
    pub device: Device,
    /// Where texts cut into pieces are cached for later runs.
    pub piece_cache: Option<PathBuf>,
    /// Learn from the names of labels, too, as from one short document each.
    pub learns_names: bool,
    /// Share of the epochs to train for; 1 unless a search tries settings out briefly.
    pub epoch_share: f64,
    /// Replace a model that is there.
    pub replaces: bool,
    /// Resume what an interrupted run left.
    pub resumes: bool,
}

/// A model that is trained but not saved.
struct Unsaved {
    /// The share of the model that this is, where it is a piece.
    shard: Option<Shard>,
    predictor: Predictor,
    work: WorkFolder,
    num_without_labels: u64,
    facts: Facts,
    seconds: Seconds,
}

impl TrainingJob {
    /// A run on the processor that nobody has interrupted before; nothing is replaced.
    pub fn new(data: Corpus, settings: Settings, output: impl Into<PathBuf>) -> Self {
        Self {
            data,
            valid: None,
            vocabulary: None,
            output: output.into(),
            settings,
            device: Device::Cpu,
            piece_cache: folders::pieces(),
            learns_names: false,
            epoch_share: 1.0,
            replaces: false,
            resumes: false,
        }
    }

    /// Does everything. An error leaves no model, only completed parts, from which a run can be
    /// resumed.
    pub fn run(&self, session: &Session) -> Result<TrainingReport> {
        self.run_share(None, session)
    }

    /// As [`run`](Self::run), one share of the training, to a folder that is a piece of the model. A
    /// piece is not measured.
    pub fn run_piece(&self, shard: Shard, session: &Session) -> Result<TrainingReport> {
        if self.valid.is_some() {
            let message = "a piece of a model cannot be measured; leave validation documents out and \
                           measure the model that the pieces make";
            return Err(Error::config(Argument::SHARD, message));
        }
        self.run_share(Some(shard), session)
    }

    fn run_share(&self, shard: Option<Shard>, session: &Session) -> Result<TrainingReport> {
        let started = Instant::now();
        self.check_output()?;
        self.check(session)?;
        let evaluation = EvaluationConfig::default();
        let (mut trained, measured) = self.train_and_measure(shard, &evaluation, session)?;
        let stage = Instant::now();
        let model_bytes = self.save(&trained, measured.as_ref(), session)?;
        trained.seconds.stages.end("saving", stage);
        trained.seconds.total = started.elapsed().as_secs_f64();
        trained.work.remove()?;
        let details = trained.predictor.details();
        Ok(TrainingReport {
            model: self.output.clone(),
            system: details.system.clone(),
            num_documents: details.num_documents,
            num_without_labels: trained.num_without_labels,
            num_labels: details.num_labels,
            facts: trained.facts,
            model_bytes,
            seconds: trained.seconds,
            cpu_seconds: resources::cpu_seconds(),
            peak_memory_bytes: resources::peak_memory_bytes(),
            metrics: measured,
        })
    }

    /// As [`run`](Self::run), together with the other processes of the [group](ranks::group) that this one
    /// is in. The first of them measures and saves; the others leave nothing and have nothing to tell.
    pub fn run_together(&self, session: &Session) -> Result<Option<TrainingReport>> {
        let place = ranks::group().map_or(Shard::WHOLE, ranks::Ranks::place);
        if !self.settings.config()?.trains_together() {
            let message = format!(
                "{} is not trained by several processes together; pieces of a model may be trained apart",
                self.settings.system()
            );
            return Err(Error::usage(message));
        }
        if place.index() == 0 {
            return self.run(session).map(Some);
        }
        let mut name = self.output.file_name().unwrap_or_default().to_owned();
        name.push(format!(".rank-{}", place.index()));
        let follower = Self {
            output: self.output.with_file_name(name),
            resumes: false,
            ..self.clone()
        };
        let left = WorkFolder::path_for(&follower.output);
        if left.exists() {
            fs_err::remove_dir_all(&left).map_err(Error::write(&left))?;
        }
        follower.check(session)?;
        let trained = follower.train(None, session)?;
        trained.work.remove()?;
        Ok(None)
    }

    /// Trains and measures to see how good the settings are. The model is forgotten, unless `keep`
    /// gives a place for one with these metrics.
    pub fn try_out(
        &self,
        evaluation: &EvaluationConfig,
        session: &Session,
        keep: impl FnOnce(&Evaluation) -> Option<PathBuf>,
    ) -> Result<Option<MeasuredModel>> {
        let (trained, measured) = self.train_and_measure(None, evaluation, session)?;
        if let Some(output) = measured.as_ref().and_then(|model| keep(&model.evaluation)) {
            let kept = Self {
                output,
                replaces: true,
                ..self.clone()
            };
            kept.save(&trained, measured.as_ref(), session)?;
        }
        trained.work.remove()?;
        Ok(measured)
    }

    /// Trains, has `act` do something with the model, and saves it if it `keeps` it.
    pub(crate) fn train_and_use(
        &self,
        keeps: bool,
        session: &Session,
        act: &mut dyn FnMut(&Predictor) -> Result<()>,
    ) -> Result<()> {
        let trained = self.train(None, session)?;
        act(&trained.predictor)?;
        if keeps {
            self.save(&trained, None, session)?;
        }
        trained.work.remove()
    }

    /// From where an interrupted run is resumed, for messages.
    pub fn resume_point(&self) -> &'static str {
        let system = self.settings.config();
        system.map_or("the beginning", |system| system.resume_point())
    }

    /// Refuses to replace a model, or what an interrupted run has finished, unless told to.
    pub(crate) fn check_output(&self) -> Result<()> {
        ModelWriter::check_target(&self.output, self.replaces)?;
        if self.replaces || self.resumes {
            return Ok(());
        }
        WorkFolder::check_unused(&self.output)
    }

    /// Finds what is missing before hours are spent on the rest.
    pub fn check(&self, session: &Session) -> Result<()> {
        self.in_context(session, |system, run| system.check(run))
    }

    fn train_and_measure(
        &self,
        shard: Option<Shard>,
        evaluation: &EvaluationConfig,
        session: &Session,
    ) -> Result<(Unsaved, Option<MeasuredModel>)> {
        // Mistakes in the second corpus show before hours are spent on the first.
        let valid = self.valid.as_ref().map(Corpus::open).transpose()?;
        let mut trained = self.train(shard, session)?;
        let stage = Instant::now();
        let measured = match (valid, &self.valid) {
            (Some(reader), Some(corpus)) => {
                let run = EvaluationRun {
                    config: evaluation.clone(),
                    beam: None,
                    depth: None,
                    is_tuned: false,
                };
                Some(run.run(&trained.predictor, reader, &corpus.path, session)?)
            }
            _ => None,
        };
        trained.seconds.stages.end(EVALUATING, stage);
        Ok((trained, measured))
    }

    fn train(&self, shard: Option<Shard>, session: &Session) -> Result<Unsaved> {
        let vocabulary = self.vocabulary.as_ref();
        let mut documents = TrainingDocuments::open(&self.data, vocabulary, session.progress())?;
        documents.need_labels = self.settings.config()?.needs_labels();
        let mut stream = WithNames::new(&mut documents, self.learns_names);
        let Trained {
            ranker,
            labels,
            num_documents,
            num_features,
            takes_text,
            facts,
            work,
            stages,
        } = self
            .in_context(session, |system, run| match shard {
                None => system.train(&mut stream, run),
                Some(shard) => system.train_piece(shard, &mut stream, run),
            })
            .map_err(|error| in_file(error, &self.data.path))?;
        let (labels, num_documents) = stream.taken_out(labels, num_documents);
        let details = ModelDetails {
            system: self.settings.system().to_owned(),
            num_labels: labels.len() as u64,
            num_documents,
            num_features,
            takes_text,
            text_fields: self.data.text_fields(documents.format()),
        };
        Ok(Unsaved {
            shard,
            predictor: Predictor::from_parts(ranker, labels, details)
                .with_trained_on(std::mem::take(&mut documents.trained_on)),
            work,
            num_without_labels: documents.num_without_labels,
            facts,
            seconds: Seconds { stages, total: 0.0 },
        })
    }

    /// Has the system do something in the surroundings of this job.
    fn in_context<T>(
        &self,
        session: &Session,
        act: impl FnOnce(&dyn Trainable, &RunContext<'_>) -> Result<T>,
    ) -> Result<T> {
        let encoder_cache = folders::encoders();
        let run = RunContext {
            compute: self.device.into(),
            epoch_share: self.epoch_share,
            valid: self
                .valid
                .as_ref()
                .map(|corpus| corpus as &dyn DocumentSource),
            piece_cache: self.piece_cache.as_deref(),
            encoder_cache: encoder_cache.as_deref(),
            output: &self.output,
            resumes: self.resumes,
            progress: session.progress(),
        };
        act(self.settings.config()?.as_ref(), &run)
    }

    /// Writes the model folder and returns its size.
    fn save(
        &self,
        trained: &Unsaved,
        measured: Option<&MeasuredModel>,
        session: &Session,
    ) -> Result<u64> {
        session.progress().start("saving", None);
        self.write(trained, measured)
            .map_err(|error| about_model(error, &self.output))?;
        let model_bytes = size_of_model(&self.output)?;
        session
            .progress()
            .finish(&crate::figures::bytes(model_bytes));
        Ok(model_bytes)
    }

    /// Nothing of a folder depends on the time of day or on how long training took: equal training
    /// gives equal folders.
    fn write(&self, trained: &Unsaved, measured: Option<&MeasuredModel>) -> Result<()> {
        let writer = ModelWriter::create(&self.output, self.replaces)?;
        let predictor = &trained.predictor;
        predictor.ranker().save(&trained.work, &writer)?;
        save_label_space(predictor.labels(), &writer)?;
        if let Some(trained_on) = predictor.trained_on() {
            trained_on.save(&writer)?;
        }
        let evaluated_on = self.valid.as_ref().map(Corpus::shown_on_card);
        let evaluation = measured.map(|measured| {
            let evaluated_on = evaluated_on.as_deref().unwrap_or_default();
            (&measured.evaluation, evaluated_on)
        });
        if let Some((evaluation, _)) = evaluation {
            writer.write_json(METRICS_FILE, evaluation)?;
        }
        let details = predictor.details();
        ModelCard::new(details, evaluation).save(&writer)?;
        let Some(shard) = trained.shard else {
            return writer.finish(&details.system, details.to_json());
        };
        let piece = PieceDetails {
            shard,
            run: trained.work.fingerprint().to_owned(),
            model: details.clone(),
        };
        writer.finish(PIECE, piece.to_json())
    }
}
