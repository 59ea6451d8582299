//! Settings of a run that may be resumed, and of one that is only tried out.

use plethora_core::artifact::WorkFolder;
use plethora_core::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Name of the settings that a run was begun with, in its work folder.
const SETTLED_FILE: &str = "settings.json";

/// The settings that a run was begun with, if choices were made then: they stay, wherever and with how
/// much memory it is resumed.
pub(crate) fn begun_with<T: DeserializeOwned>(work: &WorkFolder) -> Option<T> {
    kept_as(work, SETTLED_FILE)
}

/// What [`write_json`] kept.
pub(crate) fn kept_as<T: DeserializeOwned>(work: &WorkFolder, name: &str) -> Option<T> {
    let bytes = std::fs::read(work.path(name)).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Keeps the choices of a run that begins.
pub(crate) fn keep_settings(work: &WorkFolder, config: &impl Serialize) -> Result<()> {
    write_json(work, SETTLED_FILE, config)
}

/// Writes a file of a work folder that is there as a whole or not at all.
pub(crate) fn write_json(work: &WorkFolder, name: &str, value: &impl Serialize) -> Result<()> {
    let path = work.path(name);
    let text = serde_json::to_vec_pretty(value).map_err(|error| Error::data(error.to_string()))?;
    let new = work.path(&format!("{name}.new"));
    std::fs::write(&new, text).map_err(Error::write(&new))?;
    std::fs::rename(&new, &path).map_err(Error::write(&path))
}

/// This share of so many epochs, and at least one.
pub(crate) fn share_of_epochs(epochs: usize, share: f64) -> usize {
    ((epochs as f64 * share).round() as usize).max(1)
}
