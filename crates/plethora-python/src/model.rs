//! A trained model.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use numpy::{PyArray1, ToPyArray};
use plethora_core::artifact::{ModelCopy, ModelReader, ModelWriter};
use plethora_core::corpus::{CorpusReader, Document, Label};
use plethora_core::metrics::EvaluationConfig;
use plethora_core::{Error, NoProgress, Result, ScoredLabel};
use plethora_jobs::Session;
use plethora_jobs::evaluation::EvaluationRun;
use plethora_system::{Cutoff, Predictor, Selection, ShownExplanation};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::documents::{NAME, PyDocuments};
use crate::errors::{data_error, exception};
use crate::settings::compute;
use crate::watch::{lock, parse, watch, watch_json};

/// Rankings as arrays: where each document's begins, labels and scores, best first.
type Rankings<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f32>>,
);

/// What is said where tuned thresholds are asked for and there are none.
const NOT_TUNED: &str = "the model has no tuned thresholds; calibrate it with thresholds=";

/// How to rank, as Python writes it.
#[derive(Debug, Deserialize)]
struct RankRequest {
    top_k: Option<usize>,
    beam: Option<usize>,
    threshold: Option<f32>,
    /// Leave out labels below the model's tuned thresholds.
    tuned: bool,
    num_threads: usize,
}

/// How to measure, as Python writes it.
#[derive(Debug, Deserialize)]
struct EvaluationRequest {
    config: EvaluationConfig,
    beam: Option<usize>,
    num_threads: usize,
}

/// A model that ranks labels. One thread at a time uses it; its work takes several.
#[pyclass(name = "Model", module = "plethora._plethora", frozen)]
pub(crate) struct PyModel {
    predictor: Mutex<Predictor>,
    path: PathBuf,
}

#[pymethods]
impl PyModel {
    /// Opens a model folder.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, device: &str, dtype: &str) -> PyResult<Self> {
        let compute = compute(device, dtype)?;
        let predictor = py
            .detach(|| plethora::registry().open_on(&path, compute))
            .map_err(|error| exception(&error))?;
        Ok(Self {
            predictor: Mutex::new(predictor),
            path,
        })
    }

    /// The folder that was opened.
    #[getter]
    fn path(&self) -> &Path {
        &self.path
    }

    /// True if scores were made probabilities.
    fn is_calibrated(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(lock(py, &self.predictor)?.calibration().is_some())
    }

    /// Keys, names and numbers of training documents of the labels, in the order of their ids.
    fn labels(&self, py: Python<'_>) -> PyResult<(Vec<String>, Vec<String>, Vec<u32>)> {
        let predictor = lock(py, &self.predictor)?;
        let space = predictor.labels();
        let each = |part: fn(&Label) -> &String| space.labels().iter().map(part).cloned().collect();
        Ok((
            each(|label| &label.key),
            each(|label| &label.name),
            space.train_counts().to_vec(),
        ))
    }

    /// System and sizes, as JSON.
    fn details(&self, py: Python<'_>) -> PyResult<String> {
        Ok(lock(py, &self.predictor)?.details().to_json().to_string())
    }

    /// The best labels of each document.
    fn rank<'py>(
        &self,
        py: Python<'py>,
        documents: &PyDocuments,
        request: &str,
    ) -> PyResult<Rankings<'py>> {
        let request: RankRequest = parse(request)?;
        let list = documents.list();
        let mut guard = lock(py, &self.predictor)?;
        let predictor = &mut *guard;
        let (documents, request) = (list.documents(), &request);
        // Moved: networks may change hands, but two threads must not look at one.
        let (ends, ranked) = watch(py, request.num_threads, None, move |session| {
            rank(predictor, documents, request, session)
        })?;
        let labels: Vec<u32> = ranked.iter().map(|scored| scored.label.0).collect();
        let scores: Vec<f32> = ranked.iter().map(|scored| scored.score).collect();
        Ok((
            ends.to_pyarray(py),
            labels.to_pyarray(py),
            scores.to_pyarray(py),
        ))
    }

    /// All metrics on documents with labels, as JSON.
    #[pyo3(signature = (documents, request, listener=None))]
    fn evaluate(
        &self,
        py: Python<'_>,
        documents: &PyDocuments,
        request: &str,
        listener: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let request: EvaluationRequest = parse(request)?;
        let name = Path::new(NAME);
        let reader = CorpusReader::of_documents(name, documents.list());
        let run = EvaluationRun {
            config: request.config,
            beam: request.beam,
            depth: None,
            is_tuned: false,
        };
        let mut guard = lock(py, &self.predictor)?;
        let predictor = &mut *guard;
        watch_json(py, request.num_threads, listener, move |session| {
            run.run(predictor, reader, name, session)
        })
    }

    /// Why a label has its score for a text, as JSON.
    fn explain(
        &self,
        py: Python<'_>,
        text: &str,
        label: &str,
        num_threads: usize,
    ) -> PyResult<String> {
        let mut guard = lock(py, &self.predictor)?;
        let predictor = &mut *guard;
        let Some(id) = predictor.labels().id(label) else {
            return Err(data_error(format!("the model has no label {label:?}")));
        };
        watch_json(py, num_threads, None, move |_| {
            let found = predictor.explain(text, id)?;
            Ok(ShownExplanation::new(found, text, predictor.labels()))
        })
    }

    /// Copies the model to another folder, which appears when it is complete.
    fn copy_to(&self, py: Python<'_>, target: PathBuf, overwrite: bool) -> PyResult<()> {
        py.detach(|| copy(&self.path, &target, overwrite))
            .map_err(|error| exception(&error))
    }
}

/// Ranks batch by batch, so that Ctrl-C need not wait for all of them.
#[expect(clippy::needless_for_each, reason = "one line")]
fn rank(
    predictor: &Predictor,
    documents: &[Document],
    request: &RankRequest,
    session: &Session,
) -> Result<(Vec<i64>, Vec<ScoredLabel>)> {
    let tuned = match (request.tuned, predictor.label_thresholds()) {
        (true, None) => return Err(Error::data(NOT_TUNED)),
        (is_tuned, thresholds) => thresholds.filter(|_| is_tuned),
    };
    let tuned = tuned.map(|mut least| {
        // Where both are asked for, a label has to reach both.
        if let Some(threshold) = request.threshold {
            least
                .iter_mut()
                .for_each(|least| *least = least.max(threshold));
        }
        Cutoff::PerLabel(least.into())
    });
    let selection = Selection {
        top_k: request.top_k,
        cutoff: tuned.or_else(|| request.threshold.map(Cutoff::Score)),
    };
    let mut ends = vec![0];
    let mut ranked = Vec::new();
    for batch in documents.chunks(predictor.documents_per_batch()) {
        session.check_interrupt()?;
        for ranking in predictor.select(batch, &selection, request.beam)? {
            ranked.extend(ranking);
            ends.push(ranked.len() as i64);
        }
    }
    Ok((ends, ranked))
}

fn copy(path: &Path, target: &Path, overwrite: bool) -> Result<()> {
    let model = ModelReader::open(path)?;
    let writer = ModelWriter::create(target, overwrite)?;
    ModelCopy::default().run(&model, &writer, &NoProgress)?;
    let manifest = model.manifest();
    writer.finish(&manifest.kind, manifest.details.clone())
}
