//! The folder in the user's cache that all clones share.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::Result;

/// The locked cache: one set-up at a time writes there.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    _lock: File,
}

impl Cache {
    /// Waits for any other set-up to end.
    pub(super) fn lock(root: &Path) -> Result<Self> {
        let folder = location(root);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let path = folder.join("setup.lock");
        let lock = File::create(&path)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self {
            folder,
            _lock: lock,
        })
    }

    /// Where the finished libtorch is.
    pub(super) fn libtorch(&self) -> PathBuf {
        self.folder.join("libtorch-2.11.0-cpu")
    }

    /// Where wheels wait for their extraction; they stay if that is interrupted.
    pub(super) fn wheels(&self) -> PathBuf {
        self.folder.join("wheels")
    }

    /// Makes `.libtorch` of a clone point here.
    pub(super) fn link_from(&self, link: &Path) -> Result<()> {
        let failed = |error: std::io::Error| format!("{}: {error}", link.display());
        if link.is_symlink() {
            fs::remove_file(link).map_err(failed)?;
        } else if link.exists() {
            return Err(format!(
                "{} is incomplete and not made by this command; remove it and try again",
                link.display()
            ));
        }
        symlink(&self.libtorch(), link).map_err(failed)?;
        eprintln!(
            "libtorch: {} -> {}",
            link.display(),
            self.libtorch().display()
        );
        Ok(())
    }
}

/// The cache folder after the XDG rules; a machine without a home has it in the build folder.
fn location(root: &Path) -> PathBuf {
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(|| root.join("target"))
        .join("plethora")
}

#[cfg(unix)]
fn symlink(original: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(original, link)
}

#[cfg(not(unix))]
fn symlink(_original: &Path, _link: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
