//! Training from Python.

use std::path::PathBuf;

use plethora_jobs::folders;
use plethora_jobs::training::{Corpus, TrainingJob};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::documents::{NAME, PyDocuments};
use crate::settings::{Request, compute};
use crate::watch::{parse, watch_json};

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
    let run: Run = parse(run)?;
    let job = TrainingJob {
        data: Corpus::of_documents(NAME, documents.list()),
        valid: valid.map(|valid| Corpus::of_documents(VALIDATION_NAME, valid.list())),
        vocabulary: run.vocabulary,
        output: run.output,
        settings: parse::<Request>(request)?.resolve()?,
        device: compute(&run.device, "auto")?.device,
        piece_cache: folders::pieces(),
        epoch_share: 1.0,
        replaces: run.overwrite,
        resumes: run.resume,
    };
    watch_json(py, run.num_threads, listener, |session| job.run(session))
}
