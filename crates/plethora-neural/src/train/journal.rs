//! Where a run writes down how it went.

use crate::Result;

/// Takes the figures of a run, step by step.
///
/// ```text
/// resume_at(0)                                     or the step of the checkpoint
///     record(50, 0.5, loss, learning_rate, documents_per_s)
///     record(100, 1.0, loss, learning_rate, documents_per_s)
///     record(100, 1.0, valid/nDCG@5, ...)
/// ```
pub trait TrainingJournal {
    /// The run goes on after so many steps: what an earlier run recorded of later ones does not
    /// count. Comes once, before all records; for a run that is complete already, with all its
    /// steps and without records.
    fn resume_at(&mut self, step: u64) -> Result<()>;

    /// Figures after so many steps and passes over the documents, by name.
    fn record(&mut self, step: u64, epoch: f64, values: &[(&str, f64)]) -> Result<()>;
}

/// Forgets everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoJournal;

impl TrainingJournal for NoJournal {
    fn resume_at(&mut self, _step: u64) -> Result<()> {
        Ok(())
    }

    fn record(&mut self, _step: u64, _epoch: f64, _values: &[(&str, f64)]) -> Result<()> {
        Ok(())
    }
}
