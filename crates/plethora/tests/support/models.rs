//! Two models for ensembles.

use std::path::PathBuf;

use plethora::registry;
use plethora_core::artifact::ModelWriter;
use plethora_core::corpus::Document;
use plethora_core::{NoProgress, Result};
use plethora_system::{EnsembleConfig, EnsembleParts, Predictor};
use tempfile::TempDir;

use super::{config, config_with, train};

/// Two models whose systems, seeds, trees and labels differ, and documents for both.
pub(crate) struct Models {
    folder: TempDir,
    pub(crate) documents: Vec<Document>,
}

impl Models {
    /// Trains both on parts of `documents`: `one` and `two`.
    pub(crate) fn train(documents: Vec<Document>) -> Self {
        let folder = TempDir::new().unwrap();
        let (few, most) = (documents.len() / 3, documents.len() / 4);
        let parabel = config_with("parabel", "seed=7");
        train(&documents[..few], &parabel, &folder.path().join("one"));
        let wide = config("wide-tree");
        train(&documents[most..], &wide, &folder.path().join("two"));
        Self { folder, documents }
    }

    /// Where a model is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Opens a model.
    pub(crate) fn open(&self, name: &str) -> Predictor {
        registry().open(&self.path(name)).unwrap()
    }

    /// Makes an ensemble of models.
    pub(crate) fn combine(
        &self,
        members: &[&str],
        config: EnsembleConfig,
        target: &str,
    ) -> Result<()> {
        let paths: Vec<PathBuf> = members.iter().map(|name| self.path(name)).collect();
        let parts = EnsembleParts::open(registry(), &paths, config, &NoProgress)?;
        parts.save(ModelWriter::create(&self.path(target), true)?, &NoProgress)
    }

    /// The ensemble of both models, which is `both`.
    pub(crate) fn ensemble(&self, config: EnsembleConfig) -> Predictor {
        self.combine(&["one", "two"], config, "both").unwrap();
        self.open("both")
    }
}
