//! The training log of a run of several stages.

use std::path::Path;
use std::time::Instant;

use plethora_core::training_log::{LogRecord, TrainingLog};
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::train::TrainingJournal;

/// Writes the records of one stage after another into one log: steps and epochs go on.
pub(crate) struct Journal<'a> {
    folder: &'a Path,
    /// Opened with the first record, for only then is it known up to where the log holds: stages
    /// that are complete already come before the one that is resumed.
    log: Option<TrainingLog>,
    started: Instant,
    /// Steps and epochs of the stages that are done.
    steps_before: u64,
    epochs_before: f64,
    /// The step, over all stages, that the current one is resumed from.
    resumed_step: u64,
    /// Says which pass over all stages a value belongs to, where there are two, and which stage, likewise.
    pass: &'static str,
    prefix: String,
}

/// Where the stages that are done have left a log.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct LogPlace {
    steps: u64,
    /// Of the passes over documents, the bits.
    epochs: u64,
}

impl<'a> Journal<'a> {
    pub(crate) fn new(folder: &'a Path) -> Self {
        Self {
            folder,
            log: None,
            started: Instant::now(),
            steps_before: 0,
            epochs_before: 0.0,
            resumed_step: 0,
            pass: "",
            prefix: String::new(),
        }
    }

    /// Goes on behind stages of an earlier pass; the values of this one have `pass` before their names.
    pub(crate) fn behind(folder: &'a Path, place: LogPlace, pass: &'static str) -> Self {
        Self {
            steps_before: place.steps,
            epochs_before: f64::from_bits(place.epochs),
            pass,
            ..Self::new(folder)
        }
    }

    /// Where the stages that are done end.
    pub(crate) fn place(&self) -> LogPlace {
        LogPlace {
            steps: self.steps_before,
            epochs: self.epochs_before.to_bits(),
        }
    }

    /// A stage begins, whose values have this before their names.
    pub(crate) fn begin(&mut self, prefix: String) {
        self.prefix = prefix;
    }

    /// A stage is over, after so many steps and epochs of its own.
    pub(crate) fn end(&mut self, steps: u64, epochs: f64) {
        self.steps_before += steps;
        self.epochs_before += epochs;
    }

    fn open(&self) -> plethora_core::Result<TrainingLog> {
        match self.resumed_step {
            0 => TrainingLog::create(self.folder),
            step => TrainingLog::resume(self.folder, step),
        }
    }
}

impl TrainingJournal for Journal<'_> {
    fn resume_at(&mut self, step: u64) -> Result<()> {
        self.resumed_step = self.steps_before + step;
        Ok(())
    }

    fn record(&mut self, step: u64, epoch: f64, values: &[(&str, f64)]) -> Result<()> {
        let names: Vec<String> = values
            .iter()
            .map(|(name, _)| format!("{}{}{name}", self.pass, self.prefix))
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
        let mut log = match self.log.take() {
            Some(log) => log,
            None => self.open()?,
        };
        log.add(&record)?;
        self.log = Some(log);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(folder: &Path) -> Vec<u64> {
        let text = std::fs::read_to_string(folder.join("metrics.jsonl")).unwrap();
        let record = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
        text.lines()
            .map(|line| record(line)["step"].as_u64().unwrap())
            .collect()
    }

    #[test]
    fn a_run_resumed_in_its_second_stage_keeps_the_records_of_both() {
        let folder = tempfile::tempdir().unwrap();
        let record = |journal: &mut Journal<'_>, step| {
            journal.record(step, 1.0, &[("loss", 0.5)]).unwrap();
        };
        let mut killed = Journal::new(folder.path());
        killed.resume_at(0).unwrap();
        record(&mut killed, 10);
        killed.end(10, 1.0);
        killed.resume_at(0).unwrap();
        for step in [4, 8] {
            record(&mut killed, step);
        }
        assert_eq!(steps(folder.path()), [10, 14, 18]);

        // The first stage is complete, the second is resumed from its step 5.
        let mut resumed = Journal::new(folder.path());
        resumed.resume_at(10).unwrap();
        resumed.end(10, 1.0);
        resumed.resume_at(5).unwrap();
        record(&mut resumed, 9);
        assert_eq!(steps(folder.path()), [10, 14, 19]);
    }

    #[test]
    fn a_second_pass_goes_on_behind_the_first_under_names_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = Journal::new(folder.path());
        first.resume_at(0).unwrap();
        first.record(10, 1.0, &[("loss", 0.9)]).unwrap();
        first.end(10, 1.0);
        let place = serde_json::to_string(&first.place()).unwrap();
        drop(first);
        // From its start and, killed after it, from there once more.
        for _ in 0..2 {
            let place = serde_json::from_str(&place).unwrap();
            let mut second = Journal::behind(folder.path(), place, "all/");
            second.resume_at(0).unwrap();
            second.record(3, 0.5, &[("loss", 0.7)]).unwrap();
        }
        assert_eq!(steps(folder.path()), [10, 13]);
        let text = std::fs::read_to_string(folder.path().join("metrics.jsonl")).unwrap();
        let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!(
            (&last["all/loss"], &last["epoch"]),
            (&0.7.into(), &1.5.into())
        );
    }
}
