//! The surroundings of a job.

use plethora_core::{Error, Progress, Result};

/// Where a job reports to, and from where it learns that it should stop.
pub struct Session {
    progress: Box<dyn Progress>,
}

impl Session {
    /// A session that reports to `progress`.
    pub fn new(progress: Box<dyn Progress>) -> Self {
        Self { progress }
    }

    /// Where work reports to.
    pub fn progress(&self) -> &dyn Progress {
        self.progress.as_ref()
    }

    /// Fails once the user asked to stop.
    pub fn check_interrupt(&self) -> Result<()> {
        if self.progress.is_cancelled() {
            Err(Error::Interrupted)
        } else {
            Ok(())
        }
    }
}
