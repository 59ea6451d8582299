//! Which data and settings a training run has.

use std::fmt::Write as _;

use plethora_core::{Error, IndexRows, Result, SparseMatrix};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// A number that only equal settings and documents have, so that only an equal run resumes another.
pub(crate) fn fingerprint(
    settings: &impl Serialize,
    features: &SparseMatrix,
    labels_of_documents: &IndexRows,
) -> Result<String> {
    let mut hasher = Sha256::new();
    let settings = serde_json::to_vec(&(env!("CARGO_PKG_VERSION"), settings))
        .map_err(|error| Error::data(error.to_string()))?;
    hasher.update(settings);
    for row in features.rows() {
        hasher.update(bytemuck::cast_slice(row.columns));
        hasher.update(bytemuck::cast_slice(row.values));
    }
    for labels in labels_of_documents.rows() {
        hasher.update((labels.len() as u64).to_le_bytes());
        hasher.update(bytemuck::cast_slice(labels));
    }
    let mut text = String::new();
    for byte in hasher.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}
