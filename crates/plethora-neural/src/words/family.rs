//! The systems that read words.

use plethora_core::Result;
use plethora_core::artifact::{CONFIG_FILE, ModelReader};
use plethora_system::settings::{Settings, schema_of};
use plethora_system::{Device, Family, OpenParts, Preset, Ranker, SystemSpec, Trainable};
use schemars::Schema;

use super::config::{OpenWordConfig, WordConfig};
use super::model::WordModel;
use super::open::num_parameters;
use crate::systems::{DTYPE, SEED, VECTORS};

/// The family of systems that read words: AttentionXML with its baselines, and LightAttention.
#[derive(Debug)]
pub struct Words;

pub(super) static SYSTEMS: [SystemSpec; 5] = [
    SystemSpec {
        name: "attentionxml",
        about: "AttentionXML: an LSTM over words, and every label attends to those that matter to it",
        recipe: include_str!("../../../../recipes/attentionxml.toml"),
        presets: &[
            Preset {
                name: "paper-medium",
                text: include_str!("../../../../recipes/presets/attentionxml-paper-medium.toml"),
            },
            Preset {
                name: "paper-large",
                text: include_str!("../../../../recipes/presets/attentionxml-paper-large.toml"),
            },
            Preset {
                name: "demo",
                text: include_str!("../../../../recipes/presets/attentionxml-demo.toml"),
            },
        ],
        ranges: include_str!("../../../../recipes/ranges/attentionxml.toml"),
        options: &[SEED, VECTORS, DTYPE],
        example: "--system attentionxml --vectors glove.txt --device cuda",
    },
    SystemSpec {
        name: "attentionxml-plt",
        about: "AttentionXML on a label tree, for label sets too large for it",
        recipe: include_str!("../../../../recipes/attentionxml-plt.toml"),
        presets: &[],
        ranges: include_str!("../../../../recipes/ranges/attentionxml-plt.toml"),
        options: &[SEED, ("beam", "plt.beam"), VECTORS, DTYPE],
        example: "",
    },
    SystemSpec {
        name: "xml-rnn",
        about: "the baseline of AttentionXML with an LSTM and no attention",
        recipe: include_str!("../../../../recipes/xml-rnn.toml"),
        presets: &[],
        ranges: include_str!("../../../../recipes/ranges/xml-rnn.toml"),
        options: &[SEED, VECTORS, DTYPE],
        example: "",
    },
    SystemSpec {
        name: "xml-cnn",
        about: "the baseline of AttentionXML with convolutions",
        recipe: include_str!("../../../../recipes/xml-cnn.toml"),
        presets: &[],
        ranges: include_str!("../../../../recipes/ranges/xml-cnn.toml"),
        options: &[SEED, VECTORS, DTYPE],
        example: "",
    },
    SystemSpec {
        name: "lightattention",
        about: "LightAttention: clusters of labels attend first, then the labels of the best ones, learnt together",
        recipe: include_str!("../../../../recipes/lightattention.toml"),
        presets: &[
            Preset {
                name: "paper-eurlex",
                text: include_str!("../../../../recipes/presets/lightattention-paper-eurlex.toml"),
            },
            Preset {
                name: "paper-wiki10",
                text: include_str!("../../../../recipes/presets/lightattention-paper-wiki10.toml"),
            },
            Preset {
                name: "paper-amazoncat",
                text: include_str!(
                    "../../../../recipes/presets/lightattention-paper-amazoncat.toml"
                ),
            },
        ],
        ranges: include_str!("../../../../recipes/ranges/lightattention.toml"),
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
