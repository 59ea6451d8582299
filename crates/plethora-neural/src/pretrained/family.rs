//! The family of systems that read pieces through a pretrained transformer.

use plethora_core::Result;
use plethora_core::artifact::ModelReader;
use plethora_system::settings::{Settings, schema_of};
use plethora_system::{Device, Family, OpenParts, Ranker, SystemSpec, Trainable};
use schemars::Schema;

use super::config::OpenPieceConfig;
use super::model::PieceModel;
use super::open::num_parameters;
use crate::systems::recipes::{preset, recipe};
use crate::systems::{DTYPE, SEED};

/// `LightXML` and APLC-XLNet: one network of pieces, or several with clusterings of their own.
#[derive(Debug, Clone, Copy)]
pub struct Pretrained;

/// The pretrained transformer.
const ENCODER: (&str, &str) = ("encoder", "encoder.folder");

pub(super) static SYSTEMS: [SystemSpec; 2] = [
    SystemSpec {
        name: "lightxml",
        about: "LightXML: a pretrained transformer, and one layer over all labels, clusters of labels, or all of them chunk by chunk",
        recipe: recipe!("lightxml"),
        presets: &[
            preset!("lightxml", "paper-eurlex"),
            preset!("lightxml", "paper-wiki10"),
            preset!("lightxml", "paper-amazoncat"),
            preset!("lightxml", "paper-wiki500k"),
            preset!("lightxml", "paper-amazon670k"),
            preset!("lightxml", "quick"),
        ],
        ranges: recipe!("ranges/lightxml"),
        auto: &[AutoMember {
            name: "lightxml",
            settings: "",
            needs_names: false,
        }],
        options: &[SEED, ("beam", "clusters.predict_beam"), ENCODER, DTYPE],
        example: "--system lightxml --encoder ./all-MiniLM-L6-v2 --device cuda",
    },
    SystemSpec {
        name: "aplc-xlnet",
        about: "APLC-XLNet: a pretrained transformer, frequent labels scored always, rarer ones in tails of narrower vectors",
        recipe: recipe!("aplc-xlnet"),
        presets: &[
            preset!("aplc-xlnet", "paper-eurlex"),
            preset!("aplc-xlnet", "paper-wiki10"),
            preset!("aplc-xlnet", "paper-amazoncat"),
            preset!("aplc-xlnet", "paper-wiki500k"),
            preset!("aplc-xlnet", "paper-amazon670k"),
            preset!("aplc-xlnet", "quick"),
        ],
        ranges: recipe!("ranges/aplc-xlnet"),
        auto: &[],
        options: &[SEED, ENCODER, DTYPE],
        example: "",
    },
];

impl Family for Pretrained {
    fn systems(&self) -> &'static [SystemSpec] {
        &SYSTEMS
    }

    fn schema(&self) -> Schema {
        schema_of::<OpenPieceConfig>()
    }

    fn config(&self, settings: &Settings) -> Result<Box<dyn Trainable>> {
        let config: OpenPieceConfig = settings.read_as()?;
        config.validate()?;
        Ok(Box::new(config))
    }

    fn open(&self, folder: &ModelReader, parts: &OpenParts<'_>) -> Result<Box<dyn Ranker>> {
        let model = PieceModel::open(folder, parts.labels.len(), parts.compute)?;
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
        num_parameters(folder).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::LazyLock;

    use plethora_system::Registry;
    use plethora_system::settings::parse_config;

    use super::*;

    static REGISTRY: LazyLock<Registry> = LazyLock::new(|| Registry::new([&Pretrained as _]));

    #[test]
    fn recipes_and_presets_are_settings_that_work() {
        for spec in &SYSTEMS {
            let settings = REGISTRY.recipe(spec.name).unwrap();
            settings.config().unwrap();
            assert_eq!(settings.get("system").unwrap(), spec.name);
            for (_, key) in spec.options {
                settings.kind_of(key).unwrap();
            }
            for preset in spec.presets {
                let mut settings = settings.clone();
                for assignment in parse_config(Path::new(preset.name), preset.text).unwrap() {
                    settings.assign(&assignment).unwrap();
                }
                settings.config().unwrap();
            }
        }
    }

    #[test]
    fn every_value_of_a_recipe_is_of_a_setting() {
        for spec in &SYSTEMS {
            let settings = REGISTRY.recipe(spec.name).unwrap();
            for assignment in parse_config(Path::new(spec.name), spec.recipe).unwrap() {
                settings.kind_of(&assignment.key).unwrap();
            }
        }
        let settings = REGISTRY.recipe("lightxml").unwrap();
        let kind = |key: &str| settings.kind_of(key).unwrap().to_string();
        assert_eq!(kind("train.epochs"), "a whole number from 0, or auto");
        assert_eq!(kind("train.learning_rate"), "a number, or auto");
        assert_eq!(
            kind("head.form"),
            "one of flat, clustered, exact, adaptive, or auto"
        );
        assert_eq!(kind("train.precision"), "one of auto, f32, bf16");
    }
}
