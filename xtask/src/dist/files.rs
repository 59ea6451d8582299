//! Folders that are put together, and archives of them.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::Release;
use crate::{Result, process};

/// Makes a folder with those above it.
pub(super) fn create(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// Removes a file or a folder, if it is there.
pub(super) fn remove(path: &Path) -> Result<()> {
    let removed = if path.is_dir() && !path.is_symlink() {
        fs::remove_dir_all(path)
    } else if path.exists() || path.is_symlink() {
        fs::remove_file(path)
    } else {
        return Ok(());
    };
    removed.map_err(|error| format!("{}: {error}", path.display()))
}

/// Copies a file; the folder that it goes to is made.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        create(folder)?;
    }
    fs::copy(from, to)
        .map(drop)
        .map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}

/// Copies a folder and what is in it.
pub(super) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    create(to)?;
    let entries = fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_folder(&path, &target)?;
        } else {
            copy(&path, &target)?;
        }
    }
    Ok(())
}

/// Writes a text; the folder that it goes to is made.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        create(folder)?;
    }
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Sets who may do what with a file, as `0o755`.
pub(super) fn set_mode(path: &Path, mode: u32) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let _ = (path, mode);
    Ok(())
}

/// `tar` that gives the same bytes for the same files, whoever made them and when.
pub(super) fn tar(release: &Release, folder: &Path) -> Command {
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .arg(format!("--mtime=@{}", release.time))
        .arg("-C")
        .arg(folder);
    tar
}

/// Copies a program without what only debuggers read.
pub(super) fn copy_stripped(from: &Path, to: &Path) -> Result<()> {
    copy(from, to)?;
    process::run(Command::new("strip").arg(to))
}
