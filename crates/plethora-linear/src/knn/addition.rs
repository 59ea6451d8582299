//! More labels, or fewer, for an index that is there already: names and documents of new labels become
//! documents of the index.

use plethora_core::artifact::ModelWriter;
use plethora_core::corpus::{Content, Document};
use plethora_core::neighbours::{DocumentNames, KnownDocuments, TermIndex};
use plethora_core::{IndexRows, Result, SparseMatrix};
use plethora_system::LabelChange;

use super::model::{DOCUMENTS_FILE, INDEX_FILE, KnnModel};
use crate::feature_reader::FeatureReader;

/// Writes the index of `model` with the documents of a change.
pub(super) fn write_index(
    model: &KnnModel,
    reader: &FeatureReader,
    change: &LabelChange<'_>,
    writer: &ModelWriter,
) -> Result<()> {
    let known = model.documents();
    let mut names = DocumentNames::default();
    let mut labels = IndexRows::default();
    for document in 0..known.len() as u32 {
        names.push_titled(known.id(document), known.title(document));
        let own = known.labels(document).iter();
        // Rows rise, and ids keep their order.
        labels.push(own.filter_map(|&label| change.new_ids[label as usize].map(|id| id.0)));
    }
    let added = added_documents(change, reader);
    let mut rows = SparseMatrix::builder(model.num_features());
    for row in model.index().rows().rows() {
        rows.push(row);
    }
    for row in reader.rows(&added)?.rows() {
        rows.push(row);
    }
    for document in &added {
        names.push(&document.id, document.text());
        let mut own: Vec<u32> = (document.labels.iter())
            .filter_map(|key| change.labels.id(key))
            .map(|label| label.0)
            .collect();
        own.sort_unstable();
        own.dedup();
        labels.push(own);
    }
    TermIndex::write(&rows.finish(), &writer.path(INDEX_FILE))?;
    let all = 0..labels.num_rows();
    KnownDocuments::write(&writer.path(DOCUMENTS_FILE), &names, &labels, all)
}

/// The documents of added labels, and the names of each as a short one. Where documents are features, names
/// are nothing to compare with.
fn added_documents(change: &LabelChange<'_>, reader: &FeatureReader) -> Vec<Document> {
    let is_added = |key: &String| {
        let id = change.labels.id(key);
        id.is_some_and(|id| change.added.contains(&id))
    };
    let mut documents: Vec<Document> = (change.documents.iter())
        .filter(|document| document.labels.iter().any(is_added))
        .cloned()
        .collect();
    if matches!(reader, FeatureReader::Given(_)) {
        return documents;
    }
    for &id in change.added {
        let label = change.labels.label(id);
        if label.is_named() {
            let names = std::iter::once(&label.name).chain(&label.alternatives);
            let lines: Vec<&str> = names.map(String::as_str).collect();
            documents.push(Document {
                id: format!("label {}", label.key),
                content: Content::Text(lines.join("\n")),
                labels: vec![label.key.clone()],
            });
        }
    }
    documents
}
