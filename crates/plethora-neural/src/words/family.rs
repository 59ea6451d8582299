//! The systems that read words.

use plethora_core::Result;
use plethora_core::artifact::{CONFIG_FILE, ModelReader};
use plethora_system::settings::{Settings, schema_of};
use plethora_system::{Device, Family, OpenParts, Ranker, SystemSpec, Trainable};
use schemars::Schema;

use super::config::{OpenWordConfig, WordConfig};
use super::model::WordModel;
use super::open::num_parameters;
use crate::systems::recipes::{preset, recipe};
use crate::systems::{DTYPE, SEED, VECTORS};

/// The family of systems that read words: AttentionXML with its baselines, and LightAttention.
#[derive(Debug)]
pub struct Words;

pub(super) static SYSTEMS: [SystemSpec; 5] = [
    SystemSpec {
        name: "attentionxml",
        about: "AttentionXML: an LSTM over words, and every label attends to those that matter to it",
        recipe: recipe!("attentionxml"),
        presets: &[
            preset!("attentionxml", "paper-medium"),
            preset!("attentionxml", "paper-large"),
            preset!("attentionxml", "demo"),
        ],
        ranges: recipe!("ranges/attentionxml"),
        auto: &[],
        options: &[SEED, VECTORS, DTYPE],
        example: "--system attentionxml --vectors glove.txt --device cuda",
    },
    SystemSpec {
        name: "attentionxml-plt",
        about: "AttentionXML on a label tree, for label sets too large for it",
        recipe: recipe!("attentionxml-plt"),
        presets: &[],
        ranges: recipe!("ranges/attentionxml-plt"),
        auto: &[],
        options: &[SEED, ("beam", "plt.beam"), VECTORS, DTYPE],
        example: "",
    },
    SystemSpec {
        name: "xml-rnn",
        about: "the baseline of AttentionXML with an LSTM and no attention",
        recipe: recipe!("xml-rnn"),
        presets: &[],
        ranges: recipe!("ranges/xml-rnn"),
        auto: &[],
        options: &[SEED, VECTORS, DTYPE],
        example: "",
    },
    SystemSpec {
        name: "xml-cnn",
        about: "the baseline of AttentionXML with convolutions",
        recipe: recipe!("xml-cnn"),
        presets: &[],
        ranges: recipe!("ranges/xml-cnn"),
        auto: &[],
        options: &[SEED, VECTORS, DTYPE],
        example: "",
    },
    SystemSpec {
        name: "lightattention",
        about: "LightAttention: clusters of labels attend first, then the labels of the best ones, learnt together",
        recipe: recipe!("lightattention"),
        presets: &[
            preset!("lightattention", "paper-eurlex"),
            preset!("lightattention", "paper-wiki10"),
            preset!("lightattention", "paper-amazoncat"),
        ],
        ranges: recipe!("ranges/lightattention"),
        auto: &[],
        options: &[SEED, ("beam", "clusters.predict_beam"), VECTORS, DTYPE],
        example: "",
    },
];

impl Family for Words {
    fn systems(&self) -> &'static [SystemSpec] {
        &SYSTEMS
    }

    fn schema(&self) -> Schema {
        schema_of::<OpenWordConfig>()
    }

    fn config(&self, settings: &Settings) -> Result<Box<dyn Trainable>> {
        let config: OpenWordConfig = settings.read_as()?;
        config.validate()?;
        Ok(Box::new(config))
    }

    fn open(&self, folder: &ModelReader, parts: &OpenParts<'_>) -> Result<Box<dyn Ranker>> {
        let config: WordConfig = folder.read_json(CONFIG_FILE)?;
        let num_labels = parts.labels.len();
        let model = WordModel::open(folder, config, num_labels, parts.compute)?;
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
        let config: WordConfig = folder.read_json(CONFIG_FILE)?;
        num_parameters(folder, &config).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::recipes::check_systems;

    #[test]
    fn every_recipe_and_preset_is_valid() {
        check_systems(&Words);
    }

    #[test]
    fn the_beam_is_an_option_of_those_that_have_one() {
        let has_beam = |spec: &&SystemSpec| spec.options.iter().any(|(name, _)| *name == "beam");
        let names: Vec<&str> = SYSTEMS
            .iter()
            .filter(has_beam)
            .map(|spec| spec.name)
            .collect();
        assert_eq!(names, ["attentionxml-plt", "lightattention"]);
    }
}
