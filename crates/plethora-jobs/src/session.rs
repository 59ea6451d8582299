//! The surroundings of a job.

use std::sync::Arc;

use plethora_core::{Progress, Result};

use crate::corpus_reading::check_interrupt;

/// Progress that several parts of a run report to.
pub type SharedProgress = dyn Progress + Send;

/// Where a job reports to, and from where it learns that it should stop.
pub struct Session {
    progress: Arc<SharedProgress>,
}

impl Session {
    /// A session that reports to `progress`.
    pub fn new(progress: Arc<SharedProgress>) -> Self {
        Self { progress }
    }

    /// The same surroundings for a part of the work, which reports to what `wrap` makes of the
    /// progress.
    pub fn part(&self, wrap: impl FnOnce(Arc<SharedProgress>) -> Arc<SharedProgress>) -> Self {
        Self {
            progress: wrap(Arc::clone(&self.progress)),
        }
    }

    /// Where work reports to.
    pub fn progress(&self) -> &dyn Progress {
        self.progress.as_ref()
    }

    /// Fails once the user asked to stop.
    pub fn check_interrupt(&self) -> Result<()> {
        check_interrupt(self.progress.as_ref())
    }
}
