//! The manifest: what a model folder holds and which program can read it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Error, Result};

/// The newest layout of model folders that this program knows; it writes this one and reads all
/// from 1 on.
pub const FORMAT_VERSION: u32 = 1;

/// Name of the manifest in a model folder.
pub const MANIFEST_FILE: &str = "manifest.json";

/// Large enough that hashing, not system calls, sets the pace.
const HASH_BUFFER_BYTES: usize = 1 << 18;

/// What a model folder holds. It carries no time of day: equal training gives equal bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Layout of the folder, see [`FORMAT_VERSION`].
    pub format_version: u32,
    /// Version of the program that wrote the folder.
    pub program_version: String,
    /// The system that was trained (`parabel`), which decides who can read the other files.
    pub kind: String,
    /// Every file of the model but the manifest, by its name relative to the folder.
    pub files: BTreeMap<String, FileEntry>,
    /// What the system wants known before it opens its files.
    #[serde(default)]
    pub details: serde_json::Value,
}

/// Size and checksum of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Length in bytes.
    pub size: u64,
    /// SHA-256 in lower-case hexadecimal digits.
    pub sha256: String,
}

impl FileEntry {
    /// Measures an open file from its start.
    pub(super) fn of(file: &mut File) -> io::Result<Self> {
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; HASH_BUFFER_BYTES];
        let mut size = 0;
        loop {
            let length = match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            hasher.update(&buffer[..length]);
            size += length as u64;
        }
        let sha256 = hasher
            .finalize()
            .iter()
            .fold(String::with_capacity(64), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            });
        Ok(Self { size, sha256 })
    }
}

impl Manifest {
    /// Reads a manifest; the version is looked at first, because only it means the same in every
    /// layout.
    pub(super) fn parse(text: &[u8], path: &Path) -> Result<Self> {
        let damaged = |error: serde_json::Error| {
            Error::model(path, format!("the manifest is damaged: {error}"))
        };
        let value: serde_json::Value = serde_json::from_slice(text).map_err(damaged)?;
        let version = value
            .get("format_version")
            .and_then(serde_json::Value::as_u64);
        match version {
            None | Some(0) => {
                return Err(Error::model(
                    path,
                    "the manifest has no format_version: not a Plethora model",
                ));
            }
            Some(version) if version > u64::from(FORMAT_VERSION) => {
                return Err(Error::model(
                    path,
                    format!(
                        "written by a newer Plethora (format {version}), \
                         this program reads up to {FORMAT_VERSION}"
                    ),
                ));
            }
            Some(_) => {}
        }
        let manifest: Self = serde_json::from_value(value).map_err(damaged)?;
        match manifest.files.keys().find(|name| !is_inside(name)) {
            Some(name) => Err(Error::model(
                path,
                format!("the manifest is damaged: it names a file outside the folder, {name:?}"),
            )),
            None => Ok(manifest),
        }
    }
}

/// True for names like `tree-0/weights.safetensors`, which stay below the folder they are joined
/// to.
pub(super) fn is_inside(name: &str) -> bool {
    let mut components = Path::new(name).components().peekable();
    components.peek().is_some()
        && components.all(|component| matches!(component, std::path::Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_leave_the_folder_are_refused() {
        assert!(is_inside("labels.jsonl"));
        assert!(is_inside("tree-0/weights.safetensors"));
        for name in ["", "..", "../x", "/etc/passwd", "a/../../b", "./a"] {
            assert!(!is_inside(name), "{name}");
        }
        let text = br#"{"format_version":1,"program_version":"0","kind":"x",
            "files":{"../x":{"size":1,"sha256":""}}}"#;
        let error = Manifest::parse(text, Path::new("m"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("outside the folder, \"../x\""), "{error}");
    }

    #[test]
    fn digest_is_that_of_the_published_test_vector() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        let entry = FileEntry::of(&mut File::open(&path).unwrap()).unwrap();
        assert_eq!(entry.size, 3);
        assert_eq!(
            entry.sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
