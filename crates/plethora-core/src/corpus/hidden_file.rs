//! Files under a temporary name beside the one they will get, or help to make.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// A new file `.NAME.PROCESS.PURPOSE` in the folder of `path`, so that renaming does not cross file
/// systems. It stays locked as long as it is open, which tells it from those that killed processes
/// left behind; these are removed.
pub(super) fn create_beside(path: &Path, purpose: &str) -> Result<(PathBuf, File)> {
    let Some(name) = path.file_name() else {
        let source = io::Error::from(io::ErrorKind::IsADirectory);
        return Err(Error::write(path)(source));
    };
    let mut start = OsString::from(".");
    start.push(name);
    start.push(".");
    remove_abandoned(path, &start, purpose);
    let mut hidden = start;
    hidden.push(format!("{}.{purpose}", std::process::id()));
    let hidden = path.with_file_name(hidden);
    loop {
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&hidden)
            .map_err(Error::write(path))?;
        // Where the file system has no locks, nobody can take the file for abandoned either.
        let _ = file.try_lock();
        // Between making and locking, another process may have done so and removed it.
        if hidden.exists() {
            return Ok((hidden, file));
        }
    }
}

fn remove_abandoned(path: &Path, start: &OsStr, purpose: &str) {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let end = format!(".{purpose}");
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name
            .as_encoded_bytes()
            .strip_prefix(start.as_encoded_bytes())
            .and_then(|rest| rest.strip_suffix(end.as_bytes()));
        if process.is_some_and(|digits| digits.iter().all(u8::is_ascii_digit)) {
            remove_unless_locked(&entry.path());
        }
    }
}

/// Removing may fail without harm: the next one tries again.
fn remove_unless_locked(path: &Path) {
    let Ok(file) = File::open(path) else {
        return;
    };
    match file.try_lock() {
        // Held while it goes, so that its maker sees that it is gone.
        Ok(()) => {
            tracing::info!(path = %path.display(), "removing what an interrupted run left behind");
            let _ = fs::remove_file(path);
        }
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(folder: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_of_the_living_stay_and_those_of_the_dead_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.jsonl");
        let kept = [
            ".out.jsonl.2.part",
            ".out.jsonl.1.body",
            ".out.jsonl.old.part",
            ".other.jsonl.1.part",
        ];
        for name in kept.iter().chain(&[".out.jsonl.1.part"]) {
            fs::write(folder.path().join(name), "half").unwrap();
        }
        let living = File::open(folder.path().join(kept[0])).unwrap();
        living.try_lock().unwrap();
        let (hidden, _file) = create_beside(&path, "part").unwrap();
        let mut expected: Vec<OsString> = kept.iter().map(OsString::from).collect();
        expected.push(hidden.file_name().unwrap().to_owned());
        expected.sort();
        assert_eq!(names_in(folder.path()), expected);
    }

    #[test]
    fn a_folder_has_no_name_to_start_from() {
        let error = create_beside(Path::new("/"), "part").unwrap_err();
        assert!(matches!(error, Error::Write { .. }), "{error}");
    }
}
