//! Documents that a program holds already, read as those of a file are.

use std::sync::Arc;

use super::format::{RawDocument, Row, RowReader};
use super::{Document, Format};
use crate::Result;

/// Documents in memory. Copies of it share them.
#[derive(Debug, Clone)]
pub struct DocumentList {
    documents: Arc<[Document]>,
    num_features: Option<usize>,
}

impl DocumentList {
    /// Takes the documents, which are all texts or all features; of the latter there are
    /// `num_features`, or as many as occur.
    pub fn new(documents: Vec<Document>, num_features: Option<usize>) -> Self {
        Self {
            documents: documents.into(),
            num_features,
        }
    }

    /// The documents.
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// The format that files with such documents have.
    pub(super) fn format(&self) -> Format {
        match self.num_features {
            None => Format::Jsonl,
            Some(_) => Format::Libsvm,
        }
    }
}

/// Hands out documents one by one; a document is a line to it.
pub(super) struct MemoryRows {
    list: DocumentList,
    next: usize,
}

impl MemoryRows {
    pub(super) fn new(list: DocumentList) -> Self {
        Self { list, next: 0 }
    }
}

impl RowReader for MemoryRows {
    fn next_row(&mut self) -> Result<Option<Row>> {
        let Some(document) = self.list.documents.get(self.next).cloned() else {
            return Ok(None);
        };
        self.next += 1;
        Ok(Some(Row::Document(RawDocument {
            id: Some(document.id),
            content: document.content,
            labels: document.labels,
        })))
    }

    fn line(&self) -> u64 {
        self.next as u64
    }

    fn num_features(&self) -> Option<usize> {
        self.list.num_features
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Content, CorpusReader};
    use super::*;
    use crate::SparseVector;

    fn document(labels: &[&str]) -> Document {
        Document {
            id: "1".into(),
            content: Content::Text("Tides".into()),
            labels: labels.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn documents_come_back_with_labels_once_and_ids_may_repeat() {
        let list = DocumentList::new(vec![document(&["sea", "sea"]), document(&[])], None);
        let reader = CorpusReader::of_documents(Path::new("<documents>"), list);
        assert_eq!(reader.format(), Format::Jsonl);
        let read: Result<Vec<Document>> = reader.collect();
        assert_eq!(read.unwrap(), [document(&["sea"]), document(&[])]);
    }

    #[test]
    fn features_keep_their_number_and_mistakes_their_place() {
        let features = Document {
            content: Content::Features(SparseVector::default()),
            ..document(&[""])
        };
        let list = DocumentList::new(vec![features], Some(9));
        let mut reader = CorpusReader::of_documents(Path::new("<documents>"), list);
        assert_eq!(reader.num_features(), Some(9));
        let error = reader.next().unwrap().unwrap_err().to_string();
        assert_eq!(error, "<documents>:1: an empty label");
    }
}
