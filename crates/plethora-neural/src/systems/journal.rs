//! The training log of a run of several stages.

use std::path::Path;
use std::time::Instant;

use plethora_core::training_log::{LogRecord, TrainingLog};

use crate::Result;
use crate::train::TrainingJournal;

/// Writes the records of one stage after another into one log: steps and epochs go on.
pub(crate) struct Journal<'a> {
    folder: &'a Path,
    log: Option<TrainingLog>,
    started: Instant,
    /// Steps and epochs of the stages that are done.
    steps_before: u64,
    epochs_before: f64,
    /// Says which level a value belongs to, where there are several.
    prefix: String,
}

impl<'a> Journal<'a> {
    pub(crate) fn new(folder: &'a Path) -> Self {
        Self {
            folder,
            log: None,
            started: Instant::now(),
            steps_before: 0,
            epochs_before: 0.0,
            prefix: String::new(),
        }
    }

    /// Begins a stage after stages of so many steps and epochs in all.
    pub(crate) fn begin(&mut self, prefix: String, steps: u64, epochs: f64) {
        self.prefix = prefix;
        self.steps_before += steps;
        self.epochs_before += epochs;
    }
}

impl TrainingJournal for Journal<'_> {
    fn resume_at(&mut self, step: u64) -> Result<()> {
        if self.log.is_none() {
            let step = self.steps_before + step;
            self.log = Some(if step == 0 {
                TrainingLog::create(self.folder)?
            } else {
                TrainingLog::resume(self.folder, step)?
            });
        }
        Ok(())
    }

    fn record(&mut self, step: u64, epoch: f64, values: &[(&str, f64)]) -> Result<()> {
        self.resume_at(0)?;
        let names: Vec<String> = values
            .iter()
            .map(|(name, _)| format!("{}{name}", self.prefix))
            .collect();
        let values: Vec<(&str, f64)> = names
            .iter()
            .map(String::as_str)
            .zip(values.iter().map(|&(_, value)| value))
            .collect();
        let record = LogRecord {
            step: self.steps_before + step,
            epoch: self.epochs_before + epoch,
            seconds: self.started.elapsed().as_secs_f64(),
            values: &values,
        };
        if let Some(log) = &mut self.log {
            log.add(&record)?;
        }
        Ok(())
    }
}
