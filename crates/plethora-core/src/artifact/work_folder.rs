//! What a training run has finished so far, kept beside the model it will become.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Name of the file that says which run the folder belongs to.
const STATE_FILE: &str = "state.json";

/// The folder `NAME.training` beside the model `NAME`. It outlives an interrupted run, so that the
/// next one can go on from the parts that are complete; parts are renamed into it when they are.
#[derive(Debug)]
pub struct WorkFolder {
    path: PathBuf,
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
    /// With `resume` the folder of an earlier run is gone on with, if it had the same data and
    /// settings; without it, what an earlier run left is thrown away.
    pub fn open(target: &Path, fingerprint: &str, resume: bool) -> Result<Self> {
        let path = Self::path_for(target);
        fs::create_dir_all(&path).map_err(Error::write(&path))?;
        let lock = Self::lock(&path)?;
        let state = State {
            fingerprint: fingerprint.to_owned(),
        };
        let earlier = fs::read(path.join(STATE_FILE))
            .ok()
            .and_then(|text| serde_json::from_slice::<State>(&text).ok());
        match (resume, earlier) {
            (true, Some(earlier)) if earlier == state => {}
            (true, Some(_)) => {
                return Err(Error::model(
                    &path,
                    "holds a training run with other data or settings; \
                     run without --resume to start anew",
                ));
            }
            (true, None) | (false, _) => {
                Self::clear(&path)?;
                let text = serde_json::to_vec(&state)
                    .map_err(|error| Error::write(&path)(error.into()))?;
                fs::write(path.join(STATE_FILE), text).map_err(Error::write(&path))?;
            }
        }
        Ok(Self { path, _lock: lock })
    }

    /// The work folder that belongs to the model at `target`.
    pub fn path_for(target: &Path) -> PathBuf {
        let mut name = target
            .file_name()
            .map_or_else(|| OsString::from("model"), OsString::from);
        name.push(".training");
        target.with_file_name(name)
    }

    /// The file `name` in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// True if the part `name` is complete.
    pub fn contains(&self, name: &str) -> bool {
        self.path(name).is_file()
    }

    /// Removes the folder: the model is complete.
    pub fn remove(self) -> Result<()> {
        fs::remove_dir_all(&self.path).map_err(Error::write(&self.path))
    }

    fn lock(path: &Path) -> Result<File> {
        let lock_path = path.join("lock");
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

    fn clear(path: &Path) -> Result<()> {
        for entry in fs::read_dir(path).map_err(Error::write(path))? {
            let entry = entry.map_err(Error::write(path))?.path();
            if entry.file_name().is_some_and(|name| name != "lock") {
                fs::remove_file(&entry).map_err(Error::write(&entry))?;
            }
        }
        Ok(())
    }
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
        drop(folder);
        assert!(
            WorkFolder::open(&target, "a", true)
                .unwrap()
                .contains("tree-0")
        );
        let other = WorkFolder::open(&target, "b", true).unwrap_err();
        assert!(other.to_string().contains("other data or settings"));
        let anew = WorkFolder::open(&target, "a", false).unwrap();
        assert!(!anew.contains("tree-0"));
        anew.remove().unwrap();
        assert!(!WorkFolder::path_for(&target).exists());
    }
}
