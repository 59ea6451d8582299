//! A training run, whatever the system: what to train, and the way from corpus to model folder.

use std::path::{Path, PathBuf};
use std::time::Instant;

use plethora_core::artifact::{ModelWriter, WorkFolder};
use plethora_core::corpus::{CorpusReader, Document, Label, LabelSpace};
use plethora_core::metrics::{Evaluation, EvaluationConfig};
use plethora_core::{Error, Result};
use plethora_predict::Device;
use rustc_hash::FxHashSet;

use super::corpus::Corpus;
use super::family::Trained;
use super::report::{EVALUATING, TrainingReport, size_of_model};
use crate::Session;
use crate::corpus_reading::{in_file, no_labels, shown, tell_warnings, vocabulary};
use crate::evaluation::{EvaluationRun, MeasuredModel};
use crate::resources;
use crate::settings::SystemConfig;

/// Documents between two signs of life.
const DOCUMENTS_PER_STEP: u64 = 256;

/// What to train and where to put it.
#[derive(Debug, Clone)]
pub struct TrainingJob {
    /// Documents to learn from.
    pub data: Corpus,
    /// Documents to measure the model on; neural systems also choose their weights by them.
    pub valid: Option<Corpus>,
    /// Names of the labels.
    pub vocabulary: Option<PathBuf>,
    /// Folder for the model.
    pub output: PathBuf,
    /// Settings of the system.
    pub config: SystemConfig,
    /// Where neural systems compute.
    pub device: Device,
    /// Where texts cut into pieces are kept for runs to come.
    pub piece_cache: Option<PathBuf>,
    /// Share of the epochs that a neural system trains for; 1 unless a search tries it out briefly.
    pub epoch_share: f64,
    /// Replace a model that is there.
    pub replaces: bool,
    /// Go on with what an interrupted run left.
    pub resumes: bool,
}

/// A training corpus that was read to its end.
pub(super) struct ReadCorpus {
    pub(super) reader: CorpusReader,
    /// Names of labels, from a vocabulary or from the corpus.
    pub(super) labels: Vec<Label>,
    pub(super) num_documents: u64,
    first_without_labels: Option<u64>,
}

impl TrainingJob {
    /// Does everything; an error leaves no model, but what is complete for a run that resumes.
    pub fn run(&self, session: &Session) -> Result<TrainingReport> {
        let started = Instant::now();
        ModelWriter::check_target(&self.output, self.replaces)?;
        self.check()?;
        let evaluation = EvaluationConfig::default();
        let (mut trained, measured) = self.train_and_measure(&evaluation, session)?;
        let stage = Instant::now();
        let model_bytes = self.save(&trained, measured.as_ref(), session)?;
        trained.seconds.add("saving", stage.elapsed().as_secs_f64());
        trained.seconds.total = started.elapsed().as_secs_f64();
        trained.work.remove()?;
        let details = trained.predictor.details();
        Ok(TrainingReport {
            model: self.output.clone(),
            system: details.system.clone(),
            num_documents: details.num_documents,
            num_without_labels: trained.num_without_labels,
            num_labels: details.num_labels,
            size: trained.size,
            model_bytes,
            seconds: trained.seconds,
            cpu_seconds: resources::cpu_seconds(),
            peak_memory_bytes: resources::peak_memory_bytes(),
            metrics: measured,
        })
    }

    /// Trains and measures to see how good the settings are. The model is forgotten, unless `keep`
    /// gives a place for one with these metrics.
    pub fn try_out(
        &self,
        evaluation: &EvaluationConfig,
        session: &Session,
        keep: impl FnOnce(&Evaluation) -> Option<PathBuf>,
    ) -> Result<Option<MeasuredModel>> {
        let (trained, measured) = self.train_and_measure(evaluation, session)?;
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

    /// Finds what is missing before hours are spent on the rest.
    pub fn check(&self) -> Result<()> {
        self.config.family().check(self)
    }

    fn train_and_measure(
        &self,
        evaluation: &EvaluationConfig,
        session: &Session,
    ) -> Result<(Trained, Option<MeasuredModel>)> {
        // Mistakes in the second corpus show before hours are spent on the first.
        let valid = self.valid.as_ref().map(Corpus::open).transpose()?;
        let mut trained = self.config.family().train(self, session)?;
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
        let evaluating = stage.elapsed().as_secs_f64();
        trained.seconds.add(EVALUATING, evaluating);
        Ok((trained, measured))
    }

    /// Hands the training documents to `add`, which fails with [`Error::Data`] for what it cannot
    /// use.
    pub(super) fn read(
        &self,
        session: &Session,
        mut add: impl FnMut(Document) -> Result<()>,
    ) -> Result<ReadCorpus> {
        let mut reader = self.data.open()?;
        let labels = vocabulary(self.vocabulary.as_deref(), &reader)?;
        let mut num_documents = 0;
        let mut num_with_labels = 0_u64;
        let mut first_without_labels = None;
        while let Some(document) = reader.next().transpose()? {
            if document.labels.is_empty() {
                first_without_labels.get_or_insert(reader.line());
            } else {
                num_with_labels += 1;
            }
            add(document).map_err(|error| in_file(error, &self.data.path))?;
            num_documents += 1;
            if num_documents % DOCUMENTS_PER_STEP == 0 {
                session.progress().advance(DOCUMENTS_PER_STEP);
                session.check_interrupt()?;
            }
        }
        if num_documents > 0 && num_with_labels == 0 {
            return Err(no_labels(&self.data.path, reader.format(), "to learn from"));
        }
        Ok(ReadCorpus {
            reader,
            labels,
            num_documents,
            first_without_labels,
        })
    }

    /// Says what was decided for the user while reading, once nothing can go wrong with it.
    pub(super) fn tell(&self, read: &ReadCorpus, space: &LabelSpace, num_without_labels: u64) {
        tell_warnings(&read.reader);
        if let Some(path) = &self.vocabulary {
            warn_of_unnamed_labels(space, &read.labels, path);
        }
        if let Some(line) = read.first_without_labels {
            tracing::warn!(
                "{}:{line}: no labels; documents without labels are left out: {num_without_labels}",
                shown(&self.data.path).display(),
            );
        }
    }

    /// The folder for what is complete before the model is.
    pub(super) fn open_work(&self, fingerprint: &str, session: &Session) -> Result<WorkFolder> {
        let was_there = WorkFolder::path_for(&self.output).exists();
        let work = WorkFolder::open(&self.output, fingerprint, self.resumes)?;
        match (self.resumes, was_there) {
            (true, true) => {
                session.progress().start("resuming", None);
                let point = self.config.resume_point();
                session.progress().finish(&format!("going on from {point}"));
            }
            (true, false) => tracing::warn!(
                "there is no interrupted run to go on with; starting from the beginning"
            ),
            (false, true) => {
                tracing::warn!(
                    "starting anew; --resume would have gone on with the interrupted run"
                );
            }
            (false, false) => {}
        }
        Ok(work)
    }

    /// Writes the model folder and returns its size.
    fn save(
        &self,
        trained: &Trained,
        measured: Option<&MeasuredModel>,
        session: &Session,
    ) -> Result<u64> {
        session.progress().start("saving", None);
        let writer = ModelWriter::create(&self.output, self.replaces)?;
        let evaluated_on = self.valid.as_ref().map(Corpus::shown_on_card);
        let evaluation = measured.map(|measured| {
            let evaluated_on = evaluated_on.as_deref().unwrap_or_default();
            (&measured.evaluation, evaluated_on)
        });
        (self.config.family())
            .save(trained, evaluation, writer)
            .map_err(|error| self.name_model(error))?;
        let model_bytes = size_of_model(&self.output)?;
        session
            .progress()
            .finish(&crate::figures::bytes(model_bytes));
        Ok(model_bytes)
    }

    /// A model is written under another name until it is complete, which users did not choose.
    fn name_model(&self, error: Error) -> Error {
        match error {
            Error::Write { source, .. } => Error::write(&self.output)(source),
            other => other,
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
