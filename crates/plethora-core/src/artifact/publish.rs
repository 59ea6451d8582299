//! Giving a finished folder its name, in one step that cannot be seen half done.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Renames `folder` to `target`. An existing target is replaced where `replace` says so; then
/// `folder` holds the old content afterwards, or is gone.
pub(super) fn publish(folder: &Path, target: &Path, replace: bool) -> Result<()> {
    match rename_to_free_name(folder, target) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(Error::write(target)(error));
        }
        Err(_) if !replace => {
            return Err(Error::Exists {
                path: target.to_owned(),
            });
        }
        Err(_) => {}
    }
    match exchange(folder, target) {
        Ok(()) => Ok(()),
        Err(error) if is_unsupported(&error) => swap_by_renames(folder, target),
        Err(error) => Err(error),
    }
    .map_err(Error::write(target))
}

/// Puts back a model that [`swap_by_renames`] had moved away when its process was killed.
pub(super) fn restore_moved_away(target: &Path) -> Result<()> {
    match moved_away(target) {
        Some(path) if !target.exists() => {
            tracing::info!(path = %path.display(), "putting back an interrupted replacement");
            fs::rename(&path, target).map_err(Error::write(target))
        }
        Some(_) | None => Ok(()),
    }
}

/// Where [`swap_by_renames`] left the old model of `target`, if it was killed half-way.
pub(super) fn moved_away(target: &Path) -> Option<PathBuf> {
    let path = target.with_file_name(away_name(target.file_name()?));
    path.is_dir().then_some(path)
}

fn away_name(name: &OsStr) -> OsString {
    let mut away = OsString::from(".");
    away.push(name);
    away.push(".replaced");
    away
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn rename_to_free_name(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE).map_err(io::Error::from) {
        Err(error) if is_unsupported(&error) => rename_unless_seen(from, to),
        result => result,
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn rename_to_free_name(from: &Path, to: &Path) -> io::Result<()> {
    rename_unless_seen(from, to)
}

fn rename_unless_seen(from: &Path, to: &Path) -> io::Result<()> {
    if to.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(from, to)
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// File systems without the flags of `renameat2` (NFS, some overlays) answer "invalid argument".
fn is_unsupported(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
    )
}

/// The exchange for file systems that know only plain renames. Between the two renames the target
/// is missing; [`restore_moved_away`] mends that if the process dies there.
fn swap_by_renames(folder: &Path, target: &Path) -> io::Result<()> {
    let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let away = target.with_file_name(away_name(name));
    // Left by a process that was killed after its second rename: superseded by the target.
    match fs::remove_dir_all(&away) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::rename(target, &away)?;
    if let Err(error) = fs::rename(folder, target) {
        fs::rename(&away, target)?;
        return Err(error);
    }
    fs::rename(&away, folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(parent: &Path, name: &str, content: &str) -> PathBuf {
        let path = parent.join(name);
        fs::create_dir(&path).unwrap();
        fs::write(path.join("content"), content).unwrap();
        path
    }

    fn content(path: &Path) -> String {
        fs::read_to_string(path.join("content")).unwrap()
    }

    #[test]
    fn both_ways_of_swapping_put_the_new_in_place_of_the_old() {
        for swap in [exchange, swap_by_renames] {
            let parent = tempfile::tempdir().unwrap();
            let target = folder_with(parent.path(), "model", "old");
            let fresh = folder_with(parent.path(), ".model.tmp-1-0", "new");
            swap(&fresh, &target).unwrap();
            assert_eq!(
                (content(&target), content(&fresh)),
                ("new".into(), "old".into())
            );
            assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 2);
        }
    }

    #[test]
    fn an_existing_target_is_only_replaced_on_request() {
        let parent = tempfile::tempdir().unwrap();
        let target = folder_with(parent.path(), "model", "old");
        let fresh = folder_with(parent.path(), "fresh", "new");
        let error = publish(&fresh, &target, false).unwrap_err();
        assert!(matches!(error, Error::Exists { .. }), "{error}");
        assert_eq!(content(&target), "old");
        publish(&fresh, &target, true).unwrap();
        assert_eq!(content(&target), "new");
    }

    #[test]
    fn a_swap_killed_between_its_renames_is_undone() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("model");
        folder_with(parent.path(), ".model.replaced", "old");
        restore_moved_away(&target).unwrap();
        assert_eq!(content(&target), "old");
        restore_moved_away(&target).unwrap();
    }
}
