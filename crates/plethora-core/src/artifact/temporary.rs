//! The folder in which a model grows before it gets its name.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

/// A folder `.NAME.tmp-PID-RANDOM` beside `NAME`, locked while its process lives and removed when
/// dropped.
///
/// The lock, not the process id, tells a living owner from a dead one: ids are reused and mean
/// nothing across containers that share a disk.
#[derive(Debug)]
pub(super) struct TemporaryFolder {
    path: PathBuf,
    /// Held for its lock, which the system releases even after `kill -9`. None where the file
    /// system has no locks; nobody can take such a folder for abandoned.
    _lock: Option<File>,
}

impl TemporaryFolder {
    /// Makes the folder in `parent`.
    pub(super) fn create(parent: &Path, name: &OsStr) -> io::Result<Self> {
        loop {
            let random = RandomState::new().build_hasher().finish();
            let mut file_name = prefix(name);
            file_name.push(format!("{}-{random:016x}", std::process::id()));
            let path = parent.join(file_name);
            match fs::create_dir(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            // Between making and locking, another process may have taken the folder for abandoned.
            match lock(&path) {
                Locked::Held(lock) if path.exists() => {
                    return Ok(Self {
                        path,
                        _lock: Some(lock),
                    });
                }
                Locked::Unsupported => return Ok(Self { path, _lock: None }),
                Locked::Held(_) | Locked::ByOther | Locked::Gone => {}
            }
        }
    }

    /// Where the folder is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes the temporary folders of `name` in `parent` whose processes are gone.
pub(super) fn remove_abandoned(parent: &Path, name: &OsStr) {
    let prefix = prefix(name);
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let is_temporary = entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(prefix.as_encoded_bytes());
        if !is_temporary {
            continue;
        }
        let path = entry.path();
        // The lock stays held during the removal, so that a slow starter sees that it lost.
        if let Locked::Held(_lock) = lock(&path) {
            tracing::info!(path = %path.display(), "removing what an interrupted run left behind");
            remove(&path);
        }
    }
}

/// Start of the names of all temporary folders of `name`.
fn prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".tmp-");
    prefix
}

/// Cleaning up may fail without harm: the next run tries again.
fn remove(path: &Path) {
    if let Err(error) = fs::remove_dir_all(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(path = %path.display(), %error, "cannot remove a temporary folder");
    }
}

enum Locked {
    Held(File),
    ByOther,
    Gone,
    Unsupported,
}

fn lock(path: &Path) -> Locked {
    let folder = match File::open(path) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Locked::Gone,
        Err(_) => return Locked::Unsupported,
    };
    match folder.try_lock() {
        Ok(()) => Locked::Held(folder),
        Err(fs::TryLockError::WouldBlock) => Locked::ByOther,
        Err(fs::TryLockError::Error(_)) => Locked::Unsupported,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_living_stay_and_those_of_the_dead_go() {
        let parent = tempfile::tempdir().unwrap();
        let living = TemporaryFolder::create(parent.path(), OsStr::new("model")).unwrap();
        let dead = parent.path().join(".model.tmp-1-0123456789abcdef");
        let other = parent.path().join(".model2.tmp-1-0123456789abcdef");
        for folder in [&dead, &other] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("weights"), "half").unwrap();
        }
        remove_abandoned(parent.path(), OsStr::new("model"));
        assert!(living.path().is_dir());
        assert!(!dead.exists());
        assert!(other.is_dir(), "belongs to another model");
        let path = living.path().to_owned();
        drop(living);
        assert!(!path.exists());
    }
}
