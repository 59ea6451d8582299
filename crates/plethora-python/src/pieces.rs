//! Models that several processes train together, from Python.

use std::collections::HashMap;
use std::path::PathBuf;

use plethora::registry;
use plethora_core::corpus::VocabularyFile;
use plethora_jobs::merging::MergeJob;
use plethora_jobs::training::TrainingJob;
use plethora_system::Shard;
use plethora_system::ranks::{self, Rendezvous};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::dataset::DataRequest;
use crate::errors::{config_error, exception};
use crate::settings::{Request, compute};
use crate::watch::{parse, watch_json};

/// What to train a share of, as Python writes it.
#[derive(Debug, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "arguments of a function")]
struct PieceRequest {
    data: DataRequest,
    settings: Request,
    output: PathBuf,
    valid: Option<DataRequest>,
    /// As `0/3`; the whole model where absent.
    shard: Option<String>,
    /// Together with the other processes that this one has joined.
    together: bool,
    vocabulary: Option<VocabularyFile>,
    learn_names: bool,
    device: String,
    overwrite: bool,
    resume: bool,
    num_threads: usize,
}

/// Trains a model, or a piece of one, on the documents of files; returns what came out as JSON, `null` where
/// another process tells of it.
#[pyfunction]
#[pyo3(signature = (request, listener=None))]
pub(crate) fn train_piece(
    py: Python<'_>,
    request: &str,
    listener: Option<Py<PyAny>>,
) -> PyResult<String> {
    let request: PieceRequest = parse(request)?;
    let shard: Option<Shard> = (request.shard.as_deref().map(str::parse).transpose())
        .map_err(|message: &str| config_error(&format!("shard: {message}")))?;
    let job = TrainingJob {
        valid: request.valid.map(DataRequest::corpus).transpose()?,
        vocabulary: request.vocabulary,
        device: compute(&request.device, "auto")?.device,
        learns_names: request.learn_names,
        replaces: request.overwrite,
        resumes: request.resume,
        ..TrainingJob::new(
            request.data.corpus()?,
            request.settings.resolve()?,
            request.output,
        )
    };
    watch_json(py, request.num_threads, listener, |session| match shard {
        Some(shard) => job.run_piece(shard, session).map(Some),
        None if request.together => job.run_together(session),
        None => job.run(session).map(Some),
    })
}

/// Makes this process one of several that train together, as launchers have told it in variables.
#[pyfunction]
pub(crate) fn join_ranks(py: Python<'_>, variables: HashMap<String, String>) -> PyResult<()> {
    let joined = py.detach(|| {
        let rendezvous = Rendezvous::of_variables(|name| variables.get(name).cloned())?;
        ranks::join(&rendezvous)
    });
    joined.map_err(|error| exception(&error))
}

/// Makes a model of all its pieces; returns what came out as JSON.
#[pyfunction]
#[pyo3(signature = (pieces, output, overwrite, listener=None))]
pub(crate) fn merge(
    py: Python<'_>,
    pieces: Vec<PathBuf>,
    output: PathBuf,
    overwrite: bool,
    listener: Option<Py<PyAny>>,
) -> PyResult<String> {
    let job = MergeJob {
        registry: registry(),
        pieces,
        output,
        replaces: overwrite,
    };
    watch_json(py, 0, listener, |session| job.run(session))
}
