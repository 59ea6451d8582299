//! The system `knn`.

use plethora_core::Result;
use plethora_core::artifact::{CONFIG_FILE, ModelReader, ModelWriter};
use plethora_system::settings::{Settings, schema_of};
use plethora_system::{
    AutoMember, Family, LabelChange, NameUse, OpenParts, Ranker, SystemSpec, Trainable,
};
use schemars::Schema;

use super::addition::write_index;
use super::config::{KnnConfig, OpenKnnConfig};
use super::model::KnnModel;
use crate::feature_reader::FeatureReader;
use crate::feature_system::FeatureRanker;

/// The family of nearest documents.
#[derive(Debug)]
pub struct Knn;

static SYSTEMS: [SystemSpec; 1] = [SystemSpec {
    name: "knn",
    about: "the labels of the training documents that are most like a text; nothing is learnt",
    recipe: include_str!("../../../../recipes/knn.toml"),
    presets: &[],
    ranges: include_str!("../../../../recipes/ranges/knn.toml"),
    auto: &[AutoMember::new("knn", "", NameUse::Documents)],
    options: &[],
    example: "",
}];

/// The settings of the recipe.
#[cfg(test)]
pub(crate) fn recipe() -> OpenKnnConfig {
    toml::from_str(SYSTEMS[0].recipe).expect("the recipe is valid")
}

impl Family for Knn {
    fn systems(&self) -> &'static [SystemSpec] {
        &SYSTEMS
    }

    fn schema(&self) -> Schema {
        schema_of::<OpenKnnConfig>()
    }

    fn config(&self, settings: &Settings) -> Result<Box<dyn Trainable>> {
        let config: OpenKnnConfig = settings.read_as()?;
        config.validate()?;
        Ok(Box::new(config))
    }

    fn open(&self, folder: &ModelReader, parts: &OpenParts<'_>) -> Result<Box<dyn Ranker>> {
        let reader = FeatureReader::open(folder, parts.details)?;
        let config: KnnConfig = folder.read_json(CONFIG_FILE)?;
        let num_features = parts.details.num_features as usize;
        let model = KnnModel::open(folder, config, num_features, parts.labels.len())?;
        Ok(Box::new(FeatureRanker { model, reader }))
    }

    fn changes_labels(&self) -> bool {
        true
    }

    fn change_labels(
        &self,
        folder: &ModelReader,
        parts: &OpenParts<'_>,
        change: &LabelChange<'_>,
        writer: &ModelWriter,
    ) -> Result<()> {
        let reader = FeatureReader::open(folder, parts.details)?;
        let config: KnnConfig = folder.read_json(CONFIG_FILE)?;
        writer.write_json(CONFIG_FILE, &config)?;
        reader.save(writer)?;
        let num_features = parts.details.num_features as usize;
        let model = KnnModel::open(folder, config, num_features, parts.labels.len())?;
        write_index(&model, &reader, change, writer)
    }
}
