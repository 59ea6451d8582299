//! A model of three trees, trained on a small catalogue.

use std::path::Path;
use std::sync::Arc;

use plethora_catalogue::{Catalogue, CatalogueConfig};
use plethora_core::NoProgress;
use plethora_core::corpus::{Content, Document, DocumentList};
use plethora_jobs::Session;
use plethora_jobs::training::{Corpus, TrainingJob};

use super::systems;

/// Documents of a catalogue.
pub(crate) fn catalogue(num_documents: u64) -> Vec<Document> {
    let config = CatalogueConfig {
        num_documents,
        ..CatalogueConfig::default()
    };
    let document = |record: plethora_catalogue::CatalogueDocument| Document {
        id: record.id,
        content: Content::Text(format!("{}\n{}", record.title, record.text)),
        labels: record.labels,
    };
    let catalogue = Catalogue::new(config).unwrap();
    catalogue.documents().map(document).collect()
}

/// Trains and saves a model of a system, in place of what may be there.
pub(crate) fn train(system: &str, documents: &[Document], target: &Path) {
    let corpus = Corpus::of_documents("documents", DocumentList::new(documents.to_vec(), None));
    let job = TrainingJob {
        replaces: true,
        ..TrainingJob::new(corpus, systems().recipe(system).unwrap(), target)
    };
    job.run(&Session::new(Arc::new(NoProgress))).unwrap();
}
