//! The systems `dense` and `xr-transformer`.

use plethora_core::Result;
use plethora_core::artifact::ModelReader;
use plethora_system::settings::{Settings, schema_of};
use plethora_system::{
    AutoMember, Device, Family, NameUse, OpenParts, Ranker, SystemSpec, Trainable,
};
use schemars::Schema;

use super::config::OpenDenseConfig;
use super::model::DenseModel;
use crate::systems::network_file::num_values;
use crate::systems::recipes::system;
use crate::systems::{DTYPE, SEED};
use crate::transformer::trained_folder::ENCODER_FILE;

/// Nodes of the tree that are searched.
const BEAM: (&str, &str) = ("beam", "classifiers.beam");

/// The pretrained transformer.
const ENCODER: (&str, &str) = ("encoder", "encoder.folder");

/// What an automatic choice of systems reads by an encoder that another member has trained, so that there is a GPU: more of each document.
const TUNED_SETTINGS: &str = "document.max_length = 512";

/// The family of encoders that read every document once.
#[derive(Debug, Clone, Copy)]
pub struct Dense;

static SYSTEMS: [SystemSpec; 2] = [
    system! {
        name: "dense",
        about: "a pretrained transformer that stays as it is: linear classifiers over terms and vectors, and the nearest documents by both",
        presets: [],
        options: &[SEED, BEAM, ENCODER, DTYPE],
        example: "--system dense --encoder ./all-MiniLM-L6-v2",
        auto: [
            AutoMember::new("dense", "", NameUse::Ignored),
            AutoMember::new("dense, tuned", TUNED_SETTINGS, NameUse::Ignored).starting_trained(),
        ],
    },
    system! {
        name: "xr-transformer",
        about: "XR-Transformer: a pretrained transformer learns the labels, then linear trees over terms and its vectors, and the nearest documents by both",
        presets: [],
        options: &[SEED, BEAM, ENCODER, DTYPE],
        example: "--system xr-transformer --encoder ./all-MiniLM-L6-v2 --device cuda",
    },
];

impl Family for Dense {
    fn systems(&self) -> &'static [SystemSpec] {
        &SYSTEMS
    }

    fn schema(&self) -> Schema {
        schema_of::<OpenDenseConfig>()
    }

    fn config(&self, settings: &Settings) -> Result<Box<dyn Trainable>> {
        let config: OpenDenseConfig = settings.read_as()?;
        config.validate_all()?;
        Ok(Box::new(config))
    }

    fn open(&self, folder: &ModelReader, parts: &OpenParts<'_>) -> Result<Box<dyn Ranker>> {
        let model = DenseModel::open(folder, parts.labels.len(), parts.compute)?;
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
        num_values(folder, [ENCODER_FILE.to_owned()]).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::recipes::check_systems;

    #[test]
    fn the_recipe_is_valid() {
        check_systems(&Dense);
    }
}
