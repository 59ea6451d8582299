//! Copying the files of a model into another model folder.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use super::{MANIFEST_FILE, ModelReader, ModelWriter};
use crate::training_log::is_log_file;
use crate::{Error, Progress, Result};

/// Which files of a model to copy, and how.
#[derive(Debug, Clone, Copy, Default)]
pub struct ModelCopy<'a> {
    /// Folder in the new model folder, with the manifest as a file of its own; where absent, the
    /// files lie in the folder itself, which gets a new manifest.
    pub folder: Option<&'a str>,
    /// A file that is left out.
    pub without: Option<&'a str>,
    /// Give files a second name where the file system can, not a second copy: for a model that is
    /// going to take the place of the one it is made from.
    pub by_link: bool,
}

impl ModelCopy<'_> {
    /// Number of files that are copied.
    pub fn num_files(&self, model: &ModelReader) -> u64 {
        self.names(model).len() as u64
    }

    /// Copies the files that the manifest of `model` lists, and training logs. What else lies in its
    /// folder is not part of it.
    ///
    /// # Errors
    /// [`Error::Read`] and [`Error::Write`] if a file cannot be copied; [`Error::Interrupted`].
    pub fn run(
        &self,
        model: &ModelReader,
        writer: &ModelWriter,
        progress: &dyn Progress,
    ) -> Result<()> {
        for name in self.names(model) {
            if progress.is_cancelled() {
                return Err(Error::Interrupted);
            }
            let to = match self.folder {
                Some(folder) => format!("{folder}/{name}"),
                None => name.clone(),
            };
            self.copy(model, &name, writer, &to)?;
            progress.advance(1);
        }
        Ok(())
    }

    fn names(&self, model: &ModelReader) -> Vec<String> {
        let has_manifest = self.folder.is_some();
        let files = model.manifest().files.keys().map(String::as_str);
        let files = files.chain(has_manifest.then_some(MANIFEST_FILE));
        let mut names: Vec<String> = files.map(str::to_owned).collect();
        for log in logs_in(model.folder()) {
            if !names.contains(&log) {
                names.push(log);
            }
        }
        names.retain(|name| self.without != Some(name.as_str()));
        names
    }

    fn copy(&self, model: &ModelReader, name: &str, writer: &ModelWriter, to: &str) -> Result<()> {
        let from = model.folder().join(name);
        if self.by_link && link(&from, &writer.path(to)).is_ok() {
            return Ok(());
        }
        Self::copy_file(model, name, writer, to)
    }

    /// Copies one file of a model, under the name `to`.
    ///
    /// # Errors
    /// [`Error::Read`] and [`Error::Write`].
    pub fn copy_file(
        model: &ModelReader,
        name: &str,
        writer: &ModelWriter,
        to: &str,
    ) -> Result<()> {
        let from = model.folder().join(name);
        let mut target = writer.file(to)?;
        let mut source = File::open(&from).map_err(Error::read(&from))?;
        io::copy(&mut source, &mut target)
            .and_then(|_| target.flush())
            .map_err(Error::write(&writer.path(to)))
    }
}

/// The training logs of a folder, by their names.
fn logs_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut logs: Vec<String> = names.filter(|name| is_log_file(name)).collect();
    logs.sort();
    logs
}

fn link(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::hard_link(from, to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;

    #[test]
    fn a_model_is_replaced_by_a_copy_of_itself_with_another_file() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("model");
        let writer = ModelWriter::create(&target, false).unwrap();
        writer.write_text("deep/weights", "1 2 3").unwrap();
        writer.write_text("old", "gone").unwrap();
        writer.finish("parabel", serde_json::json!({})).unwrap();
        for by_link in [true, false] {
            let model = ModelReader::open(&target).unwrap();
            let copy = ModelCopy {
                without: Some("old"),
                by_link,
                ..ModelCopy::default()
            };
            let writer = ModelWriter::create(&target, true).unwrap();
            copy.run(&model, &writer, &NoProgress).unwrap();
            writer.write_text("new", "added").unwrap();
            writer.finish("parabel", serde_json::json!({})).unwrap();
            let model = ModelReader::open(&target).unwrap();
            let names: Vec<&String> = model.manifest().files.keys().collect();
            assert_eq!(names, ["deep/weights", "new"]);
            assert_eq!(
                fs::read_to_string(target.join("deep/weights")).unwrap(),
                "1 2 3"
            );
            assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
        }
    }
}
