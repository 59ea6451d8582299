//! Which documents a model has seen, so that nobody takes its figures on them for what it can do.

use std::collections::BTreeSet;

use super::{ModelReader, ModelWriter};
use crate::corpus::Document;
use crate::{Error, Result};

/// Name of the file in a model folder; models of older versions have none.
pub const TRAINED_ON_FILE: &str = "trained_on.bin";

/// Hashes that are kept: half a megabyte. Of more documents, those with the smallest hashes are a
/// sample by chance, and the same one in every corpus.
const MAX_HASHES: usize = 65_536;

/// Hashes of training documents: all of them, or a sample. Nothing else of a document can be told from
/// it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrainedOn {
    hashes: BTreeSet<u64>,
}

/// How many documents of a corpus a model has seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overlap {
    /// Documents that were seen.
    pub num_seen: u64,
    /// Documents of which it is known whether they were.
    pub num_compared: u64,
}

impl TrainedOn {
    /// Adds a training document; empty ones say nothing.
    pub fn add(&mut self, document: &Document) {
        if let Some(hash) = document.content_hash() {
            self.insert(hash);
        }
    }

    /// Adds what another model has seen.
    pub fn merge(&mut self, other: &Self) {
        // Beyond the largest hash of a sample nothing is known, so that it ends there for both.
        let end = self.end().min(other.end());
        self.hashes.extend(&other.hashes);
        self.hashes.retain(|&hash| hash <= end);
        while self.hashes.len() > MAX_HASHES {
            self.hashes.pop_last();
        }
    }

    /// Compares a document with them.
    pub fn compare(&self, document: &Document, overlap: &mut Overlap) {
        if let Some(hash) = document.content_hash().filter(|&hash| hash <= self.end()) {
            overlap.num_compared += 1;
            overlap.num_seen += u64::from(self.hashes.contains(&hash));
        }
    }

    /// Writes them into a model folder.
    pub fn save(&self, writer: &ModelWriter) -> Result<()> {
        let bytes: Vec<u8> = self
            .hashes
            .iter()
            .flat_map(|hash| hash.to_le_bytes())
            .collect();
        writer.write_bytes(TRAINED_ON_FILE, &bytes)
    }

    /// Those of a model, if it has any.
    ///
    /// # Errors
    /// [`Error::Model`] if the file is damaged.
    pub fn of(model: &ModelReader) -> Result<Option<Self>> {
        if !model.contains(TRAINED_ON_FILE) {
            return Ok(None);
        }
        let bytes = model.read_bytes(TRAINED_ON_FILE)?;
        let (hashes, rest) = bytes.as_chunks();
        if !rest.is_empty() || hashes.len() > MAX_HASHES {
            let path = model.folder().join(TRAINED_ON_FILE);
            return Err(Error::model(&path, "expected whole numbers of 8 bytes"));
        }
        let hashes = hashes.iter().map(|hash| u64::from_le_bytes(*hash));
        Ok(Some(Self {
            hashes: hashes.collect(),
        }))
    }

    /// The largest hash of which it is known whether a document with it was seen.
    fn end(&self) -> u64 {
        match self.hashes.last() {
            Some(&last) if self.hashes.len() >= MAX_HASHES => last,
            _ => u64::MAX,
        }
    }

    fn insert(&mut self, hash: u64) {
        if hash <= self.end() && self.hashes.insert(hash) && self.hashes.len() > MAX_HASHES {
            self.hashes.pop_last();
        }
    }
}

impl Overlap {
    /// The share of documents that were seen.
    pub fn share(self) -> f64 {
        self.num_seen as f64 / self.num_compared.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Content;

    fn document(number: u64) -> Document {
        Document {
            id: number.to_string(),
            content: Content::Text(format!("text {number}")),
            labels: Vec::new(),
        }
    }

    fn of(numbers: impl Iterator<Item = u64>) -> TrainedOn {
        let mut trained_on = TrainedOn::default();
        numbers.for_each(|number| trained_on.add(&document(number)));
        trained_on
    }

    fn overlap(trained_on: &TrainedOn, numbers: impl Iterator<Item = u64>) -> Overlap {
        let mut overlap = Overlap::default();
        numbers.for_each(|number| trained_on.compare(&document(number), &mut overlap));
        overlap
    }

    #[test]
    fn few_documents_are_all_compared() {
        let found = overlap(&of(0..100), 50..250);
        let expected = Overlap {
            num_seen: 50,
            num_compared: 200,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn of_many_documents_a_sample_tells_the_share() {
        let many = of(0..4 * MAX_HASHES as u64);
        assert_eq!(many.hashes.len(), MAX_HASHES);
        let start = 3 * MAX_HASHES as u64;
        let found = overlap(&many, start..start + 100_000);
        assert!((20_000..30_000).contains(&found.num_compared), "{found:?}");
        let expected = MAX_HASHES as f64 / 100_000.0;
        assert!((found.share() - expected).abs() < 0.01, "{found:?}");
        let mut both = of(0..50);
        both.merge(&many);
        assert_eq!(both, many);
    }

    #[test]
    fn they_are_kept_in_a_model_folder() {
        let desk = tempfile::tempdir().unwrap();
        let target = desk.path().join("model");
        let writer = ModelWriter::create(&target, false).unwrap();
        let trained_on = of(0..9);
        trained_on.save(&writer).unwrap();
        writer.finish("parabel", serde_json::json!({})).unwrap();
        let reader = ModelReader::open(&target).unwrap();
        assert_eq!(TrainedOn::of(&reader).unwrap(), Some(trained_on));
    }
}
