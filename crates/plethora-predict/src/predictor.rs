//! A model that is ready to rank.

use std::path::Path;

use plethora_core::artifact::{Manifest, ModelDetails, ModelReader, load_label_space};
use plethora_core::corpus::{Document, LabelSpace};
use plethora_core::text::TfIdf;
use plethora_core::{Error, Result, ScoredLabel, SparseMatrix};
use plethora_linear::{CONFIG_FILE, LinearConfig, LinearModel, RankOptions};

use crate::features;

/// The trained part of a model. A new family of systems is one more arm.
#[derive(Debug)]
#[non_exhaustive]
pub enum System {
    /// Linear classifiers on label trees.
    Linear(LinearModel),
}

/// Ranks labels for documents.
#[derive(Debug)]
pub struct Predictor {
    system: System,
    labels: LabelSpace,
    tfidf: Option<TfIdf>,
    details: ModelDetails,
    manifest: Option<Manifest>,
}

impl Predictor {
    /// Opens a model folder of any system.
    ///
    /// # Errors
    /// [`Error::Model`] if there is no model, or it is damaged or of a system that this program
    /// does not know.
    pub fn open(path: &Path) -> Result<Self> {
        let folder = ModelReader::open(path)?;
        let manifest = folder.manifest();
        let details = ModelDetails::of(&folder)?;
        if plethora_linear::recipe(&manifest.kind).is_none() {
            return Err(Error::model(
                folder.folder(),
                format!("this program does not know the system `{}`", manifest.kind),
            ));
        }
        let labels = load_label_space(&folder)?;
        if labels.len() as u64 != details.num_labels {
            return Err(Error::model(
                folder.folder(),
                format!(
                    "has {} labels where the manifest says {}",
                    labels.len(),
                    details.num_labels
                ),
            ));
        }
        let tfidf = if details.takes_text {
            Some(TfIdf::load_from(folder.folder())?)
        } else {
            None
        };
        let num_features = details.num_features as usize;
        if let Some(tfidf) = &tfidf
            && tfidf.num_features() != num_features
        {
            return Err(Error::model(
                folder.folder(),
                "the terms of the text features do not fit the manifest",
            ));
        }
        let config: LinearConfig = folder.read_json(CONFIG_FILE)?;
        let model = LinearModel::open(&folder, config, num_features, labels.len())
            .map_err(|error| as_model_error(error, &folder))?;
        Ok(Self {
            system: System::Linear(model),
            labels,
            tfidf,
            details,
            manifest: Some(manifest.clone()),
        })
    }

    /// A predictor from parts that are not saved yet.
    ///
    /// # Panics
    /// If the parts have other sizes than `details` says.
    pub fn from_parts(
        system: System,
        labels: LabelSpace,
        tfidf: Option<TfIdf>,
        details: ModelDetails,
    ) -> Self {
        assert_eq!(labels.len() as u64, details.num_labels);
        assert_eq!(tfidf.is_some(), details.takes_text);
        Self {
            system,
            labels,
            tfidf,
            details,
            manifest: None,
        }
    }

    /// The best labels of each document, best first. A document gets the same scores alone and
    /// among others.
    ///
    /// # Errors
    /// [`Error::Data`] if a document is a text and the model takes features, or the reverse.
    pub fn rank(
        &self,
        documents: &[Document],
        options: RankOptions,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        Ok(self.rank_rows(&self.features(documents)?, options))
    }

    /// The feature rows of documents: the first half of [`rank`](Self::rank).
    pub fn features(&self, documents: &[Document]) -> Result<SparseMatrix> {
        features::rows(documents, self.tfidf.as_ref(), self.num_features())
    }

    /// The best labels of each feature row: the second half of [`rank`](Self::rank).
    pub fn rank_rows(&self, rows: &SparseMatrix, options: RankOptions) -> Vec<Vec<ScoredLabel>> {
        match &self.system {
            System::Linear(model) => model.rank(rows, options),
        }
    }

    /// The labels, with the number of training documents of each.
    pub fn labels(&self) -> &LabelSpace {
        &self.labels
    }

    /// The trained part.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// How texts become features; absent where documents come as features.
    pub fn tfidf(&self) -> Option<&TfIdf> {
        self.tfidf.as_ref()
    }

    /// System and sizes.
    pub fn details(&self) -> &ModelDetails {
        &self.details
    }

    /// Number of documents the model was trained on.
    pub fn num_train_documents(&self) -> u64 {
        self.details.num_documents
    }

    /// The manifest; absent for a model that was never saved.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    fn num_features(&self) -> usize {
        self.details.num_features as usize
    }
}

/// Settings that cannot work are the user's mistake elsewhere, but damage in a model.
fn as_model_error(error: Error, folder: &ModelReader) -> Error {
    match error {
        Error::Config { .. } => Error::model(&folder.folder().join(CONFIG_FILE), error.to_string()),
        other => other,
    }
}
