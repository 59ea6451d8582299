//! The models of a server by their ids.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Instant;

use crate::metrics::Metrics;
use crate::model::{Opening, ServedModel, manifest_sha256};
use crate::queue::QueueLimits;
use crate::{Error, ModelSource, Result, ServeConfig};

/// All models, in the order in which they were named; the first answers where none is named.
#[derive(Debug)]
pub(crate) struct ServedModels {
    slots: Vec<Slot>,
    metrics: Metrics,
}

/// A place for the versions of a model, of which one answers.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) id: String,
    path: PathBuf,
    how: Opening,
    current: RwLock<Arc<ServedModel>>,
    failure: Mutex<Option<Failure>>,
}

/// A new version that could not be opened.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) message: String,
    /// Attempts so far, which come at growing intervals: the folder may be on its way.
    pub(crate) num_attempts: u32,
    pub(crate) last_attempt: Instant,
}

impl ServedModels {
    /// Opens all models.
    pub(crate) fn open(
        systems: &'static plethora_system::Registry,
        config: &ServeConfig,
        sources: &[ModelSource],
        metrics: &Metrics,
    ) -> Result<Self> {
        if sources.is_empty() {
            return Err(Error::config("MODEL", "expected at least one model"));
        }
        let how = Opening {
            systems,
            compute: config.compute,
            limits: QueueLimits::from(&config.limits),
        };
        let mut slots: Vec<Slot> = Vec::new();
        for source in sources {
            if slots.iter().any(|slot| slot.id == source.id) {
                let message = format!(
                    "two models have the id `{}`; name one as ID=PATH",
                    source.id
                );
                return Err(Error::config("MODEL", message));
            }
            slots.push(Slot::open(how, source, metrics)?);
        }
        Ok(Self {
            slots,
            metrics: metrics.clone(),
        })
    }

    /// All places.
    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The place with this id.
    pub(crate) fn slot(&self, id: &str) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.id == id)
    }

    /// The place that answers where none is named.
    pub(crate) fn first(&self) -> &Slot {
        &self.slots[0]
    }

    /// What is counted.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }
}

impl Slot {
    fn open(how: Opening, source: &ModelSource, metrics: &Metrics) -> Result<Self> {
        let metrics = metrics.model(&source.id);
        let model = ServedModel::open(&source.id, &source.path, how, metrics)?;
        Ok(Self {
            id: source.id.clone(),
            path: source.path.clone(),
            how,
            current: RwLock::new(Arc::new(model)),
            failure: Mutex::new(None),
        })
    }

    /// The version that answers now. Who has it keeps it until the answer is there.
    pub(crate) fn current(&self) -> Arc<ServedModel> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why the newest version does not answer, if it does not.
    pub(crate) fn failure(&self) -> Option<Failure> {
        let failure = self.failure.lock();
        failure.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Checksum of the manifest that is in the folder now.
    pub(crate) fn newest_sha256(&self) -> plethora_core::Result<String> {
        manifest_sha256(&self.path)
    }

    /// Opens what is in the folder now, beside the version that answers, and lets it answer.
    pub(crate) fn reload(&self, metrics: &Metrics) -> plethora_core::Result<()> {
        let metrics = metrics.model(&self.id);
        let model = ServedModel::open(&self.id, &self.path, self.how, metrics)?;
        let new = Arc::new(model);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *current, new);
        drop(current);
        drop(old);
        self.set_failure(None);
        Ok(())
    }

    /// Notes why the newest version does not answer, or that it does.
    pub(crate) fn set_failure(&self, failure: Option<Failure>) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }
}
