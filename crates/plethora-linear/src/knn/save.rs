//! The index of training documents as a model folder.

use plethora_core::Result;
use plethora_core::artifact::{ModelCard, ModelDetails, ModelWriter, WorkFolder, save_label_space};
use plethora_core::corpus::LabelSpace;
use plethora_core::metrics::Evaluation;
use plethora_core::text::TfIdf;

use super::config::KnnConfig;
use super::model::KnnModel;
use crate::save::{CONFIG_FILE, METRICS_FILE, link_or_copy};

/// What a model folder of the system `knn` is made of, beside the index. Equal training gives equal
/// folders.
#[derive(Debug, Clone, Copy)]
pub struct KnnParts<'a> {
    /// The settings.
    pub config: &'a KnnConfig,
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

impl KnnParts<'_> {
    /// Sizes of the model.
    pub fn details(&self) -> ModelDetails {
        ModelDetails {
            system: self.config.system.clone(),
            num_labels: self.space.len() as u64,
            num_documents: self.num_documents,
            num_features: self.num_features as u64,
            takes_text: self.tfidf.is_some(),
            text_fields: self.text_fields.to_vec(),
        }
    }

    /// Completes the model of `writer` with the index of `work`, which keeps it until it is removed.
    pub fn save(&self, work: &WorkFolder, writer: ModelWriter) -> Result<()> {
        for name in KnnModel::file_names() {
            link_or_copy(&work.path(name), &writer.path(name))?;
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
        writer.finish(&self.config.system, details.to_json())
    }
}
