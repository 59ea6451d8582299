//! The system TReaderXML.

use plethora_core::Result;
use plethora_core::artifact::{CONFIG_FILE, ModelReader};
use plethora_system::settings::{Settings, schema_of};
use plethora_system::{Device, Family, OpenParts, Ranker, SystemSpec, Trainable};
use schemars::Schema;

use super::config::TReaderConfig;
use super::model::{NETWORK_FILE, TReaderModel};
use crate::systems::network_file::num_values;
use crate::systems::recipes::{preset, recipe};
use crate::systems::{DTYPE, SEED, VECTORS};

/// The family of TReaderXML, which knows the labels of training documents like a text beside its words.
#[derive(Debug)]
pub struct TReader;

pub(super) static SYSTEMS: [SystemSpec; 1] = [SystemSpec {
    name: "treaderxml",
    about: "TReaderXML: the words of a text beside the labels that training documents like it have",
    recipe: recipe!("treaderxml"),
    presets: &[
        preset!("treaderxml", "ablation-0"),
        preset!("treaderxml", "ablation-1"),
        preset!("treaderxml", "ablation-2"),
        preset!("treaderxml", "ablation-3"),
        preset!("treaderxml", "ablation-4"),
        preset!("treaderxml", "ablation-5"),
        preset!("treaderxml", "ablation-6"),
        preset!("treaderxml", "no-teacher"),
        preset!("treaderxml", "paper"),
        preset!("treaderxml", "reading"),
    ],
    ranges: recipe!("ranges/treaderxml"),
    auto: &[],
    options: &[SEED, VECTORS, DTYPE],
    example: "",
}];

impl Family for TReader {
    fn systems(&self) -> &'static [SystemSpec] {
        &SYSTEMS
    }

    fn schema(&self) -> Schema {
        schema_of::<TReaderConfig>()
    }

    fn config(&self, settings: &Settings) -> Result<Box<dyn Trainable>> {
        let config: TReaderConfig = settings.read_as()?;
        config.validate()?;
        Ok(Box::new(config))
    }

    fn open(&self, folder: &ModelReader, parts: &OpenParts<'_>) -> Result<Box<dyn Ranker>> {
        let config: TReaderConfig = folder.read_json(CONFIG_FILE)?;
        let num_labels = parts.labels.len();
        let model = TReaderModel::open(folder, config, num_labels, parts.compute)?;
        Ok(Box::new(model))
    }

    fn computes_on(&self, _device: Device) -> bool {
        true
    }

    fn open_device(&self, device: Device) -> Result<()> {
        crate::open_device(device)?;
        Ok(())
    }

    fn num_parameters(&self, folder: &ModelReader) -> Result<Option<u64>> {
        num_values(folder, [NETWORK_FILE.to_owned()]).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::recipes::check_systems;

    #[test]
    fn every_recipe_and_preset_is_valid() {
        check_systems(&TReader);
    }
}
