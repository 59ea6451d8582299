//! Extreme multi-label text classification: raw texts and label names in, ranked label names out.
//!
//! This crate is what a Rust program depends on. [`registry`] has all systems, [`TrainingJob`] trains
//! one of them, [`Predictor`] ranks and explains with what came out of it. With the feature `torch` the
//! neural systems are among them, which need libtorch.
//!
//! ```
//! use std::sync::Arc;
//!
//! use plethora::corpus::{Content, Document, DocumentList};
//! use plethora::{Corpus, NoProgress, RankOptions, Session, TrainingJob, registry};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let model = folder.path().join("model");
//! let document = |id: &str, text: &str, label: &str| Document {
//!     id: id.into(),
//!     content: Content::Text(text.into()),
//!     labels: vec![label.into()],
//! };
//! let documents = vec![
//!     document("1", "tides and harbours of the sea", "Sea"),
//!     document("2", "harbours, ships and tides", "Sea"),
//!     document("3", "bees, honey and hives", "Bees"),
//!     document("4", "honey from the hives of bees", "Bees"),
//! ];
//! let job = TrainingJob::new(
//!     Corpus::of_documents("books", DocumentList::new(documents, None)),
//!     registry().recipe("parabel")?,
//!     &model,
//! );
//! job.run(&Session::new(Arc::new(NoProgress)))?;
//!
//! let predictor = registry().open(&model)?;
//! let new = document("5", "a harbour and its tides", "");
//! let best = predictor.rank(&[new], RankOptions { top_k: 1, beam: None })?[0][0];
//! assert_eq!(predictor.labels().label(best.label).name, "Sea");
//! # Ok(())
//! # }
//! ```

mod registry;

pub use plethora_core::{
    Error, LabelId, NoProgress, Progress, Result, ScoredLabel, artifact, calibration, corpus,
    metrics,
};
pub use plethora_jobs::calibration::{CalibratedModel, CalibrationJob};
pub use plethora_jobs::training::{Corpus, TrainingJob, TrainingReport};
pub use plethora_jobs::{
    ModelOpening, Session, SharedProgress, check, ensembles, evaluation, explanation, report,
};
pub use plethora_system::{
    Combination, Compute, Device, DocumentSource, DocumentStream, Effort, EnsembleConfig,
    EnsembleParts, Estimate, Explanation, Facts, Family, Method, OpenParts, Precision, Predictor,
    Preset, RankOptions, Ranker, Rankings, Registry, RunContext, ScoreKind, ShownExplanation,
    SpanWeight, Stages, SystemSpec, TermContribution, Trainable, Trained, TrainingSize, settings,
};
pub use registry::{all_systems, prepare, registry, set_num_threads};
