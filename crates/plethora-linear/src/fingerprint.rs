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
    let mut hasher = begin(settings)?;
    for row in features.rows() {
        hasher.update(bytemuck::cast_slice(row.columns));
        hasher.update(bytemuck::cast_slice(row.values));
    }
    add_rows(&mut hasher, labels_of_documents);
    Ok(digits(hasher))
}

/// As [`fingerprint`], for documents that are rows of indices.
pub(crate) fn fingerprint_of_rows(
    settings: &impl Serialize,
    rows: [&IndexRows; 2],
) -> Result<String> {
    let mut hasher = begin(settings)?;
    for rows in rows {
        add_rows(&mut hasher, rows);
    }
    Ok(digits(hasher))
}

fn begin(settings: &impl Serialize) -> Result<Sha256> {
    let settings = serde_json::to_vec(&(env!("CARGO_PKG_VERSION"), settings))
        .map_err(|error| Error::data(error.to_string()))?;
    Ok(Sha256::new_with_prefix(settings))
}

fn add_rows(hasher: &mut Sha256, rows: &IndexRows) {
    for row in rows.rows() {
        hasher.update((row.len() as u64).to_le_bytes());
        hasher.update(bytemuck::cast_slice(row));
    }
}

fn digits(hasher: Sha256) -> String {
    let mut text = String::new();
    for byte in hasher.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
