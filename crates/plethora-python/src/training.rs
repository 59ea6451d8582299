//! Training from Python.

use std::path::PathBuf;

use plethora::registry;
use plethora_core::corpus::VocabularyFile;
use plethora_jobs::auto::AutoJob;
use plethora_jobs::folders;
use plethora_jobs::search::parse_budget;
use plethora_jobs::training::{Corpus, TrainingJob};
use plethora_system::settings::Settings;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::documents::{NAME, PyDocuments};
use crate::errors::config_error;
use crate::settings::{Request, compute};
use crate::watch::{parse, watch_json};

/// What messages call the validation documents.
const VALIDATION_NAME: &str = "valid";

/// Where and how to train, as Python writes it.
#[derive(Debug, Deserialize)]
struct Run {
    output: PathBuf,
    vocabulary: Option<VocabularyFile>,
    device: String,
    num_threads: usize,
    learn_names: bool,
    /// Columns of a table that texts come from; the model remembers them.
    text_fields: Vec<String>,
    overwrite: bool,
    resume: bool,
}

/// What to choose members by, as Python writes it.
#[derive(Debug, Deserialize)]
struct AutoRequest {
    budget: Option<String>,
    objective: String,
    seed: u64,
    encoder: Option<String>,
    vectors: Option<PathBuf>,
}

impl Run {
    fn job(
        self,
        settings: Settings,
        documents: &PyDocuments,
        valid: Option<&PyDocuments>,
    ) -> PyResult<TrainingJob> {
        let mut data = Corpus::of_documents(NAME, documents.list());
        data.options.text_fields = self.text_fields;
        Ok(TrainingJob {
            data,
            valid: valid.map(|valid| Corpus::of_documents(VALIDATION_NAME, valid.list())),
            vocabulary: self.vocabulary,
            output: self.output,
            settings,
            device: compute(&self.device, "auto")?.device,
            piece_cache: folders::pieces(),
            learns_names: self.learn_names,
            epoch_share: 1.0,
            replaces: self.overwrite,
            resumes: self.resume,
        })
    }
}

/// Trains the best model that a budget allows, and returns what came out as JSON.
#[pyfunction]
#[pyo3(signature = (request, run, documents, valid=None, listener=None))]
pub(crate) fn train_auto(
    py: Python<'_>,
    request: &str,
    run: &str,
    documents: &PyDocuments,
    valid: Option<&PyDocuments>,
    listener: Option<Py<PyAny>>,
) -> PyResult<String> {
    let run: Run = parse(run)?;
    let request: AutoRequest = parse(request)?;
    let refuse = |key: &str, message: String| config_error(&format!("{key}: {message}"));
    let budget = request.budget.as_deref().map(parse_budget).transpose();
    let objective = request.objective.parse();
    let num_threads = run.num_threads;
    let settings = registry().recipe(registry().default_system().name);
    let job = AutoJob {
        registry: registry(),
        training: run.job(
            settings.map_err(|message| config_error(&message))?,
            documents,
            valid,
        )?,
        budget: budget.map_err(|message| refuse("budget", message))?,
        objective: objective.map_err(|message| refuse("objective", message))?,
        seed: request.seed,
        encoder: request.encoder.into(),
        vectors: request.vectors,
    };
    watch_json(py, num_threads, listener, |session| {
        job.run(session, &|_| Ok(()))
    })
}

/// Trains on `documents` as `request` and `run` say, and returns what came out as JSON.
#[pyfunction]
#[pyo3(signature = (request, run, documents, valid=None, listener=None))]
pub(crate) fn train(
    py: Python<'_>,
    request: &str,
    run: &str,
    documents: &PyDocuments,
    valid: Option<&PyDocuments>,
    listener: Option<Py<PyAny>>,
) -> PyResult<String> {
    let run: Run = parse(run)?;
    let num_threads = run.num_threads;
    let job = run.job(parse::<Request>(request)?.resolve()?, documents, valid)?;
    watch_json(py, num_threads, listener, |session| job.run(session))
}
