//! Training from Python.

use std::path::PathBuf;

use plethora_train::folders;
use plethora_train::training::{Corpus, TrainingJob};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::documents::{NAME, PyDocuments};
use crate::errors::config_error;
use crate::settings::{self, Request};
use crate::watch::watch;

/// What messages call the validation documents.
const VALIDATION_NAME: &str = "valid";

/// Where and how to train, as Python writes it.
#[derive(Debug, Deserialize)]
struct Run {
    output: PathBuf,
    vocabulary: Option<PathBuf>,
    device: String,
    num_threads: usize,
    overwrite: bool,
    resume: bool,
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
    let run: Run = serde_json::from_str(run).map_err(|error| config_error(&error.to_string()))?;
    let job = TrainingJob {
        data: Corpus::of_documents(NAME, documents.list()),
        valid: valid.map(|valid| Corpus::of_documents(VALIDATION_NAME, valid.list())),
        vocabulary: run.vocabulary,
        output: run.output,
        config: Request::parse(request)?.resolve()?,
        device: settings::device(&run.device)?,
        piece_cache: folders::pieces(),
        epoch_share: 1.0,
        replaces: run.overwrite,
        resumes: run.resume,
    };
    let report = watch(py, run.num_threads, listener, |session| job.run(session))?;
    serde_json::to_string(&report).map_err(|error| config_error(&error.to_string()))
}
