//! The system `siamese`.

use plethora_core::Result;
use plethora_core::artifact::{CONFIG_FILE, ModelReader, ModelWriter};
use plethora_system::settings::{Settings, schema_of};
use plethora_system::{Device, Family, LabelChange, OpenParts, Ranker, SystemSpec, Trainable};
use schemars::Schema;

use super::addition::write_labels;
use super::config::OpenSiameseConfig;
use super::model::SiameseModel;
use super::projection::PROJECTION_FILE;
use crate::pretrained::TOKENIZER_FILE;
use crate::systems::network_file::num_values;
use crate::systems::recipes::system;
use crate::systems::{DTYPE, SEED};
use crate::transformer::trained_folder::{ARCHITECTURE_FILE, ENCODER_FILE};

/// The pretrained transformer.
const ENCODER: (&str, &str) = ("encoder", "encoder.folder");

/// The family of encoders that read documents and names alike.
#[derive(Debug, Clone, Copy)]
pub struct Siamese;

static SYSTEMS: [SystemSpec; 1] = [system! {
    name: "siamese",
    about: "one transformer for documents and for names of labels, and the labels nearest to a text; knows labels without documents, and needs none at all",
    presets: ["zero-shot"],
    options: &[SEED, ENCODER, DTYPE],
    example: "--system siamese --vocabulary subjects.ttl --encoder ./all-MiniLM-L6-v2",
}];

/// The settings of the recipe for an encoder that stays as it is.
#[cfg(test)]
pub(super) fn settled_recipe() -> super::config::SiameseConfig {
    let recipe: OpenSiameseConfig = toml::from_str(SYSTEMS[0].recipe).expect("the recipe is valid");
    let choices = super::config::Choices {
        pooling: crate::transformer::Pooling::Mean,
        trains_encoder: false,
    };
    recipe.settled(String::new(), choices, 1.0)
}

impl Family for Siamese {
    fn systems(&self) -> &'static [SystemSpec] {
        &SYSTEMS
    }

    fn schema(&self) -> Schema {
        schema_of::<OpenSiameseConfig>()
    }

    fn config(&self, settings: &Settings) -> Result<Box<dyn Trainable>> {
        let config: OpenSiameseConfig = settings.read_as()?;
        config.validate()?;
        Ok(Box::new(config))
    }

    fn open(&self, folder: &ModelReader, parts: &OpenParts<'_>) -> Result<Box<dyn Ranker>> {
        let model = SiameseModel::open(folder, parts.labels.len(), parts.compute)?;
        Ok(Box::new(model))
    }

    fn computes_on(&self, _device: Device) -> bool {
        true
    }

    fn open_device(&self, device: Device) -> Result<()> {
        crate::open_device(device)?;
        Ok(())
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
        write_labels(folder, parts, change, writer)?;
        let files = [ARCHITECTURE_FILE, TOKENIZER_FILE, ENCODER_FILE, CONFIG_FILE];
        for name in files.into_iter().chain([PROJECTION_FILE]) {
            if folder.contains(name) {
                writer.write_bytes(name, &folder.read_bytes(name)?)?;
            }
        }
        Ok(())
    }

    fn num_parameters(&self, folder: &ModelReader) -> Result<Option<u64>> {
        let files = [ENCODER_FILE, PROJECTION_FILE].into_iter();
        let files = files.filter(|name| folder.contains(name));
        num_values(folder, files.map(str::to_owned)).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::recipes::check_systems;

    #[test]
    fn the_recipe_is_valid() {
        check_systems(&Siamese);
    }
}
