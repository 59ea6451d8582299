//! What the tests of saved models share: a small corpus, and models of it.

#![allow(dead_code, reason = "each file of tests uses a part of it")]

pub(crate) mod models;

use std::path::Path;
use std::sync::Arc;

use plethora::artifact::ModelDetails;
use plethora::corpus::{Content, Document, DocumentList, Label};
use plethora::settings::{Assignment, Settings};
use plethora::{
    Compute, Corpus, DocumentStream, NoProgress, Predictor, Result, RunContext, Session,
    TrainingJob, registry,
};
use plethora_catalogue::{Catalogue, CatalogueConfig};
use plethora_core::SparseVector;

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

/// Trains and saves a model, and opens it.
pub(crate) fn train(documents: &[Document], settings: &Settings, target: &Path) -> Predictor {
    let corpus = Corpus::of_documents("documents", DocumentList::new(documents.to_vec(), None));
    let job = TrainingJob {
        replaces: true,
        ..TrainingJob::new(corpus, settings.clone(), target)
    };
    job.run(&Session::new(Arc::new(NoProgress))).unwrap();
    registry().open(target).unwrap()
}

/// Trains a model and does not save it.
pub(crate) fn train_unsaved(
    documents: &[Document],
    settings: &Settings,
    target: &Path,
) -> Predictor {
    let run = RunContext {
        compute: Compute::default(),
        epoch_share: 1.0,
        valid: None,
        piece_cache: None,
        encoder_cache: None,
        output: target,
        resumes: false,
        progress: &NoProgress,
    };
    let mut stream = Stream(documents.iter());
    let trained = settings.config().unwrap().train(&mut stream, &run).unwrap();
    let details = ModelDetails {
        system: settings.system().to_owned(),
        num_labels: trained.labels.len() as u64,
        num_documents: trained.num_documents,
        num_features: trained.num_features,
        takes_text: trained.takes_text,
        text_fields: Vec::new(),
    };
    trained.work.remove().unwrap();
    Predictor::from_parts(trained.ranker, trained.labels, details)
}

/// Documents in memory.
struct Stream<'a>(std::slice::Iter<'a, Document>);

impl DocumentStream for Stream<'_> {
    fn next_document(&mut self) -> Result<Option<Document>> {
        Ok(self.0.next().cloned())
    }

    fn limit(&self) -> Option<u64> {
        None
    }

    fn labels(&self) -> &[Label] {
        &[]
    }

    fn num_features(&self) -> Option<usize> {
        None
    }
}

/// The settings of a system.
pub(crate) fn config(system: &str) -> Settings {
    registry().recipe(system).unwrap()
}

/// The same with one that differs.
pub(crate) fn config_with(system: &str, assignment: &str) -> Settings {
    let mut settings = config(system);
    let assignment = Assignment::parse(assignment, "test").unwrap();
    settings.assign(&assignment).unwrap();
    settings
}
