//! Systems with settings, ready to be trained.

use std::fmt;
use std::path::Path;
use std::time::Instant;

use plethora_core::artifact::WorkFolder;
use plethora_core::corpus::{Document, Label, LabelSpace};
use plethora_core::{Argument, Error, Message, Progress, Result};
use serde_json::{Map, Value};

use crate::{Compute, Estimate, Ranker, Shard, TrainingSize};

/// A system with its settings, which were checked.
pub trait Trainable: Send + Sync + fmt::Debug {
    /// Finds what is missing (devices, files) before hours are spent on the rest.
    fn check(&self, run: &RunContext<'_>) -> Result<()>;

    /// What training will cost, roughly.
    fn estimate(&self, size: &TrainingSize) -> Estimate;

    /// Reads the documents and trains, or resumes an interrupted run.
    fn train(&self, documents: &mut dyn DocumentStream, run: &RunContext<'_>) -> Result<Trained>;

    /// Reads all documents and trains one share of what can be trained apart, to a model that knows this
    /// share alone. All shares leave equal files but for those that the share names, so that
    /// together they are the files that [`train`](Self::train) leaves, to the last byte.
    ///
    /// # Errors
    /// [`Error::Config`] for systems that cannot be divided.
    fn train_piece(
        &self,
        _shard: Shard,
        _documents: &mut dyn DocumentStream,
        _run: &RunContext<'_>,
    ) -> Result<Trained> {
        let message = "this system cannot be divided; train it as a whole";
        Err(Error::config(Argument::SHARD, message))
    }

    /// True for systems that several processes train together, each step by step with the others of its
    /// [group](crate::ranks::group).
    fn trains_together(&self) -> bool {
        false
    }

    /// From where an interrupted run is resumed, for messages: `the last complete tree`.
    fn resume_point(&self) -> &'static str;

    /// False for systems that make a model of names alone, where no document has labels.
    fn needs_labels(&self) -> bool {
        true
    }

    /// What a search can give less of to a trial that is only a first impression.
    fn effort(&self) -> Effort {
        Effort::Documents
    }
}

/// What the effort of training grows with, and can be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Training documents.
    Documents,
    /// Epochs, of which the settings name so many, or leave the number to the data.
    Epochs(Option<usize>),
}

/// Documents, one after the other.
pub trait DocumentStream {
    /// The next document; none at the end. Once it has given the last one, users have been told what
    /// was decided for them while reading.
    fn next_document(&mut self) -> Result<Option<Document>>;

    /// How many there may be at most, where somebody said so.
    fn limit(&self) -> Option<u64>;

    /// Names of labels, from a vocabulary or from the corpus itself; complete at the end.
    fn labels(&self) -> &[Label];

    /// Features that documents have, where they come as features and the corpus says how many.
    fn num_features(&self) -> Option<usize>;
}

/// A corpus that can be read more than once.
pub trait DocumentSource: Sync {
    /// Starts from the beginning.
    fn open(&self) -> Result<Box<dyn DocumentStream + '_>>;

    /// Where the documents are, for messages.
    fn path(&self) -> &Path;
}

/// The surroundings of a training run.
pub struct RunContext<'a> {
    /// Where and with which numbers to compute.
    pub compute: Compute,
    /// Share of the epochs to train for; 1 unless a search tries settings out briefly.
    pub epoch_share: f64,
    /// Documents to choose weights by, where some are given.
    pub valid: Option<&'a dyn DocumentSource>,
    /// Where texts cut into pieces are cached for later runs.
    pub piece_cache: Option<&'a Path>,
    /// Where pretrained encoders that are named, not given as folders, are looked for.
    pub encoder_cache: Option<&'a Path>,
    /// The model that is going to be.
    pub output: &'a Path,
    /// Whether an interrupted run is resumed.
    pub resumes: bool,
    /// Where to report, and from where to learn that the user wants to stop.
    pub progress: &'a dyn Progress,
}

impl RunContext<'_> {
    /// The folder for what is complete before the model is. `fingerprint` says which data, settings
    /// and seed a run has, so that only an equal one resumes it.
    pub fn open_work(&self, fingerprint: &str, resume_point: &str) -> Result<WorkFolder> {
        let was_there = WorkFolder::path_for(self.output).exists();
        let work = WorkFolder::open(self.output, fingerprint, self.resumes)?;
        match (self.resumes, was_there) {
            (true, true) => {
                self.progress.start("resuming", None);
                self.progress.finish(&format!("from {resume_point}"));
            }
            (true, false) => {
                let warning = "there is no interrupted run to resume; starting from the beginning";
                self.progress.warn(&warning.into());
            }
            (false, true) => {
                let warning = Message::new("starting anew; ")
                    .hint(Argument::RESUME.on())
                    .text(" would have resumed the interrupted run");
                self.progress.warn(&warning);
            }
            (false, false) => {}
        }
        Ok(work)
    }

    /// Fails once the user asked to stop.
    pub fn check_interrupt(&self) -> Result<()> {
        if self.progress.is_cancelled() {
            Err(Error::Interrupted)
        } else {
            Ok(())
        }
    }
}

/// A model between training and saving; the training documents are forgotten.
pub struct Trained {
    /// The trained part.
    pub ranker: Box<dyn Ranker>,
    /// The labels that training documents have.
    pub labels: LabelSpace,
    /// Documents that it learned from.
    pub num_documents: u64,
    /// What it tells apart in documents: features, words or pieces.
    pub num_features: u64,
    /// True if documents are texts, false if they come as features.
    pub takes_text: bool,
    /// What else is worth telling of its size.
    pub facts: Facts,
    /// Where training left its files; removed when the model is saved.
    pub work: WorkFolder,
    /// The stages so far.
    pub stages: Stages,
}

/// What a family tells of a model that it has trained: JSON for programs, lines for people.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Keys and values of the report, as `n_features`.
    pub values: Map<String, Value>,
    /// Names and values that people read, as `features` and `12,345`.
    pub lines: Vec<(&'static str, String)>,
}

/// Wall time of the stages of a run, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stages(Vec<(&'static str, f64)>);

impl Stages {
    /// Adds a stage that took so many seconds.
    pub fn add(&mut self, stage: &'static str, seconds: f64) {
        self.0.push((stage, seconds));
    }

    /// Adds a stage that began at `started` and is over.
    pub fn end(&mut self, stage: &'static str, started: Instant) {
        self.add(stage, started.elapsed().as_secs_f64());
    }

    /// The stages with their seconds.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.0.iter().copied()
    }
}
