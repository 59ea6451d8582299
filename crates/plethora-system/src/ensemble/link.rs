//! Members that stay where they are.

use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use plethora_core::artifact::ModelReader;
use plethora_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// A member by its place and what it held when the ensemble was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemberLink {
    /// Its folder, from that of the ensemble (`../parabel`).
    pub path: String,
    /// SHA-256 of its manifest.
    pub manifest_sha256: String,
}

impl MemberLink {
    /// The link from an ensemble that is going to be at `ensemble` to a model.
    pub(super) fn new(ensemble: &Path, model: &ModelReader) -> Result<Self> {
        let folder = model.folder();
        let target = fs::canonicalize(folder).map_err(Error::read(folder))?;
        let from = canonical_name(ensemble).map_err(Error::write(ensemble))?;
        let path = relative(&from, &target);
        let path = path.to_str().ok_or_else(|| {
            Error::model(
                folder,
                "the name is not Unicode, so no ensemble can link to it",
            )
        })?;
        Ok(Self {
            path: path.to_owned(),
            manifest_sha256: model.manifest_sha256()?,
        })
    }

    /// Opens the member and compares every file with its manifest.
    pub(super) fn open(&self, ensemble: &Path) -> Result<ModelReader> {
        let path = ensemble.join(&self.path);
        if !path.exists() {
            return Err(Error::model(
                ensemble,
                format!(
                    "the member {} is not there any more: put it back, or make the ensemble again",
                    self.path
                ),
            ));
        }
        let model = ModelReader::open(&path)?;
        if model.manifest_sha256()? != self.manifest_sha256 {
            return Err(Error::model(
                ensemble,
                format!(
                    "the member {} was changed since the ensemble was made: make the ensemble again",
                    self.path
                ),
            ));
        }
        Ok(model)
    }
}

/// A path without links, of which the last parts need not be there yet.
fn canonical_name(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let mut missing = Vec::new();
    let mut known = path.as_path();
    loop {
        match (fs::canonicalize(known), known.parent(), known.file_name()) {
            (Ok(found), ..) => {
                return Ok(missing
                    .iter()
                    .rev()
                    .fold(found, |path, name| path.join(name)));
            }
            (Err(_), Some(parent), Some(name)) => {
                missing.push(name.to_owned());
                known = parent;
            }
            (Err(error), ..) => return Err(error),
        }
    }
}

/// The way from one folder to another, both absolute.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let shared = from.components().zip(to.components());
    let num_shared = shared.take_while(|(left, right)| left == right).count();
    let up = from
        .components()
        .skip(num_shared)
        .map(|_| Component::ParentDir);
    up.chain(to.components().skip(num_shared)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_go_up_and_down_again() {
        let way = |from: &str, to: &str| relative(Path::new(from), Path::new(to));
        assert_eq!(way("/a/both", "/a/one"), Path::new("../one"));
        assert_eq!(way("/a/b/both", "/c/one"), Path::new("../../../c/one"));
        assert_eq!(way("/a", "/a/one"), Path::new("one"));
    }

    #[test]
    fn names_need_not_be_there() {
        let folder = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(folder.path()).unwrap();
        let found = canonical_name(&folder.path().join("new/deep/model")).unwrap();
        assert!(found.starts_with(&real));
    }
}
