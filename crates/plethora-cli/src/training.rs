//! From a corpus to a model folder, in stages that can be gone on with.

use std::path::{Path, PathBuf};
use std::time::Instant;

use plethora_core::artifact::{Check, ModelReader, ModelWriter, WorkFolder};
use plethora_core::corpus::{CorpusReader, Format, Label, LabelSpace, ReadOptions};
use plethora_core::metrics::EvaluationConfig;
use plethora_core::{Error, Result, SparseMatrix};
use plethora_linear::{
    LinearConfig, LinearModel, LinearTrainer, ModelParts, StageTimes, TrainingSet,
    TrainingSetBuilder,
};
use plethora_predict::{Predictor, System};
use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::data_args::{in_file, no_labels, shown, tell_warnings, vocabulary};
use crate::evaluation::{EvaluationRun, MeasuredModel};
use crate::resources;
use crate::session::Session;

/// Documents between two signs of life.
const DOCUMENTS_PER_STEP: u64 = 256;

/// A corpus and how to read it.
#[derive(Debug, Clone)]
pub(crate) struct Corpus {
    pub(crate) path: PathBuf,
    pub(crate) options: ReadOptions,
}

impl Corpus {
    /// Opens the corpus.
    pub(crate) fn open(&self) -> Result<CorpusReader> {
        CorpusReader::open(&self.path, &self.options)
    }

    /// The fields that texts come from: those named, or those of the format.
    fn text_fields(&self, format: Format) -> Vec<String> {
        match self.options.text_fields.as_slice() {
            [] => format
                .text_fields()
                .iter()
                .map(ToString::to_string)
                .collect(),
            named => named.to_vec(),
        }
    }
}

/// What to train and where to put it.
#[derive(Debug, Clone)]
pub(crate) struct TrainingJob {
    pub(crate) data: Corpus,
    /// Documents to measure the model on.
    pub(crate) valid: Option<Corpus>,
    /// Names of the labels.
    pub(crate) vocabulary: Option<PathBuf>,
    pub(crate) output: PathBuf,
    pub(crate) config: LinearConfig,
    /// Replace a model that is there.
    pub(crate) replaces: bool,
    /// Go on with what an interrupted run left.
    pub(crate) resumes: bool,
}

/// What came out of a training run.
#[derive(Debug, Serialize)]
pub(crate) struct TrainingReport {
    pub(crate) model: PathBuf,
    pub(crate) system: String,
    #[serde(rename = "n_documents")]
    pub(crate) num_documents: u64,
    #[serde(rename = "n_documents_without_labels")]
    pub(crate) num_without_labels: u64,
    #[serde(rename = "n_labels")]
    pub(crate) num_labels: u64,
    #[serde(rename = "n_features")]
    pub(crate) num_features: u64,
    #[serde(rename = "n_feature_entries")]
    pub(crate) num_feature_entries: u64,
    pub(crate) model_bytes: u64,
    pub(crate) seconds: Seconds,
    pub(crate) cpu_seconds: f64,
    pub(crate) peak_memory_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metrics: Option<MeasuredModel>,
}

/// Wall time of the stages.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Seconds {
    pub(crate) reading: f64,
    /// Turning texts into features.
    pub(crate) features: f64,
    /// Summing documents to label features, and building trees.
    pub(crate) trees: f64,
    pub(crate) classifiers: f64,
    pub(crate) evaluating: f64,
    pub(crate) saving: f64,
    pub(crate) total: f64,
}

impl TrainingJob {
    /// Does everything; an error leaves no model, but what is complete for a run that resumes.
    pub(crate) fn run(&self, session: &Session) -> Result<TrainingReport> {
        let started = Instant::now();
        ModelWriter::check_target(&self.output, self.replaces)?;
        // Mistakes in the second corpus show before hours are spent on the first.
        let valid = self.valid.as_ref().map(Corpus::open).transpose()?;
        let (set, text_fields) = self.read(session)?;
        let features = set.features_s;
        let reading = started.elapsed().as_secs_f64() - features;
        let (work, times) = self.train(&set, session)?;
        let mut trained = Trained::new(set, &text_fields, &work, &self.config)?;
        let stage = Instant::now();
        if let (Some(reader), Some(corpus)) = (valid, &self.valid) {
            trained.measure(reader, &corpus.path, session)?;
        }
        let evaluating = stage.elapsed().as_secs_f64();
        let stage = Instant::now();
        session.progress().start("saving", None);
        let writer = ModelWriter::create(&self.output, self.replaces)?;
        let evaluated_on = self.valid.as_ref().map(evaluated_on).unwrap_or_default();
        trained
            .parts(&self.config, &evaluated_on)
            .save(&work, writer)
            .map_err(|error| self.name_model(error))?;
        work.remove()?;
        let model_bytes = size_of_model(&self.output)?;
        session
            .progress()
            .finish(&crate::figures::bytes(model_bytes));
        let seconds = Seconds {
            reading,
            features,
            trees: times.label_features_s + times.trees_s,
            classifiers: times.classifiers_s,
            evaluating,
            saving: stage.elapsed().as_secs_f64(),
            total: started.elapsed().as_secs_f64(),
        };
        Ok(trained.report(&self.output, model_bytes, seconds))
    }

    /// The training documents, and the fields that their texts came from.
    fn read(&self, session: &Session) -> Result<(TrainingSet, Vec<String>)> {
        let progress = session.progress();
        progress.start("reading", self.data.options.docs_limit);
        let mut reader = self.data.open()?;
        let labels = vocabulary(self.vocabulary.as_deref(), &reader)?;
        let mut builder = TrainingSetBuilder::new(self.config.text.clone())?;
        let mut num_documents = 0;
        let mut first_without_labels = None;
        while let Some(document) = reader.next().transpose()? {
            if document.labels.is_empty() {
                first_without_labels.get_or_insert(reader.line());
            }
            builder
                .add(document)
                .map_err(|error| in_file(error, &self.data.path))?;
            num_documents += 1;
            if num_documents % DOCUMENTS_PER_STEP == 0 {
                progress.advance(DOCUMENTS_PER_STEP);
                session.check_interrupt()?;
            }
        }
        if num_documents > 0 && builder.num_documents() == 0 {
            return Err(no_labels(&self.data.path, reader.format(), "to learn from"));
        }
        let set = builder
            .finish(&labels, reader.num_features())
            .map_err(|error| in_file(error, &self.data.path))?;
        tell_warnings(&reader);
        if let Some(path) = &self.vocabulary {
            warn_of_unnamed_labels(&set.space, &labels, path);
        }
        if let Some(line) = first_without_labels {
            tracing::warn!(
                "{}:{line}: no labels; documents without labels are left out: {}",
                shown(&self.data.path).display(),
                set.num_without_labels
            );
        }
        progress.finish(&format!(
            "{num_documents} documents, {} labels, {} features",
            set.space.len(),
            set.features.num_columns()
        ));
        Ok((set, self.data.text_fields(reader.format())))
    }

    fn train(&self, set: &TrainingSet, session: &Session) -> Result<(WorkFolder, StageTimes)> {
        let label_names = self.label_names(set)?;
        let trainer = LinearTrainer {
            features: &set.features,
            labels_of_documents: &set.labels_of_documents,
            space: &set.space,
            label_names: label_names.as_ref(),
            config: &self.config,
        };
        let was_there = WorkFolder::path_for(&self.output).exists();
        let work = WorkFolder::open(&self.output, &trainer.fingerprint()?, self.resumes)?;
        if was_there && !self.resumes {
            tracing::warn!("starting anew; --resume would have gone on with the interrupted run");
        } else if self.resumes && !was_there {
            tracing::warn!(
                "there is no interrupted run to go on with; starting from the beginning"
            );
        }
        let times = trainer.run(&work, session.progress())?;
        Ok((work, times))
    }

    /// A model is written under another name until it is complete, which users did not choose.
    fn name_model(&self, error: Error) -> Error {
        match error {
            Error::Write { source, .. } => Error::write(&self.output)(source),
            other => other,
        }
    }

    /// Features of the labels' own names, where these shall shape the trees.
    fn label_names(&self, set: &TrainingSet) -> Result<Option<SparseMatrix>> {
        if self.config.tree.label_text_weight <= 0.0 {
            return Ok(None);
        }
        let Some(tfidf) = &set.tfidf else {
            return Err(Error::config(
                "tree.label_text_weight",
                "must be 0 where documents come as features: names have none",
            ));
        };
        let texts: Vec<String> = set
            .space
            .labels()
            .iter()
            .map(|label| format!("{}\n{}", label.name, label.alternatives.join("\n")))
            .collect();
        Ok(Some(tfidf.transform(&texts)))
    }
}

/// A model between training and saving; the training documents are forgotten.
struct Trained {
    predictor: Predictor,
    num_without_labels: u64,
    num_feature_entries: u64,
    measured: Option<MeasuredModel>,
}

impl Trained {
    fn new(
        set: TrainingSet,
        text_fields: &[String],
        work: &WorkFolder,
        config: &LinearConfig,
    ) -> Result<Self> {
        let TrainingSet {
            features,
            labels_of_documents,
            space,
            tfidf,
            num_without_labels,
            features_s: _,
        } = set;
        let details = ModelParts {
            config,
            space: &space,
            tfidf: tfidf.as_ref(),
            text_fields,
            num_features: features.num_columns(),
            num_documents: labels_of_documents.num_rows() as u64,
            evaluation: None,
        }
        .details();
        let model =
            LinearModel::open_unsaved(work, config.clone(), features.num_columns(), space.len())?;
        Ok(Self {
            predictor: Predictor::from_parts(System::Linear(model), space, tfidf, details),
            num_without_labels,
            num_feature_entries: features.num_entries() as u64,
            measured: None,
        })
    }

    fn measure(&mut self, reader: CorpusReader, path: &Path, session: &Session) -> Result<()> {
        let run = EvaluationRun {
            config: EvaluationConfig::default(),
            beam: None,
            depth: None,
        };
        self.measured = Some(run.run(&self.predictor, reader, path, session)?);
        Ok(())
    }

    fn parts<'a>(&'a self, config: &'a LinearConfig, evaluated_on: &'a str) -> ModelParts<'a> {
        let details = self.predictor.details();
        ModelParts {
            config,
            space: self.predictor.labels(),
            tfidf: self.predictor.tfidf(),
            text_fields: &details.text_fields,
            num_features: details.num_features as usize,
            num_documents: details.num_documents,
            evaluation: self
                .measured
                .as_ref()
                .map(|measured| (&measured.evaluation, evaluated_on)),
        }
    }

    fn report(self, model: &Path, model_bytes: u64, seconds: Seconds) -> TrainingReport {
        let details = self.predictor.details();
        TrainingReport {
            model: model.to_owned(),
            system: details.system.clone(),
            num_documents: details.num_documents,
            num_without_labels: self.num_without_labels,
            num_labels: details.num_labels,
            num_features: details.num_features,
            num_feature_entries: self.num_feature_entries,
            model_bytes,
            seconds,
            cpu_seconds: resources::cpu_seconds(),
            peak_memory_bytes: resources::peak_memory_bytes(),
            metrics: self.measured,
        }
    }
}

/// A vocabulary of other labels, or with other keys, would go unnoticed until predictions are read.
fn warn_of_unnamed_labels(space: &LabelSpace, vocabulary: &[Label], path: &Path) {
    let known: FxHashSet<&str> = vocabulary.iter().map(|label| label.key.as_str()).collect();
    let is_unnamed = |label: &&Label| !known.contains(label.key.as_str());
    let num_unnamed = space.labels().iter().filter(is_unnamed).count();
    if num_unnamed > 0 {
        tracing::warn!(
            "{num_unnamed} of {} labels are not in {}; their keys serve as names",
            space.len(),
            path.display()
        );
    }
}

/// The corpus as the model card names it: without folders, which differ from machine to machine.
fn evaluated_on(corpus: &Corpus) -> String {
    let name = corpus
        .path
        .file_name()
        .map_or_else(|| "-".into(), |name| name.to_string_lossy());
    let filters: Vec<String> = corpus
        .options
        .filters
        .iter()
        .map(ToString::to_string)
        .collect();
    match filters.as_slice() {
        [] => name.into_owned(),
        filters => format!("{name} ({})", filters.join(", ")),
    }
}

/// Bytes of all files of a model.
pub(crate) fn size_of_model(path: &Path) -> Result<u64> {
    let folder = ModelReader::open_with(path, Check::Sizes)?;
    Ok(folder.manifest().files.values().map(|file| file.size).sum())
}
