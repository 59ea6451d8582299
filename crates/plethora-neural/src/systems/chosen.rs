//! What documents that were held back have chosen, for training with all documents.

use std::collections::BTreeMap;

use plethora_core::artifact::WorkFolder;
use plethora_core::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::journal::LogPlace;
use super::run_settings::write_json;
use crate::train::TrainingLength;

/// Name of the file in the work folder; with it, the first training is over.
const CHOSEN_FILE: &str = "chosen.json";

/// How long each network was trained until it was best, and what else held-back documents have chosen.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Chosen<C> {
    /// The settings, with all choices made.
    pub(crate) config: C,
    /// Of each network, by the name of its stage.
    pub(crate) lengths: BTreeMap<String, TrainingLength>,
    /// What was fitted to the documents beside settings, as bits, which come back as they were.
    pub(crate) fitted: Vec<u64>,
    /// Where the training log ends.
    pub(crate) log: LogPlace,
}

impl<C: Serialize + DeserializeOwned> Chosen<C> {
    /// What an interrupted run has chosen already.
    pub(crate) fn read(work: &WorkFolder) -> Result<Option<Self>> {
        let path = work.path(CHOSEN_FILE);
        if !work.contains(CHOSEN_FILE) {
            return Ok(None);
        }
        let bytes = std::fs::read(&path).map_err(Error::read(&path))?;
        let chosen = serde_json::from_slice(&bytes);
        chosen.map_err(|error| Error::model(&path, error.to_string()))
    }

    /// Keeps it, as a whole or not at all.
    pub(crate) fn write(&self, work: &WorkFolder) -> Result<()> {
        write_json(work, CHOSEN_FILE, self)
    }
}
