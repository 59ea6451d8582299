//! The log of a training run.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;

use super::event_file::{EventFile, is_event_file};
use super::kept_log;
use super::metrics_file::{METRICS_FILE, MetricsFile};
use crate::{Error, Result};

/// What training knows at one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRecord<'a> {
    /// Updates of the weights so far.
    pub step: u64,
    /// Passes over the training documents so far, with fractions.
    pub epoch: f64,
    /// Time since training began.
    pub seconds: f64,
    /// Names as `TensorBoard` groups them, up to the slash (`loss`, `valid/nDCG@5`), and values; not
    /// `step`, `epoch` or `seconds`.
    pub values: &'a [(&'a str, f64)],
}

/// Writes `metrics.jsonl` and a `TensorBoard` event file, record by record.
///
/// A record is handed to the system before [`add`](Self::add) returns: a process that is killed
/// loses no record that was complete.
///
/// ```
/// use plethora_core::training_log::{LogRecord, TrainingLog};
///
/// # fn main() -> plethora_core::Result<()> {
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let folder = folder.path();
/// let mut log = TrainingLog::create(folder)?;
/// log.add(&LogRecord {
///     step: 100,
///     epoch: 0.5,
///     seconds: 12.5,
///     values: &[("loss", 0.0123), ("valid/nDCG@5", 0.767)],
/// })?;
/// # let line = std::fs::read_to_string(folder.join("metrics.jsonl")).expect("a log");
/// assert_eq!(
///     line,
///     r#"{"step":100,"epoch":0.5,"seconds":12.5,"loss":0.0123,"valid/nDCG@5":0.767}"#.to_owned() + "\n"
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TrainingLog {
    metrics: MetricsFile,
    events: EventFile,
}

impl TrainingLog {
    /// Starts a log in a folder that exists, in place of one that an earlier run left there.
    ///
    /// # Errors
    /// [`Error::Write`] or [`Error::Read`] where files cannot be made there.
    pub fn create(folder: &Path) -> Result<Self> {
        Ok(Self {
            metrics: MetricsFile::create(folder)?,
            events: EventFile::create(folder)?,
        })
    }

    /// Resumes the log of an interrupted run that continues after `step`. Later records are
    /// dropped, for they will be written again, and so is a torn one, with all that follows it.
    /// Without a log in the folder, one is started.
    ///
    /// # Errors
    /// [`Error::Write`] or [`Error::Read`] where the files cannot be opened.
    pub fn resume(folder: &Path, step: u64) -> Result<Self> {
        Ok(Self {
            metrics: MetricsFile::resume(folder, step)?,
            events: EventFile::resume(folder, step)?,
        })
    }

    /// Appends a record to both files. A value that is not finite is null in `metrics.jsonl` and
    /// itself in the event file.
    ///
    /// # Errors
    /// [`Error::Write`] where the disk is full or gone; what was written before stays good.
    pub fn add(&mut self, record: &LogRecord<'_>) -> Result<()> {
        self.metrics.add(record)?;
        self.events.add(record.step, record.values)
    }

    /// Copies the log of one folder, if it has one, into another, without the times in it: what a model keeps is
    /// equal after equal runs.
    ///
    /// # Errors
    /// [`Error::Write`] where the copy cannot be written.
    pub fn copy(from: &Path, to: &Path) -> Result<()> {
        kept_log::write(from, to)
    }

    /// The names of the files within the folder.
    pub fn file_names(&self) -> Vec<String> {
        vec![METRICS_FILE.to_owned(), self.events.name()]
    }
}

/// True for the name of a file of a log, in whichever folder. Logs lie in a model folder and are no part of the model;
/// those of earlier versions tell times, too.
pub fn is_log_file(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    name == METRICS_FILE || is_event_file(name)
}

/// Opens a file to write behind its first `length` bytes, and drops the rest.
pub(super) fn cut(path: &Path, length: u64) -> Result<File> {
    let open = || {
        let mut file = File::options().write(true).open(path)?;
        if file.metadata()?.len() > length {
            file.set_len(length)?;
        }
        file.seek(SeekFrom::End(0))?;
        Ok(file)
    };
    open().map_err(Error::write(path))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    fn record(step: u64) -> (u64, [(&'static str, f64); 2]) {
        let loss = 1.0 / (1.0 + step as f64);
        (step, [("loss", loss), ("valid/P@1", 0.5)])
    }

    fn add(log: &mut TrainingLog, steps: std::ops::Range<u64>) {
        for (step, values) in steps.map(record) {
            let record = LogRecord {
                step,
                epoch: step as f64 / 8.0,
                seconds: step as f64,
                values: &values,
            };
            log.add(&record).unwrap();
        }
    }

    /// Both files; of the events only the sizes, for they tell the time of day.
    fn content(log: &TrainingLog, folder: &Path) -> (String, u64) {
        let names = log.file_names();
        (
            fs::read_to_string(folder.join(&names[0])).unwrap(),
            fs::metadata(folder.join(&names[1])).unwrap().len(),
        )
    }

    #[test]
    fn a_resumed_log_equals_an_uninterrupted_one() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [whole, resumed] = folders.each_ref().map(tempfile::TempDir::path);
        let mut log = TrainingLog::create(whole).unwrap();
        add(&mut log, 0..20);
        let expected = content(&log, whole);
        let mut log = TrainingLog::create(resumed).unwrap();
        add(&mut log, 0..14);
        let names = log.file_names();
        drop(log);
        for name in &names {
            let mut file = File::options()
                .append(true)
                .open(resumed.join(name))
                .unwrap();
            file.write_all(b"{\"step\":3,\"ep").unwrap();
        }
        for (step, rest) in [(9, 10..20), (20, 20..20), (4, 5..12), (11, 12..20)] {
            let mut log = TrainingLog::resume(resumed, step).unwrap();
            add(&mut log, rest);
            assert_eq!(log.file_names(), names);
        }
        let log = TrainingLog::resume(resumed, 19).unwrap();
        assert_eq!(content(&log, resumed), expected);
    }

    #[test]
    fn resuming_without_a_log_starts_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = TrainingLog::resume(folder.path(), 7).unwrap();
        add(&mut log, 8..9);
        let (lines, _) = content(&log, folder.path());
        assert!(lines.starts_with("{\"step\":8,"));
        let events = folder.path().join(&log.file_names()[1]);
        fs::write(&events, "").unwrap();
        drop(TrainingLog::resume(folder.path(), 8).unwrap());
        assert!(
            fs::metadata(events).unwrap().len() > 0,
            "the version comes first"
        );
    }

    #[test]
    fn a_new_log_replaces_the_old_one_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let others = folder.path().join("events.out.tfevents.1.other");
        let ours = folder.path().join("events.out.tfevents.1.plethora");
        for path in [&others, &ours] {
            fs::write(path, "x").unwrap();
        }
        let mut log = TrainingLog::create(folder.path()).unwrap();
        add(&mut log, 0..3);
        assert!(others.exists() && !ours.exists());
        drop(log);
        let log = TrainingLog::create(folder.path()).unwrap();
        assert_eq!(content(&log, folder.path()).0, "");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn values_that_are_not_finite_are_null() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = TrainingLog::create(folder.path()).unwrap();
        let record = LogRecord {
            step: 1,
            epoch: 0.25,
            seconds: 2.0,
            values: &[("loss", f64::NAN), ("gradient", f64::INFINITY)],
        };
        log.add(&record).unwrap();
        assert_eq!(
            content(&log, folder.path()).0,
            "{\"step\":1,\"epoch\":0.25,\"seconds\":2.0,\"loss\":null,\"gradient\":null}\n"
        );
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = TrainingLog::create(Path::new("/nowhere/at/all")).unwrap_err();
        assert!(error.to_string().starts_with("/nowhere/at/all/"), "{error}");
    }
}
