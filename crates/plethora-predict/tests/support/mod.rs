//! What the tests of saved models share: a small corpus, and models of it.

#![allow(dead_code, reason = "each file of tests uses a part of it")]

pub(crate) mod models;

use std::path::Path;

use plethora_core::artifact::{ModelWriter, WorkFolder};
use plethora_core::corpus::catalogue::{Catalogue, CatalogueConfig};
use plethora_core::corpus::{Content, Document};
use plethora_core::{NoProgress, SparseVector};
use plethora_linear::{LinearConfig, LinearModel, LinearTrainer, ModelParts, TrainingSetBuilder};
use plethora_predict::{Predictor, System};

/// Texts with labels.
pub(crate) fn documents() -> Vec<Document> {
    let config = CatalogueConfig {
        num_documents: 700,
        ..CatalogueConfig::default()
    };
    let catalogue = Catalogue::new(config).unwrap();
    catalogue
        .documents()
        .map(|record| Document {
            id: record.id,
            content: Content::Text(format!("{}\n{}", record.title, record.text)),
            labels: record.labels,
        })
        .collect()
}

/// The same documents as rows of word lengths, which are features of a kind.
pub(crate) fn as_features(documents: &[Document]) -> Vec<Document> {
    let features = |document: &Document| {
        let words = document.text().unwrap_or_default().split_whitespace();
        let entries = words.map(|word| (word.len() as u32, 1.0)).collect();
        Content::Features(SparseVector::from_entries(entries))
    };
    documents
        .iter()
        .map(|document| Document {
            content: features(document),
            ..document.clone()
        })
        .collect()
}

/// Trains and saves a model, and returns it as it was before.
pub(crate) fn train(documents: &[Document], config: &LinearConfig, target: &Path) -> Predictor {
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
        config,
    };
    let work = WorkFolder::open(target, &trainer.fingerprint().unwrap(), false).unwrap();
    trainer.run(&work, &NoProgress).unwrap();
    let num_features = set.features.num_columns();
    let parts = ModelParts {
        config,
        space: &set.space,
        tfidf: set.tfidf.as_ref(),
        text_fields: &[],
        num_features,
        num_documents: set.labels_of_documents.num_rows() as u64,
        evaluation: None,
    };
    parts
        .save(&work, ModelWriter::create(target, true).unwrap())
        .unwrap();
    let model =
        LinearModel::open_unsaved(&work, config.clone(), num_features, set.space.len()).unwrap();
    let details = parts.details();
    work.remove().unwrap();
    Predictor::from_parts(System::Linear(model), set.space, set.tfidf, details)
}

/// The settings of a system.
pub(crate) fn config(system: &str) -> LinearConfig {
    LinearConfig::of_system(system).unwrap()
}
