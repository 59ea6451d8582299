//! A model of three trees, trained on a small catalogue.

use std::path::Path;

use plethora_core::NoProgress;
use plethora_core::artifact::{ModelWriter, WorkFolder};
use plethora_core::corpus::catalogue::{Catalogue, CatalogueConfig};
use plethora_core::corpus::{Content, Document};
use plethora_linear::{LinearConfig, LinearTrainer, ModelParts, TrainingSetBuilder};

/// Documents of a catalogue.
pub(crate) fn catalogue(num_documents: u64) -> Vec<Document> {
    let config = CatalogueConfig {
        num_documents,
        ..CatalogueConfig::default()
    };
    let document = |record: plethora_core::corpus::catalogue::CatalogueDocument| Document {
        id: record.id,
        content: Content::Text(format!("{}\n{}", record.title, record.text)),
        labels: record.labels,
    };
    let catalogue = Catalogue::new(config).unwrap();
    catalogue.documents().map(document).collect()
}

/// Trains and saves a model of a system, in place of what may be there.
pub(crate) fn train(system: &str, documents: &[Document], target: &Path) {
    let config = LinearConfig::of_system(system).unwrap();
    let mut builder = TrainingSetBuilder::new(config.text.clone()).unwrap();
    for document in documents {
        builder.add(document.clone()).unwrap();
    }
    let set = builder.finish(&[], None).unwrap();
    let trainer = LinearTrainer {
        features: &set.features,
        labels_of_documents: &set.labels_of_documents,
        space: &set.space,
        label_names: None,
        config: &config,
    };
    let work = WorkFolder::open(target, &trainer.fingerprint().unwrap(), false).unwrap();
    trainer.run(&work, &NoProgress).unwrap();
    let parts = ModelParts {
        config: &config,
        space: &set.space,
        tfidf: set.tfidf.as_ref(),
        text_fields: &[],
        num_features: set.features.num_columns(),
        num_documents: set.labels_of_documents.num_rows() as u64,
        evaluation: None,
    };
    let writer = ModelWriter::create(target, true).unwrap();
    parts.save(&work, writer).unwrap();
    work.remove().unwrap();
}
