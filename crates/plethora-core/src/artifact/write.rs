//! Writing a model folder.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Serialize;

use super::manifest::{self, FORMAT_VERSION, FileEntry, MANIFEST_FILE, Manifest};
use super::publish;
use super::temporary::{self, TemporaryFolder};
use crate::training_log::is_log_file;
use crate::{Error, Result};

/// A model folder that grows under a temporary name and appears under its own when finished.
/// Dropped before that, it leaves nothing behind.
#[derive(Debug)]
pub struct ModelWriter {
    folder: TemporaryFolder,
    target: PathBuf,
    replace: bool,
}

impl ModelWriter {
    /// Starts a model that will be at `target`; missing parent folders are made.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] if `target` is there and `replace` is false; [`Error::Occupied`] if what is
    /// there is no model, which is never replaced; [`Error::Config`] if `target` is no name for a
    /// folder; [`Error::Write`] if the folder cannot be made.
    pub fn create(target: &Path, replace: bool) -> Result<Self> {
        let target = resolve(target);
        let (parent, name) = parent_and_name(&target)?;
        fs::create_dir_all(&parent).map_err(Error::write(&parent))?;
        publish::restore_moved_away(&target)?;
        check_replaceable(&target, replace, MANIFEST_FILE)?;
        temporary::remove_abandoned(&parent, &name);
        let folder = TemporaryFolder::create(&parent, &name).map_err(Error::write(&target))?;
        Ok(Self {
            folder,
            target,
            replace,
        })
    }

    /// Fails as [`create`](Self::create) would where `target` is taken or can never be made, and
    /// writes nothing: to be asked before the work that leads to a model.
    pub fn check_target(target: &Path, replace: bool) -> Result<()> {
        let target = resolve(target);
        let (parent, _) = parent_and_name(&target)?;
        check_replaceable(&target, replace, MANIFEST_FILE)?;
        // Missing folders will be made, in the nearest one that is there.
        match parent.ancestors().find_map(|path| fs::metadata(path).ok()) {
            Some(nearest) if !nearest.is_dir() => {
                Err(Error::write(&target)(io::ErrorKind::NotADirectory.into()))
            }
            _ => Ok(()),
        }
    }

    /// Where the file `name` (`labels.jsonl`, `tree-0/weights.safetensors`) is to be written until
    /// the model is finished.
    pub fn path(&self, name: &str) -> PathBuf {
        debug_assert!(
            manifest::is_inside(name),
            "{name} is not a name inside the model folder"
        );
        self.folder.path().join(name)
    }

    /// Opens the file `name` for writing; flush it before [`finish`](Self::finish).
    pub fn file(&self, name: &str) -> Result<BufWriter<File>> {
        let path = self.path(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(Error::write(&path))?;
        }
        Ok(BufWriter::new(
            File::create(&path).map_err(Error::write(&path))?,
        ))
    }

    /// Writes `value` as the JSON file `name`.
    pub fn write_json<T: Serialize + ?Sized>(&self, name: &str, value: &T) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(value)
            .map_err(|error| Error::write(&self.path(name))(error.into()))?;
        text.push(b'\n');
        self.write_bytes(name, &text)
    }

    /// Writes the file `name`.
    pub fn write_bytes(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let mut file = self.file(name)?;
        file.write_all(bytes)
            .and_then(|()| file.flush())
            .map_err(Error::write(&self.path(name)))
    }

    /// Writes the text file `name`.
    pub fn write_text(&self, name: &str, text: &str) -> Result<()> {
        self.write_bytes(name, text.as_bytes())
    }

    /// Completes the model of the system `kind`: every file is hashed and forced to disk, the
    /// manifest is written last, and the folder gets its name in one step, so that a process killed
    /// at any moment leaves the old model or the new one.
    pub fn finish(self, kind: &str, details: serde_json::Value) -> Result<()> {
        let mut contents = FolderContents::default();
        contents.collect(self.folder.path(), "")?;
        let files = contents
            .files
            .into_par_iter()
            .filter(|name| !is_log_file(name))
            .map(|name| {
                let entry = measure_and_sync(&self.path(&name))?;
                Ok((name, entry))
            })
            .collect::<Result<BTreeMap<_, _>>>()?;
        let manifest = Manifest {
            format_version: FORMAT_VERSION,
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            kind: kind.to_owned(),
            files,
            details,
        };
        self.write_json(MANIFEST_FILE, &manifest)?;
        measure_and_sync(&self.path(MANIFEST_FILE))?;
        for folder in &contents.folders {
            sync_folder(folder)?;
        }
        check_replaceable(&self.target, self.replace, MANIFEST_FILE)?;
        publish::publish(self.folder.path(), &self.target, self.replace)?;
        self.target.parent().map_or(Ok(()), sync_folder)
    }
}

/// What lies below a folder; files by their names relative to it.
#[derive(Default)]
struct FolderContents {
    files: Vec<String>,
    folders: Vec<PathBuf>,
}

impl FolderContents {
    fn collect(&mut self, folder: &Path, prefix: &str) -> Result<()> {
        self.folders.push(folder.to_owned());
        for entry in fs::read_dir(folder).map_err(Error::read(folder))? {
            let entry = entry.map_err(Error::read(folder))?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry
                .file_type()
                .map_err(Error::read(&entry.path()))?
                .is_dir()
            {
                self.collect(&entry.path(), &format!("{name}/"))?;
            } else {
                self.files.push(name);
            }
        }
        Ok(())
    }
}

fn measure_and_sync(path: &Path) -> Result<FileEntry> {
    let mut file = File::open(path).map_err(Error::read(path))?;
    file.sync_all().map_err(Error::write(path))?;
    FileEntry::of(&mut file).map_err(Error::read(path))
}

/// Forces the names in a folder to disk, where the system lets folders be opened.
pub(super) fn sync_folder(path: &Path) -> Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    File::open(path)
        .and_then(|folder| folder.sync_all())
        .map_err(Error::write(path))
}

/// The folder itself where `target` is a link to it or a name like `..`, so that the model behind a
/// link is replaced and the link stays; otherwise the path as the user wrote it.
pub(super) fn resolve(target: &Path) -> PathBuf {
    // Collecting the components drops a final slash, behind which a link looks like a folder.
    let target: PathBuf = target.components().collect();
    if target.is_symlink() || target.file_name().is_none() {
        fs::canonicalize(&target).unwrap_or(target)
    } else {
        target
    }
}

pub(super) fn parent_and_name(target: &Path) -> Result<(PathBuf, OsString)> {
    match (target.parent(), target.file_name()) {
        (Some(parent), Some(name)) if parent.as_os_str().is_empty() => {
            Ok((PathBuf::from("."), name.to_owned()))
        }
        (Some(parent), Some(name)) => Ok((parent.to_owned(), name.to_owned())),
        _ => Err(Error::config(
            "output",
            format!("{} is not a name for a model folder", target.display()),
        )),
    }
}

/// A mistyped `--force` must not cost anyone a folder of something else: `marker` is a file that all
/// folders have that may be replaced.
pub(super) fn check_replaceable(target: &Path, replace: bool, marker: &str) -> Result<()> {
    if target.symlink_metadata().is_err() {
        return Ok(());
    }
    if !replace {
        return Err(Error::Exists {
            path: target.to_owned(),
        });
    }
    let is_empty = || fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_none());
    if target.join(marker).is_file() || is_empty() {
        return Ok(());
    }
    Err(Error::Occupied {
        path: target.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::ModelReader;

    fn write_model(target: &Path, replace: bool, text: &str) -> Result<()> {
        let writer = ModelWriter::create(target, replace)?;
        writer.write_text("text/words.txt", text)?;
        writer.write_json("config.json", &serde_json::json!({ "seed": 7 }))?;
        writer.finish("parabel", serde_json::json!({ "trees": 3 }))
    }

    fn words(target: &Path) -> String {
        ModelReader::open(target).unwrap();
        fs::read_to_string(target.join("text/words.txt")).unwrap()
    }

    fn names_in(folder: &Path) -> Vec<OsString> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn existing_model_is_kept_unless_replacing_was_asked_for() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("deep/model");
        write_model(&target, false, "old").unwrap();
        let error = write_model(&target, false, "new").unwrap_err();
        assert!(matches!(error, Error::Exists { .. }), "{error}");
        assert_eq!(words(&target), "old");
        write_model(&target, true, "new").unwrap();
        assert_eq!(words(&target), "new");
        assert_eq!(names_in(&parent.path().join("deep")), ["model"]);
    }

    #[test]
    fn unfinished_model_leaves_the_old_one_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("model");
        write_model(&target, false, "old").unwrap();
        let writer = ModelWriter::create(&target, true).unwrap();
        writer.write_text("text/words.txt", "new").unwrap();
        drop(writer);
        assert_eq!(words(&target), "old");
        assert_eq!(names_in(parent.path()), ["model"]);
    }

    #[test]
    fn equal_content_gives_equal_folders() {
        let parent = tempfile::tempdir().unwrap();
        let (one, other) = (parent.path().join("one"), parent.path().join("other"));
        write_model(&one, false, "same").unwrap();
        write_model(&other, false, "same").unwrap();
        assert_eq!(names_in(&one), ["config.json", "manifest.json", "text"]);
        for name in ["config.json", "manifest.json", "text/words.txt"] {
            assert_eq!(
                fs::read(one.join(name)).unwrap(),
                fs::read(other.join(name)).unwrap()
            );
        }
    }

    #[test]
    fn logs_which_tell_times_are_in_the_folder_and_not_in_the_manifest() {
        let parent = tempfile::tempdir().unwrap();
        let manifests = ["1", "2"].map(|time| {
            let target = parent.path().join(time);
            let writer = ModelWriter::create(&target, false).unwrap();
            let events = format!("events.out.tfevents.{time}.plethora");
            writer.write_text("metrics.jsonl", time).unwrap();
            writer
                .write_text(&format!("member-0/{events}"), time)
                .unwrap();
            writer.write_text("metrics.json", "{}").unwrap();
            writer.finish("parabel", serde_json::Value::Null).unwrap();
            assert!(target.join("metrics.jsonl").exists());
            fs::read_to_string(target.join(MANIFEST_FILE)).unwrap()
        });
        assert_eq!(manifests[0], manifests[1]);
        assert!(manifests[0].contains("metrics.json\""), "{}", manifests[0]);
    }

    #[test]
    fn what_a_killed_process_left_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let left = parent.path().join(".model.tmp-1-00000000deadbeef");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("weights"), "half").unwrap();
        let target = parent.path().join("model");
        let first = ModelWriter::create(&target, false).unwrap();
        assert!(!left.exists());
        let second = ModelWriter::create(&target, false).unwrap();
        assert!(
            first.path("x").parent().unwrap().is_dir(),
            "still being written"
        );
        drop((first, second));
        assert!(names_in(parent.path()).is_empty());
    }

    #[test]
    fn only_models_are_replaced() {
        let parent = tempfile::tempdir().unwrap();
        let thesis = parent.path().join("thesis");
        fs::create_dir(&thesis).unwrap();
        fs::write(thesis.join("chapter-1.tex"), "irreplaceable").unwrap();
        let file = parent.path().join("notes.txt");
        fs::write(&file, "irreplaceable").unwrap();
        for target in [&thesis, &file] {
            let error = ModelWriter::create(target, true).unwrap_err();
            assert!(matches!(error, Error::Occupied { .. }), "{error}");
        }
        let empty = parent.path().join("empty");
        fs::create_dir(&empty).unwrap();
        write_model(&empty, true, "new").unwrap();
        assert_eq!(words(&empty), "new");
    }

    #[cfg(unix)]
    #[test]
    fn model_behind_a_link_is_replaced_and_the_link_stays() {
        let parent = tempfile::tempdir().unwrap();
        let (target, link) = (parent.path().join("model-1"), parent.path().join("current"));
        write_model(&target, false, "old").unwrap();
        std::os::unix::fs::symlink("model-1", &link).unwrap();
        write_model(&link.join(""), true, "new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(words(&target), "new");
    }

    #[test]
    fn impossible_places_are_clear_errors() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("file");
        fs::write(&file, "").unwrap();
        let error = ModelWriter::create(&file.join("model"), false).unwrap_err();
        assert!(
            matches!(&error, Error::Write { path, .. } if *path == file),
            "{error}"
        );
        let error = ModelWriter::check_target(&file.join("deep/model"), false).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("deep/model: cannot write: not a directory"),
            "{error}"
        );
        let error = ModelWriter::create(Path::new("missing/.."), false).unwrap_err();
        assert!(matches!(error, Error::Config { .. }), "{error}");
    }
}
