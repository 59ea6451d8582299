//! Folders of models that jobs have written.

use std::path::Path;

use plethora_core::artifact::{Check, ModelReader};
use plethora_core::{Error, Result};

/// Bytes of all files of a model.
pub(crate) fn size_of_model(path: &Path) -> Result<u64> {
    let folder = ModelReader::open_with(path, Check::Sizes)?;
    Ok(folder.manifest().files.values().map(|file| file.size).sum())
}

/// A model is written under another name until it is complete, which users did not choose: failures
/// name the folder that they know.
pub(crate) fn about_model(error: Error, target: &Path) -> Error {
    match error {
        Error::Write { source, .. } => Error::write(target)(source),
        other => other,
    }
}
