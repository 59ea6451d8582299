//! Opening a model folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::de::DeserializeOwned;

use super::arrays::MappedArrays;
use super::manifest::{FileEntry, MANIFEST_FILE, Manifest};
use super::publish;
use super::regular::{open_regular, read_regular};
use crate::{Error, Result};

/// How closely the files are compared with the manifest on opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Check {
    /// Sizes and checksums, which reads every byte once.
    #[default]
    Contents,
    /// Sizes only: for looking at what is there, or where the caller has checked before.
    Sizes,
}

/// Far beyond the manifests of the largest models.
const MAX_MANIFEST_BYTES: u64 = 64 << 20;

/// A model folder that is complete and undamaged.
#[derive(Debug)]
pub struct ModelReader {
    folder: PathBuf,
    manifest: Manifest,
}

impl ModelReader {
    /// Opens the model at `path` and compares every file with the manifest.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if there is no model, it is damaged or a newer program wrote it;
    /// [`Error::Read`] if the system does not let us read it.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, Check::Contents)
    }

    /// Opens the model at `path` with a check of the caller's choice.
    pub fn open_with(path: &Path, check: Check) -> Result<Self> {
        let manifest = read_manifest(path)?;
        // The first in the order of names, so that the message does not depend on threads.
        let damage = manifest
            .files
            .par_iter()
            .find_map_first(|(name, entry)| check_file(&path.join(name), entry, check).err());
        match damage {
            Some(error) => Err(error),
            None => Ok(Self {
                folder: path.to_owned(),
                manifest,
            }),
        }
    }

    /// What the folder holds.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The model folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// SHA-256 of the manifest in lower-case hexadecimal digits, which stands for all files.
    pub fn manifest_sha256(&self) -> Result<String> {
        let path = self.folder.join(MANIFEST_FILE);
        let measured = open_regular(&path).and_then(|mut file| FileEntry::of(&mut file));
        Ok(measured.map_err(Error::read(&path))?.sha256)
    }

    /// True if the model has the file `name`.
    pub fn contains(&self, name: &str) -> bool {
        self.manifest.files.contains_key(name)
    }

    /// Where the file `name` is; [`Error::Model`] if the model has none of that name.
    pub fn path(&self, name: &str) -> Result<PathBuf> {
        if self.contains(name) {
            Ok(self.folder.join(name))
        } else {
            Err(Error::model(
                &self.folder,
                format!("the model has no file {name}"),
            ))
        }
    }

    /// Reads the file `name`.
    pub fn read_bytes(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.path(name)?;
        read_regular(&path).map_err(Error::read(&path))
    }

    /// Reads the JSON file `name`.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let path = self.path(name)?;
        serde_json::from_slice(&self.read_bytes(name)?)
            .map_err(|error| Error::model(&path, format!("not what was expected: {error}")))
    }

    /// Maps the safetensors file `name` into memory.
    pub fn map(&self, name: &str) -> Result<MappedArrays> {
        MappedArrays::open(&self.path(name)?)
    }
}

fn read_manifest(folder: &Path) -> Result<Manifest> {
    match fs::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Err(Error::model(folder, "is a file, a model is a folder")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing(folder)),
        Err(error) => return Err(Error::read(folder)(error)),
    }
    Manifest::parse(&manifest_bytes(folder)?, &folder.join(MANIFEST_FILE))
}

/// The manifest of a model folder as it is on disk.
///
/// # Errors
///
/// [`Error::Model`] if there is none, or something else in its place.
pub fn manifest_bytes(folder: &Path) -> Result<Vec<u8>> {
    let path = folder.join(MANIFEST_FILE);
    match fs::metadata(&path) {
        Ok(metadata) if !metadata.is_file() => Err(Error::model(&path, "not a regular file")),
        Ok(metadata) if metadata.len() > MAX_MANIFEST_BYTES => Err(Error::model(
            &path,
            format!("the manifest is damaged: {} bytes", metadata.len()),
        )),
        Ok(_) => fs::read(&path).map_err(Error::read(&path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Error::model(
            folder,
            format!("not a Plethora model: the folder has no {MANIFEST_FILE}"),
        )),
        Err(error) => Err(Error::read(&path)(error)),
    }
}

fn missing(folder: &Path) -> Error {
    match publish::moved_away(folder) {
        Some(old) => Error::model(
            folder,
            format!(
                "no such model folder; an interrupted replacement left the old model at {}, \
                 rename it back",
                old.display()
            ),
        ),
        None => Error::model(folder, "no such model folder"),
    }
}

fn check_file(path: &Path, expected: &FileEntry, check: Check) -> Result<()> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Error::model(path, "the file is missing from the model"));
        }
        Err(error) => return Err(Error::read(path)(error)),
    };
    if metadata.is_dir() {
        return Err(Error::model(path, "is a folder, the model has a file here"));
    }
    if !metadata.is_file() {
        return Err(Error::model(path, "not a regular file"));
    }
    let size = metadata.len();
    if size != expected.size {
        let what = if size < expected.size {
            "truncated"
        } else {
            "damaged"
        };
        return Err(Error::model(
            path,
            format!(
                "the file is {what}: {size} bytes, the manifest says {}",
                expected.size
            ),
        ));
    }
    if check == Check::Sizes {
        return Ok(());
    }
    let found = open_regular(path)
        .and_then(|mut file| FileEntry::of(&mut file))
        .map_err(Error::read(path))?;
    if found.sha256 != expected.sha256 {
        return Err(Error::model(
            path,
            "the file is damaged: its SHA-256 is not the one in the manifest",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::ModelWriter;

    /// A small model; the guard keeps its folder alive.
    fn model() -> (tempfile::TempDir, PathBuf) {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("model");
        let writer = ModelWriter::create(&target, false).unwrap();
        writer
            .write_json("config.json", &serde_json::json!({ "seed": 7 }))
            .unwrap();
        writer.write_bytes("tree-0/weights", &[1, 2, 3, 4]).unwrap();
        writer
            .finish("parabel", serde_json::json!({ "trees": 1 }))
            .unwrap();
        (parent, target)
    }

    fn message(target: &Path) -> String {
        let error = ModelReader::open(target).unwrap_err();
        assert!(matches!(error, Error::Model { .. }), "{error}");
        error.to_string()
    }

    #[test]
    fn what_was_written_is_read() {
        let (_guard, target) = model();
        let reader = ModelReader::open(&target).unwrap();
        assert_eq!(reader.manifest().kind, "parabel");
        assert_eq!(reader.manifest().details["trees"], 1);
        assert_eq!(reader.manifest().files["tree-0/weights"].size, 4);
        let config: serde_json::Value = reader.read_json("config.json").unwrap();
        assert_eq!(config["seed"], 7);
        assert_eq!(reader.read_bytes("tree-0/weights").unwrap(), [1, 2, 3, 4]);
        let error = reader.path("labels.jsonl").unwrap_err().to_string();
        assert!(
            error.ends_with("the model has no file labels.jsonl"),
            "{error}"
        );
        let error = reader
            .read_json::<Vec<u8>>("config.json")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("config.json: not what was expected"),
            "{error}"
        );
    }

    #[test]
    fn truncated_file_is_named() {
        let (_guard, target) = model();
        fs::write(target.join("tree-0/weights"), [1, 2, 3]).unwrap();
        let message = message(&target);
        assert!(
            message.contains("tree-0/weights: the file is truncated: 3 bytes"),
            "{message}"
        );
    }

    #[test]
    fn grown_file_is_named() {
        let (_guard, target) = model();
        fs::write(target.join("tree-0/weights"), [1, 2, 3, 4, 5]).unwrap();
        assert!(message(&target).contains("the file is damaged: 5 bytes"));
    }

    #[test]
    fn flipped_bit_is_found_unless_only_sizes_are_asked_for() {
        let (_guard, target) = model();
        fs::write(target.join("tree-0/weights"), [1, 2, 3, 5]).unwrap();
        let message = message(&target);
        assert!(
            message.contains("tree-0/weights: the file is damaged: its SHA-256"),
            "{message}"
        );
        ModelReader::open_with(&target, Check::Sizes).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_never_ends_is_not_read() {
        let (_guard, target) = model();
        for name in ["config.json", MANIFEST_FILE] {
            fs::remove_file(target.join(name)).unwrap();
            std::os::unix::fs::symlink("/dev/zero", target.join(name)).unwrap();
            let message = message(&target);
            assert!(
                message.ends_with(&format!("{name}: not a regular file")),
                "{message}"
            );
        }
    }

    #[test]
    fn missing_file_is_named() {
        let (_guard, target) = model();
        fs::remove_file(target.join("config.json")).unwrap();
        assert!(message(&target).ends_with("config.json: the file is missing from the model"));
    }

    #[test]
    fn newer_format_is_refused_with_both_versions() {
        let (_guard, target) = model();
        let newer = r#"{"format_version": 2, "files": ["another layout"]}"#;
        fs::write(target.join(MANIFEST_FILE), newer).unwrap();
        let message = message(&target);
        assert!(
            message.ends_with("written by a newer Plethora (format 2), this program reads up to 1"),
            "{message}"
        );
    }

    #[test]
    fn damaged_manifests_are_refused() {
        let (_guard, target) = model();
        let whole = fs::read_to_string(target.join(MANIFEST_FILE)).unwrap();
        for (text, expected) in [
            ("", "the manifest is damaged"),
            ("\u{0}\u{1}", "the manifest is damaged"),
            (&whole[..whole.len() / 2], "the manifest is damaged"),
            (
                r#"{"format_version": 1}"#,
                "the manifest is damaged: missing field",
            ),
            ("[]", "no format_version"),
            ("{}", "no format_version"),
            (r#"{"format_version": -1}"#, "no format_version"),
            (r#"{"format_version": 0}"#, "no format_version"),
        ] {
            fs::write(target.join(MANIFEST_FILE), text).unwrap();
            let message = message(&target);
            assert!(message.contains(expected), "{text:?}: {message}");
        }
    }

    #[test]
    fn what_is_no_model_is_said_so() {
        let (guard, target) = model();
        assert!(message(&target.join("config.json")).ends_with("is a file, a model is a folder"));
        assert!(message(&guard.path().join("nowhere")).ends_with("no such model folder"));
        assert!(message(guard.path()).contains("not a Plethora model"));
        fs::create_dir(guard.path().join(".nowhere.replaced")).unwrap();
        assert!(message(&guard.path().join("nowhere")).ends_with("rename it back"));
    }
}
