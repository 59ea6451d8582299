//! A trained system of features as a model folder.

use std::fs;
use std::path::Path;

use plethora_core::artifact::{ModelCard, ModelDetails, ModelWriter, WorkFolder, save_label_space};
use plethora_core::corpus::LabelSpace;
use plethora_core::metrics::Evaluation;
use plethora_core::text::TfIdf;
use plethora_core::{Error, Result};
use serde::Serialize;

use crate::config::LinearConfig;
use crate::knn::{KnnConfig, KnnModel};
use crate::model::LinearModel;

/// Name of the settings in a model folder.
pub const CONFIG_FILE: &str = "config.json";

/// Name of the evaluation in a model folder.
pub const METRICS_FILE: &str = "metrics.json";

/// The settings of a system whose documents are features.
pub trait FeatureSystem: Serialize {
    /// Its name.
    fn system(&self) -> &str;

    /// The files that training with these settings leaves in its work folder.
    fn file_names(&self) -> Vec<String>;
}

impl FeatureSystem for LinearConfig {
    fn system(&self) -> &str {
        &self.system
    }

    fn file_names(&self) -> Vec<String> {
        LinearModel::file_names(self)
    }
}

impl FeatureSystem for KnnConfig {
    fn system(&self) -> &str {
        &self.system
    }

    fn file_names(&self) -> Vec<String> {
        KnnModel::file_names().map(str::to_owned).to_vec()
    }
}

/// What a model folder is made of, beside the files that training made. Nothing of it depends on
/// the time of day or on how long training took: equal training gives equal folders.
#[derive(Debug, Clone, Copy)]
pub struct ModelParts<'a, Config> {
    /// The settings, the seed among them.
    pub config: &'a Config,
    /// The labels.
    pub space: &'a LabelSpace,
    /// How texts become features; absent where documents came as features.
    pub tfidf: Option<&'a TfIdf>,
    /// Fields that the texts came from; none where rows had no fields.
    pub text_fields: &'a [String],
    /// Number of features.
    pub num_features: usize,
    /// Number of training documents.
    pub num_documents: u64,
    /// How well the model does, and on which documents.
    pub evaluation: Option<(&'a Evaluation, &'a str)>,
}

impl<Config: FeatureSystem> ModelParts<'_, Config> {
    /// Sizes of the model.
    pub fn details(&self) -> ModelDetails {
        ModelDetails {
            system: self.config.system().to_owned(),
            num_labels: self.space.len() as u64,
            num_documents: self.num_documents,
            num_features: self.num_features as u64,
            takes_text: self.tfidf.is_some(),
            text_fields: self.text_fields.to_vec(),
        }
    }

    /// Completes the model of `writer` with the files of `work`, which keeps them until it is
    /// removed: saving that failed can be repeated.
    pub fn save(&self, work: &WorkFolder, writer: ModelWriter) -> Result<()> {
        for name in self.config.file_names() {
            link_or_copy(&work.path(&name), &writer.path(&name))?;
        }
        writer.write_json(CONFIG_FILE, self.config)?;
        save_label_space(self.space, &writer)?;
        if let Some(tfidf) = self.tfidf {
            let config = writer.path(CONFIG_FILE);
            let folder = config.parent().expect("files of a model are in its folder");
            tfidf.save_to(folder)?;
        }
        if let Some((evaluation, _)) = self.evaluation {
            writer.write_json(METRICS_FILE, evaluation)?;
        }
        let details = self.details();
        ModelCard::new(&details, self.evaluation).save(&writer)?;
        writer.finish(self.config.system(), details.to_json())
    }
}

/// A second name for a file costs nothing; where the file system has no such thing, a copy does.
fn link_or_copy(from: &Path, to: &Path) -> Result<()> {
    if fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to).map(|_| ()).map_err(Error::write(to))
}
