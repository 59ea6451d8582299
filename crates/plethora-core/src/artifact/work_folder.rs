//! What a training run has finished so far, kept beside the model it will become.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ModelWriter;
use crate::{Error, Message, Result};

/// Name of the file that says which run the folder belongs to.
const STATE_FILE: &str = "state.json";

/// Name of the file that is locked while a run lasts.
const LOCK_FILE: &str = "lock";

/// The folder `NAME.training` beside the model `NAME`. It outlives an interrupted run, so that the
/// next one can resume from the parts that are complete; parts are renamed into it when they are.
/// Without any complete part it is removed when its run ends.
#[derive(Debug)]
pub struct WorkFolder {
    path: PathBuf,
    fingerprint: String,
    /// Held locked while the run lasts; a killed process lets go of it.
    _lock: File,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// Program version, settings and data in one number.
    fingerprint: String,
}

impl WorkFolder {
    /// Opens the work folder of the model at `target` for a run with this `fingerprint`.
    ///
    /// With `resume` an earlier run is resumed from its folder, if it had the same data and
    /// settings; without it, what an earlier run left is thrown away.
    ///
    /// # Errors
    ///
    /// [`Error::Occupied`] if a folder of that name is not a training run's, [`Error::Model`] if the
    /// earlier run had other data or settings, or is still running.
    pub fn open(target: &Path, fingerprint: &str, resume: bool) -> Result<Self> {
        let path = Self::path_for(target);
        fs::create_dir_all(&path).map_err(Error::write(&path))?;
        let earlier = State::read(&path);
        // What others put there is not ours to clear.
        if earlier.is_none() && !parts(&path).map_err(Error::read(&path))?.is_empty() {
            return Err(Error::Occupied { path });
        }
        // Where nothing can be written, nothing is left either.
        let lock = Self::lock(&path).inspect_err(|_| drop(fs::remove_dir(&path)))?;
        // From here on, dropping it tidies up.
        let folder = Self {
            path,
            fingerprint: fingerprint.to_owned(),
            _lock: lock,
        };
        folder.start(earlier.as_ref(), &State::new(fingerprint), resume)?;
        Ok(folder)
    }

    fn start(&self, earlier: Option<&State>, state: &State, resume: bool) -> Result<()> {
        let path = &self.path;
        match earlier {
            Some(earlier) if resume && earlier == state => return Ok(()),
            Some(_) if resume => {
                let message = Message::new("holds a training run with other data or settings; ");
                return Err(Error::model(path, message.message(Message::start_anew())));
            }
            _ => {}
        }
        Self::clear(path)?;
        let text = serde_json::to_vec(state).map_err(|error| Error::write(path)(error.into()))?;
        fs::write(path.join(STATE_FILE), text).map_err(Error::write(path))
    }

    /// Makes sure that a run for the model at `target` throws nothing away that an interrupted one
    /// has finished.
    ///
    /// # Errors
    /// [`Error::Unfinished`] if there is something.
    pub fn check_unused(target: &Path) -> Result<()> {
        let path = Self::path_for(target);
        let has_parts = || parts(&path).is_ok_and(|parts| !parts.is_empty());
        // A run that still lasts is no interrupted one; opening says so.
        let is_over = || match File::open(path.join(LOCK_FILE)) {
            Ok(file) => file.try_lock().is_ok(),
            Err(_) => true,
        };
        if State::read(&path).is_some() && has_parts() && is_over() {
            return Err(Error::Unfinished { path });
        }
        Ok(())
    }

    /// The work folder that belongs to the model at `target`.
    pub fn path_for(target: &Path) -> PathBuf {
        let mut name = target
            .file_name()
            .map_or_else(|| OsString::from("model"), OsString::from);
        name.push(".training");
        target.with_file_name(name)
    }

    /// Data, settings and seed of the run in one number.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        &self.path
    }

    /// The file `name` in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// True if the part `name` is complete.
    pub fn contains(&self, name: &str) -> bool {
        self.path(name).is_file()
    }

    /// Gives the part `name` to the model that is being written. A second name for a file costs nothing;
    /// where the file system has no such thing, a copy does.
    pub fn give(&self, name: &str, writer: &ModelWriter) -> Result<()> {
        let (from, to) = (self.path(name), writer.path(name));
        if fs::hard_link(&from, &to).is_ok() {
            return Ok(());
        }
        fs::copy(&from, &to).map(drop).map_err(Error::write(&to))
    }

    /// Removes the folder: the model is complete.
    pub fn remove(self) -> Result<()> {
        fs::remove_dir_all(&self.path).map_err(Error::write(&self.path))
    }

    fn lock(path: &Path) -> Result<File> {
        let lock_path = path.join(LOCK_FILE);
        let lock = File::create(&lock_path).map_err(Error::write(&lock_path))?;
        match lock.try_lock() {
            Ok(()) => Ok(lock),
            Err(TryLockError::WouldBlock) => Err(Error::model(
                path,
                "another training run is writing to this model",
            )),
            Err(TryLockError::Error(source)) => Err(Error::Write {
                path: lock_path,
                source,
            }),
        }
    }

    /// The state goes last: a process killed on the way must not leave a folder that looks like
    /// somebody else's.
    fn clear(path: &Path) -> Result<()> {
        for part in parts(path).map_err(Error::read(path))? {
            let removed = if part.is_dir() {
                fs::remove_dir_all(&part)
            } else {
                fs::remove_file(&part)
            };
            removed.map_err(Error::write(&part))?;
        }
        match fs::remove_file(path.join(STATE_FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::write(path)(error)),
            _ => Ok(()),
        }
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        if parts(&self.path).is_ok_and(|parts| parts.is_empty()) {
            // The error that led here is the one to show.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

impl State {
    fn new(fingerprint: &str) -> Self {
        Self {
            fingerprint: fingerprint.to_owned(),
        }
    }

    fn read(folder: &Path) -> Option<Self> {
        let text = fs::read(folder.join(STATE_FILE)).ok()?;
        serde_json::from_slice(&text).ok()
    }
}

/// All that a folder holds beside state and lock.
fn parts(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut parts = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name != STATE_FILE && name != LOCK_FILE {
            parts.push(entry.path());
        }
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_survive_for_the_same_run_only() {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("model");
        let folder = WorkFolder::open(&target, "a", true).unwrap();
        fs::write(folder.path("tree-0"), "x").unwrap();
        let busy = WorkFolder::open(&target, "a", true).unwrap_err();
        assert!(busy.to_string().contains("another training run"));
        WorkFolder::check_unused(&target).unwrap();
        drop(folder);
        let unfinished = WorkFolder::check_unused(&target).unwrap_err();
        assert!(matches!(unfinished, Error::Unfinished { .. }));
        assert!(
            WorkFolder::open(&target, "a", true)
                .unwrap()
                .contains("tree-0")
        );
        let other = WorkFolder::open(&target, "b", true).unwrap_err();
        assert!(other.to_string().contains("other data or settings"));
        let anew = WorkFolder::open(&target, "a", false).unwrap();
        assert!(!anew.contains("tree-0"));
        WorkFolder::check_unused(&target).unwrap();
        anew.remove().unwrap();
        assert!(!WorkFolder::path_for(&target).exists());
    }
    #[test]
    fn a_run_without_complete_parts_leaves_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("model");
        drop(WorkFolder::open(&target, "a", false).unwrap());
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    }

    #[test]
    fn folders_of_others_are_left_alone() {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("model");
        let path = WorkFolder::path_for(&target);
        fs::create_dir(&path).unwrap();
        fs::write(path.join("chapter-1.tex"), "irreplaceable").unwrap();
        for resume in [false, true] {
            let error = WorkFolder::open(&target, "a", resume).unwrap_err();
            assert!(matches!(error, Error::Occupied { .. }), "{error}");
        }
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1);
    }

    #[test]
    fn a_run_killed_at_its_start_or_end_does_not_block_the_next() {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("model");
        let path = WorkFolder::path_for(&target);
        for files in [&[][..], &["lock"], &["lock", "state.json"]] {
            fs::create_dir(&path).unwrap();
            for name in files {
                fs::write(path.join(name), "{").unwrap();
            }
            drop(WorkFolder::open(&target, "a", false).unwrap());
        }
    }
}
