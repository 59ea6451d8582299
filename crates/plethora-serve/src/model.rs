//! One version of a model that is being served.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use plethora_core::artifact::{MANIFEST_FILE, ModelDetails, manifest_bytes};
use plethora_core::corpus::LabelSpace;
use plethora_core::{Error, Result};
use plethora_system::{Compute, Registry};
use sha2::{Digest, Sha256};

use crate::label_index::LabelIndex;
use crate::metrics::ModelMetrics;
use crate::queue::{Aside, Queue, QueueLimits, Worker};

/// What is known of a model without asking its threads, and the way to ask them. They end when the
/// last request lets go of it.
#[derive(Debug)]
pub(crate) struct ServedModel {
    pub(crate) details: ModelDetails,
    pub(crate) labels: Arc<LabelSpace>,
    pub(crate) is_calibrated: bool,
    /// The tuned threshold of each label.
    pub(crate) thresholds: Option<Arc<[f32]>>,
    /// Checksum of the manifest, which stands for all files.
    pub(crate) sha256: String,
    /// When it was opened, in seconds since 1970.
    pub(crate) loaded_at: u64,
    /// When the manifest was written, where the file system keeps that.
    pub(crate) saved_at: Option<SystemTime>,
    pub(crate) queue: Arc<Queue>,
    pub(crate) aside: Aside,
    index: OnceLock<LabelIndex>,
}

/// How versions of a model are opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening {
    /// The systems that models may be of.
    pub(crate) systems: &'static Registry,
    /// Where and with which numbers they compute.
    pub(crate) compute: Compute,
    pub(crate) limits: QueueLimits,
}

impl ServedModel {
    /// Opens the model at `path` and starts its threads.
    ///
    /// # Errors
    /// [`Error::Model`] if it cannot be opened, takes no texts, or is replaced meanwhile.
    pub(crate) fn open(id: &str, path: &Path, how: Opening, metrics: ModelMetrics) -> Result<Self> {
        let sha256 = manifest_sha256(path)?;
        let manifest = std::fs::metadata(path.join(MANIFEST_FILE));
        let predictor = how.systems.open_on(path, how.compute)?;
        if manifest_sha256(path)? != sha256 {
            return Err(Error::model(path, "was replaced while it was opened"));
        }
        if !predictor.details().takes_text {
            let message = "was trained on features, and requests have texts: it cannot be served";
            return Err(Error::model(path, message));
        }
        let no_thread = |error| Error::Compute(format!("cannot start a thread: {error}"));
        let predictor = Arc::new(predictor);
        let queue = Arc::new(Queue::new(how.limits, metrics.clone()));
        let aside = Aside::start(id, Arc::clone(&predictor), metrics.clone());
        let model = Self {
            details: predictor.details().clone(),
            labels: predictor.shared_labels(),
            is_calibrated: predictor.calibration().is_some(),
            thresholds: predictor.label_thresholds().map(Into::into),
            sha256,
            loaded_at: now_s(),
            saved_at: manifest.and_then(|manifest| manifest.modified()).ok(),
            queue: Arc::clone(&queue),
            aside: aside.map_err(no_thread)?,
            index: OnceLock::new(),
        };
        Worker::start(id, predictor, queue, metrics).map_err(no_thread)?;
        Ok(model)
    }

    /// The names of all labels, which the first to search writes down.
    pub(crate) fn index(&self) -> &LabelIndex {
        self.index.get_or_init(|| LabelIndex::new(&self.labels))
    }
}

impl Drop for ServedModel {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// Checksum of the manifest of a model folder.
pub(crate) fn manifest_sha256(folder: &Path) -> Result<String> {
    let bytes = manifest_bytes(folder)?;
    let digest = Sha256::digest(&bytes);
    Ok(digest.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string does not fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

/// Seconds since 1970.
pub(crate) fn now_s() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
    elapsed.map_or(0, |elapsed| elapsed.as_secs())
}
