//! One document as read from a corpus.

use crate::SparseVector;

/// What a classifier sees of a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Raw text.
    Text(String),
    /// Features that somebody computed before us (XMC libsvm files).
    Features(SparseVector),
}

/// A document with the keys of its labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The document's own id, or its position in the file, counted from 1.
    pub id: String,
    /// Text or ready features.
    pub content: Content,
    /// Keys of the true labels, each once, in the file's order; empty where none are known.
    pub labels: Vec<String>,
}

impl Document {
    /// The text, where the document has one.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            Content::Features(_) => None,
        }
    }
}
