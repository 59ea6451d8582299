//! Documents with the same content, told by a hash of it.

use std::hash::{DefaultHasher, Hash, Hasher};

use plethora_core::corpus::{Content, Document};
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
        is_empty(document) || self.0.insert(hash(document))
    }

    /// True if a document with the same content was added.
    pub(super) fn contains(&self, document: &Document) -> bool {
        !is_empty(document) && self.0.contains(&hash(document))
    }
}

/// True for a document without words or features.
pub(super) fn is_empty(document: &Document) -> bool {
    match &document.content {
        Content::Text(text) => text.trim().is_empty(),
        Content::Features(features) => features.columns.is_empty(),
    }
}

/// Texts that differ in case and white space only are the same.
fn hash(document: &Document) -> u64 {
    let mut hasher = DefaultHasher::new();
    match &document.content {
        Content::Text(text) => {
            for word in text.split_whitespace() {
                word.chars()
                    .flat_map(char::to_lowercase)
                    .for_each(|character| character.hash(&mut hasher));
                hasher.write_u8(b' ');
            }
        }
        Content::Features(features) => {
            for (column, value) in features.columns.iter().zip(&features.values) {
                (column, value.to_bits()).hash(&mut hasher);
            }
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Document {
        Document {
            id: "1".into(),
            content: Content::Text(text.into()),
            labels: Vec::new(),
        }
    }

    #[test]
    fn case_and_white_space_make_no_difference_but_words_do() {
        let mut hashes = ContentHashes::default();
        assert!(hashes.insert(&document("The Sea\n at night")));
        assert!(!hashes.insert(&document("the sea at  NIGHT ")));
        assert!(hashes.contains(&document("THE SEA AT NIGHT")));
        assert!(hashes.insert(&document("the seaat night")));
    }

    #[test]
    fn empty_documents_are_no_duplicates() {
        let mut hashes = ContentHashes::default();
        assert!(hashes.insert(&document(" ")) && hashes.insert(&document("")));
        assert!(!hashes.contains(&document("")));
    }
}
