//! Documents with the same content, told by a hash of it.

use plethora_core::corpus::Document;
use rustc_hash::FxHashSet;
use serde::Serialize;

/// Documents named as examples.
const MAX_EXAMPLES: usize = 3;

/// The contents met so far. Empty ones are equal to nothing: they are told apart from duplicates.
#[derive(Debug, Default)]
pub(super) struct ContentHashes(FxHashSet<u64>);

/// Documents that repeat others.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Duplicates {
    /// How many there are.
    #[serde(rename = "n_documents")]
    pub(super) num_documents: u64,
    /// Ids of the first of them.
    pub(super) examples: Vec<String>,
}

impl Duplicates {
    pub(super) fn add(&mut self, document: &Document) {
        self.num_documents += 1;
        if self.examples.len() < MAX_EXAMPLES {
            self.examples.push(document.id.clone());
        }
    }
}

impl ContentHashes {
    /// Adds a document; false if its content was there already.
    pub(super) fn insert(&mut self, document: &Document) -> bool {
        let hash = document.content_hash();
        hash.is_none_or(|hash| self.0.insert(hash))
    }

    /// True if a document with the same content was added.
    pub(super) fn contains(&self, document: &Document) -> bool {
        let hash = document.content_hash();
        hash.is_some_and(|hash| self.0.contains(&hash))
    }
}

#[cfg(test)]
mod tests {
    use plethora_core::corpus::Content;

    use super::*;

    fn document(text: &str) -> Document {
        Document {
            id: "1".into(),
            content: Content::Text(text.into()),
            labels: Vec::new(),
        }
    }

    #[test]
    fn equal_documents_are_duplicates_and_empty_ones_are_not() {
        let mut hashes = ContentHashes::default();
        assert!(hashes.insert(&document("The Sea")));
        assert!(!hashes.insert(&document("the  sea")));
        assert!(hashes.contains(&document("THE SEA")));
        assert!(hashes.insert(&document(" ")) && hashes.insert(&document("")));
        assert!(!hashes.contains(&document("")));
    }
}
