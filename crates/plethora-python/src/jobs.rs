//! What the command line's `check`, `search`, `eval --report`, `calibrate` and `ensemble` do, from
//! Python.

use std::path::PathBuf;

use plethora::registry;
use plethora_core::Error;
use plethora_core::calibration::{CalibrationConfig, Method, ThresholdScope};
use plethora_core::corpus::VocabularyFile;
use plethora_core::metrics::{BootstrapConfig, EvaluationConfig};
use plethora_jobs::ModelOpening;
use plethora_jobs::calibration::CalibrationJob;
use plethora_jobs::check::CheckJob;
use plethora_jobs::ensembles::EnsembleJob;
use plethora_jobs::evaluation::EvaluationRun;
use plethora_jobs::report::ReportRun;
use plethora_jobs::search::{
    Documents, Existing, Method as SearchMethod, SearchJob, SearchSpace, Step, TrialResult,
    TrialRunner, parse_budget, parse_range,
};
use plethora_jobs::training::{Corpus, TrainingJob};
use plethora_system::{Combination, Compute, ScoreKind};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::json;

use crate::dataset::DataRequest;
use crate::documents::{NAME, PyDocuments};
use crate::errors::{config_error, exception};
use crate::settings::{Request, compute};
use crate::watch::{parse, watch_json};

/// Where to compute, as Python writes it.
#[derive(Debug, Deserialize)]
struct Machine {
    device: String,
    dtype: String,
    num_threads: usize,
}

impl Machine {
    fn compute(&self) -> PyResult<Compute> {
        compute(&self.device, &self.dtype)
    }
}

/// The corpus of documents in memory, or of a file.
fn corpus(file: Option<DataRequest>, documents: Option<&PyDocuments>) -> PyResult<Option<Corpus>> {
    match documents {
        Some(documents) => Ok(Some(Corpus::of_documents(NAME, documents.list()))),
        None => file.map(DataRequest::corpus).transpose(),
    }
}

/// As [`corpus`], where there must be one.
fn needed(file: Option<DataRequest>, documents: Option<&PyDocuments>) -> PyResult<Corpus> {
    corpus(file, documents)?.ok_or_else(|| config_error("data: there is none"))
}

#[derive(Debug, Deserialize)]
struct CheckRequest {
    data: Option<DataRequest>,
    against: Option<DataRequest>,
    vocabulary: Option<VocabularyFile>,
    num_threads: usize,
}

/// What is in a corpus, what looks wrong, and what training will cost, as JSON.
#[pyfunction]
#[pyo3(signature = (request, listener=None, data=None, against=None))]
pub(crate) fn check(
    py: Python<'_>,
    request: &str,
    listener: Option<Py<PyAny>>,
    data: Option<&PyDocuments>,
    against: Option<&PyDocuments>,
) -> PyResult<String> {
    let request: CheckRequest = parse(request)?;
    let job = CheckJob {
        registry: registry(),
        data: needed(request.data, data)?,
        against: corpus(request.against, against)?,
        vocabulary: request.vocabulary,
    };
    watch_json(py, request.num_threads, listener, |session| {
        job.run(session)
    })
}

#[derive(Debug, Deserialize)]
struct ReportRequest {
    models: Vec<PathBuf>,
    data: Option<DataRequest>,
    output: PathBuf,
    overwrite: bool,
    config: EvaluationConfig,
    beam: Option<usize>,
    depth: Option<usize>,
    scores: ScoreKind,
    tuned: bool,
    bootstrap: BootstrapConfig,
    machine: Machine,
}

/// Measures models on the same documents, writes a report, and returns it as JSON.
#[pyfunction]
#[pyo3(signature = (request, listener=None, data=None))]
pub(crate) fn report(
    py: Python<'_>,
    request: &str,
    listener: Option<Py<PyAny>>,
    data: Option<&PyDocuments>,
) -> PyResult<String> {
    let request: ReportRequest = parse(request)?;
    let run = ReportRun {
        models: request.models,
        opening: ModelOpening {
            registry: registry(),
            compute: request.machine.compute()?,
            scores: request.scores,
            members: None,
        },
        data: needed(request.data, data)?,
        evaluation: EvaluationRun {
            config: request.config,
            beam: request.beam,
            depth: request.depth,
            is_tuned: request.tuned,
        },
        bootstrap: request.bootstrap,
    };
    let (output, replaces) = (request.output, request.overwrite);
    watch_json(py, request.machine.num_threads, listener, |session| {
        let (report, _) = run.write(&output, replaces, session)?;
        Ok(report)
    })
}

#[derive(Debug, Deserialize)]
struct CalibrationRequest {
    model: PathBuf,
    data: Option<DataRequest>,
    method: Method,
    by_frequency: bool,
    thresholds: Option<ThresholdScope>,
    depth: usize,
    output: Option<PathBuf>,
    overwrite: bool,
    machine: Machine,
}

/// Turns the scores of a model into probabilities, and returns what that has brought as JSON.
#[pyfunction]
#[pyo3(signature = (request, listener=None, data=None))]
pub(crate) fn calibrate(
    py: Python<'_>,
    request: &str,
    listener: Option<Py<PyAny>>,
    data: Option<&PyDocuments>,
) -> PyResult<String> {
    let request: CalibrationRequest = parse(request)?;
    let job = CalibrationJob {
        registry: registry(),
        model: request.model,
        data: needed(request.data, data)?,
        config: CalibrationConfig {
            method: request.method,
            by_frequency: request.by_frequency,
            thresholds: request.thresholds,
            depth: request.depth,
            ..CalibrationConfig::default()
        },
        compute: request.machine.compute()?,
        output: request.output,
        replaces: request.overwrite,
    };
    watch_json(py, request.machine.num_threads, listener, |session| {
        job.run(session)
    })
}

#[derive(Debug, Deserialize)]
struct SearchRequest {
    data: Option<DataRequest>,
    valid: Option<DataRequest>,
    valid_share: f64,
    vocabulary: Option<VocabularyFile>,
    output: PathBuf,
    settings: Request,
    /// As `solver.cost=log:0.1..10`.
    ranges: Vec<String>,
    method: SearchMethod,
    trials: usize,
    metric: String,
    budget: String,
    keep_model: bool,
    overwrite: bool,
    resume: bool,
    machine: Machine,
}

impl SearchRequest {
    fn job(self, data: Option<&PyDocuments>, valid: Option<&PyDocuments>) -> PyResult<SearchJob> {
        let settings = self.settings.resolve()?;
        let told = |error: Error| exception(&error);
        let ranges = self.ranges.iter().map(|text| parse_range(text, "ranges"));
        let ranges = ranges.collect::<Result<_, _>>().map_err(told)?;
        let data = needed(self.data, data)?;
        let valid = corpus(self.valid, valid)?;
        let share = self.valid_share;
        Ok(SearchJob {
            documents: Documents::new(data.clone(), valid.clone(), settings.seed(), share),
            space: SearchSpace::new(settings.clone(), ranges).map_err(told)?,
            effort: settings.config().map_err(told)?.effort(),
            method: self.method,
            num_trials: self.trials.max(1),
            metric: (self.metric.parse())
                .map_err(|message: String| config_error(&format!("metric: {message}")))?,
            budget: parse_budget(&self.budget)
                .map_err(|message| config_error(&format!("budget: {message}")))?,
            validation: match &valid {
                Some(_) => json!("valid"),
                None => json!({ "valid_share": share }),
            },
            keeps_model: self.keep_model,
            existing: match (self.resume, self.overwrite) {
                (true, _) => Existing::Resume,
                (_, true) => Existing::Replace,
                _ => Existing::Refuse,
            },
            training: TrainingJob {
                valid,
                vocabulary: self.vocabulary,
                device: self.machine.compute()?.device,
                ..TrainingJob::new(data, settings, &self.output)
            },
        })
    }
}

/// Searches settings that rank validation documents best, and returns what came out as JSON. A `runner`
/// has trials trained elsewhere.
#[pyfunction]
#[pyo3(signature = (request, listener=None, data=None, valid=None, runner=None))]
pub(crate) fn search(
    py: Python<'_>,
    request: &str,
    listener: Option<Py<PyAny>>,
    data: Option<&PyDocuments>,
    valid: Option<&PyDocuments>,
    runner: Option<Py<PyAny>>,
) -> PyResult<String> {
    let request: SearchRequest = parse(request)?;
    let num_threads = request.machine.num_threads;
    let job = request.job(data, valid)?;
    let runner = runner.map(PyTrialRunner);
    watch_json(py, num_threads, listener, |session| {
        let runner = runner.as_ref().map(|runner| runner as &dyn TrialRunner);
        let report = job.run_with(runner, session)?;
        Ok(json!(report.to_json(None)))
    })
}

/// Trains and measures one trial of a search, and returns its metrics as JSON.
#[pyfunction]
#[pyo3(signature = (request, trial, share, work, data=None, valid=None))]
pub(crate) fn search_trial(
    py: Python<'_>,
    request: &str,
    trial: usize,
    share: f64,
    work: PathBuf,
    data: Option<&PyDocuments>,
    valid: Option<&PyDocuments>,
) -> PyResult<String> {
    let request: SearchRequest = parse(request)?;
    let num_threads = request.machine.num_threads;
    let job = request.job(data, valid)?;
    watch_json(py, num_threads, None, |session| {
        job.run_trial(trial, share, work, session)
    })
}

/// An object of Python that has trials trained: its `begin` takes trials with their rungs and shares of the
/// effort, its `wait` gives what came of one as JSON.
struct PyTrialRunner(Py<PyAny>);

impl PyTrialRunner {
    fn told(error: &PyErr) -> Error {
        Error::Compute(format!("training trials elsewhere failed: {error}"))
    }
}

impl TrialRunner for PyTrialRunner {
    fn begin(&self, steps: &[(Step, f64)]) -> Result<(), Error> {
        let steps: Vec<(usize, usize, f64)> = (steps.iter())
            .map(|(step, share)| (step.trial, step.rung, *share))
            .collect();
        let begun = Python::attach(|py| self.0.call_method1(py, "begin", (steps,)).map(drop));
        begun.map_err(|error| Self::told(&error))
    }

    fn wait(&self, step: Step) -> Result<TrialResult, Error> {
        let text = Python::attach(|py| {
            let found = self.0.call_method1(py, "wait", (step.trial, step.rung))?;
            found.extract::<String>(py)
        });
        let text = text.map_err(|error| Self::told(&error))?;
        serde_json::from_str(&text).map_err(|error| Error::Compute(error.to_string()))
    }
}

#[derive(Debug, Deserialize)]
struct EnsembleRequest {
    models: Vec<PathBuf>,
    output: PathBuf,
    combination: Option<Combination>,
    fit: Option<DataRequest>,
    link: bool,
    weights: Vec<f64>,
    depth: usize,
    overwrite: bool,
    machine: Machine,
}

/// Combines trained models into one, and returns what came out as JSON.
#[pyfunction]
#[pyo3(signature = (request, listener=None, data=None))]
pub(crate) fn ensemble(
    py: Python<'_>,
    request: &str,
    listener: Option<Py<PyAny>>,
    data: Option<&PyDocuments>,
) -> PyResult<String> {
    let request: EnsembleRequest = parse(request)?;
    let job = EnsembleJob {
        registry: registry(),
        models: request.models,
        output: request.output,
        combination: request.combination,
        weights: request.weights,
        depth: request.depth,
        fit: corpus(request.fit, data)?,
        links: request.link,
        compute: request.machine.compute()?,
        replaces: request.overwrite,
    };
    watch_json(py, request.machine.num_threads, listener, |session| {
        job.run(session)
    })
}
