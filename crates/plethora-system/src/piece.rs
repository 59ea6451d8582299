//! Pieces of a model that several processes train together.

use std::path::Path;

use plethora_core::artifact::{MANIFEST_FILE, ModelDetails, ModelReader};
use plethora_core::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::Shard;

/// What the manifest of a piece says it is.
pub const PIECE: &str = "piece";

/// What the manifest of a piece tells beside its files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PieceDetails {
    /// The share of the work that it has.
    pub shard: Shard,
    /// Data, settings and seed in one number, which all pieces of a model share.
    pub run: String,
    /// What the whole model's manifest tells.
    pub model: ModelDetails,
}

impl PieceDetails {
    /// Reads the details out of the manifest of a piece.
    ///
    /// # Errors
    /// [`Error::Model`] if the folder is something else.
    pub fn of(piece: &ModelReader) -> Result<Self> {
        let manifest = piece.manifest();
        if manifest.kind != PIECE {
            let message = format!(
                "is a whole model of `{}`, expected pieces from `plethora train --shard`",
                manifest.kind
            );
            return Err(Error::model(piece.folder(), message));
        }
        Self::deserialize(&manifest.details).map_err(|error| {
            let message = format!("the details are not what was expected: {error}");
            Error::model(&piece.folder().join(MANIFEST_FILE), message)
        })
    }

    /// The form for [`ModelWriter::finish`](plethora_core::artifact::ModelWriter::finish).
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!(self)
    }
}

/// What to tell those who want to use a piece as if it were a model.
pub(crate) fn is_no_model(folder: &Path) -> Error {
    let message = "is a piece of a model; `plethora merge` makes a model of all pieces";
    Error::model(folder, message)
}
