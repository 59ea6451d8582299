//! What every system tells in the manifest about a model.

use serde::{Deserialize, Serialize};

use super::{MANIFEST_FILE, ModelReader};
use crate::{Error, Result};

/// Sizes of a model, kept in [`Manifest::details`](super::Manifest::details).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelDetails {
    /// The system that was trained.
    pub system: String,
    /// Number of labels the model can predict.
    #[serde(rename = "n_labels")]
    pub num_labels: u64,
    /// Number of documents it was trained on.
    #[serde(rename = "n_documents")]
    pub num_documents: u64,
    /// Number of features a document has.
    #[serde(rename = "n_features")]
    pub num_features: u64,
    /// True if documents are texts, false if they come as features.
    pub takes_text: bool,
    /// Fields that the training texts came from, in their order; empty where rows had no fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub text_fields: Vec<String>,
}

impl ModelDetails {
    /// Reads the details out of the manifest of a model.
    pub fn of(model: &ModelReader) -> Result<Self> {
        Self::deserialize(&model.manifest().details).map_err(|error| {
            Error::model(
                &model.folder().join(MANIFEST_FILE),
                format!("the details are not what was expected: {error}"),
            )
        })
    }

    /// The form for [`ModelWriter::finish`](super::ModelWriter::finish).
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!(self)
    }
}
