//! A folder of files other than a model's, written as a whole.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::publish;
use super::temporary::{self, TemporaryFolder};
use super::write::{check_replaceable, parent_and_name, resolve, sync_folder};
use crate::{Error, Result};

/// A folder that grows under a temporary name and appears under its own when finished. Dropped
/// before that, it leaves nothing behind.
#[derive(Debug)]
pub struct OutputFolder {
    folder: TemporaryFolder,
    target: PathBuf,
    replace: bool,
    marker: &'static str,
}

impl OutputFolder {
    /// Starts a folder that will be at `target`; missing parent folders are made. Only a folder that
    /// has the file `marker`, which this one is going to have too, or an empty one is ever replaced.
    ///
    /// # Errors
    /// [`Error::Exists`] if `target` is there and `replace` is false; [`Error::Occupied`] if what is
    /// there is of another kind; [`Error::Config`] if `target` is no name for a folder;
    /// [`Error::Write`] if the folder cannot be made.
    pub fn create(target: &Path, replace: bool, marker: &'static str) -> Result<Self> {
        let target = resolve(target);
        let no_name = |_| {
            let message = format!("{} is not a name for a folder", target.display());
            Error::config("output", message)
        };
        let (parent, name) = parent_and_name(&target).map_err(no_name)?;
        check_replaceable(&target, replace, marker)?;
        fs::create_dir_all(&parent).map_err(Error::write(&parent))?;
        temporary::remove_abandoned(&parent, &name);
        let folder = TemporaryFolder::create(&parent, &name).map_err(Error::write(&target))?;
        Ok(Self {
            folder,
            target,
            replace,
            marker,
        })
    }

    /// Writes the file `name`.
    ///
    /// # Errors
    /// [`Error::Write`], which names the file by its final place.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let write = || {
            let mut file = File::create(self.folder.path().join(name))?;
            file.write_all(bytes)?;
            file.sync_all()
        };
        write().map_err(Error::write(&self.target.join(name)))
    }

    /// Gives the folder its name in one step.
    ///
    /// # Errors
    /// As [`create`](Self::create), where something has come to stand there since.
    pub fn finish(self) -> Result<()> {
        sync_folder(self.folder.path())?;
        check_replaceable(&self.target, self.replace, self.marker)?;
        publish::publish(self.folder.path(), &self.target, self.replace)?;
        self.target.parent().map_or(Ok(()), sync_folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(target: &Path, replace: bool, text: &str) -> Result<()> {
        let folder = OutputFolder::create(target, replace, "report.json")?;
        folder.write("report.json", text.as_bytes())?;
        folder.finish()
    }

    #[test]
    fn folders_appear_whole_and_only_their_own_kind_is_replaced() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("deep/report");
        write(&target, false, "old").unwrap();
        let error = write(&target, false, "new").unwrap_err();
        assert!(matches!(error, Error::Exists { .. }), "{error}");
        write(&target, true, "new").unwrap();
        assert_eq!(
            fs::read_to_string(target.join("report.json")).unwrap(),
            "new"
        );
        let thesis = parent.path().join("thesis");
        fs::create_dir(&thesis).unwrap();
        fs::write(thesis.join("chapter-1.tex"), "irreplaceable").unwrap();
        let error = write(&thesis, true, "new").unwrap_err();
        assert!(matches!(error, Error::Occupied { .. }), "{error}");
        drop(OutputFolder::create(&parent.path().join("other"), false, "x").unwrap());
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 2);
    }
}
