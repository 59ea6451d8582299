//! A trained neural system as a model folder.

use plethora_core::artifact::{ModelCard, ModelDetails, ModelWriter, WorkFolder, save_label_space};
use plethora_core::corpus::LabelSpace;
use plethora_core::metrics::Evaluation;
use plethora_core::training_log::TrainingLog;

use super::model::{
    ARCHITECTURE_FILE, NeuralModel, TrainedPart, clusters_file_name, levels_file_name,
};
use super::network_file;
use crate::Result;

/// Name of the settings in a model folder.
pub const CONFIG_FILE: &str = "config.json";

/// Name of the evaluation in a model folder.
pub const METRICS_FILE: &str = "metrics.json";

/// What a model folder of a neural system is made of, beside the model.
#[derive(Debug, Clone, Copy)]
pub struct NeuralParts<'a> {
    /// The labels.
    pub space: &'a LabelSpace,
    /// Fields that the texts came from; none where rows had no fields.
    pub text_fields: &'a [String],
    /// Number of training documents.
    pub num_documents: u64,
    /// How well the model does, and on which documents.
    pub evaluation: Option<(&'a Evaluation, &'a str)>,
}

impl NeuralParts<'_> {
    /// Sizes of the model. What a linear model counts as features are words or pieces here.
    pub fn details(&self, model: &NeuralModel) -> ModelDetails {
        ModelDetails {
            system: model.config().system().to_owned(),
            num_labels: self.space.len() as u64,
            num_documents: self.num_documents,
            num_features: model.reader().num_known() as u64,
            takes_text: true,
            text_fields: self.text_fields.to_vec(),
        }
    }

    /// Completes the model of `writer`; the training log comes from `work`.
    pub fn save(&self, model: &NeuralModel, work: &WorkFolder, writer: ModelWriter) -> Result<()> {
        match model.trained() {
            TrainedPart::Trees(trees) => {
                for (number, tree) in trees.iter().enumerate() {
                    writer.write_json(&levels_file_name(number), &tree.levels)?;
                    if let Some(clusters) = &tree.clusters {
                        writer.write_json(&clusters_file_name(number), clusters)?;
                    }
                }
            }
            TrainedPart::Members {
                architecture,
                members,
            } => {
                writer.write_json(ARCHITECTURE_FILE, architecture)?;
                for (number, member) in members.iter().enumerate() {
                    if let Some(clusters) = &member.clusters {
                        writer.write_json(&clusters_file_name(number), clusters)?;
                    }
                }
            }
            TrainedPart::TReader(_) => {}
        }
        let config = writer.path(CONFIG_FILE);
        let folder = config.parent().expect("files of a model are in its folder");
        if let TrainedPart::TReader(part) = model.trained()
            && let Some(retriever) = &part.retriever
        {
            retriever.save(|name| work.path(name), &writer, folder)?;
        }
        for (name, parameters) in model.networks() {
            network_file::save(parameters, &writer.path(&name))?;
        }
        writer.write_json(CONFIG_FILE, model.config())?;
        save_label_space(self.space, &writer)?;
        model.reader().save_to(folder)?;
        TrainingLog::copy(work.folder(), folder)?;
        if let Some((evaluation, _)) = self.evaluation {
            writer.write_json(METRICS_FILE, evaluation)?;
        }
        let details = self.details(model);
        ModelCard::new(&details, self.evaluation).save(&writer)?;
        writer.finish(model.config().system(), details.to_json())?;
        Ok(())
    }
}
