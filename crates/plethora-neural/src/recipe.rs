//! The compiled-in settings of each neural system, and named changes of them.

use plethora_core::{Error, Result};
use serde::de::DeserializeOwned;

/// Names and texts of the recipes. A new neural system is one more file here.
pub const RECIPES: [(&str, &str); 8] = [
    (
        "attentionxml",
        include_str!("../../../recipes/attentionxml.toml"),
    ),
    (
        "attentionxml-plt",
        include_str!("../../../recipes/attentionxml-plt.toml"),
    ),
    ("xml-rnn", include_str!("../../../recipes/xml-rnn.toml")),
    ("xml-cnn", include_str!("../../../recipes/xml-cnn.toml")),
    ("lightxml", include_str!("../../../recipes/lightxml.toml")),
    (
        "aplc-xlnet",
        include_str!("../../../recipes/aplc-xlnet.toml"),
    ),
    (
        "lightattention",
        include_str!("../../../recipes/lightattention.toml"),
    ),
    (
        "treaderxml",
        include_str!("../../../recipes/treaderxml.toml"),
    ),
];

/// The systems that read pieces; all others read words.
pub(crate) const PIECE_SYSTEMS: [&str; 2] = ["lightxml", "aplc-xlnet"];

/// The system that knows the labels of neighbours beside words.
pub(crate) const TREADER: &str = "treaderxml";

/// System, name and text of the presets: TOML documents with the settings that differ from the
/// system's recipe.
pub const PRESETS: [(&str, &str, &str); 28] = [
    (
        "attentionxml",
        "paper-medium",
        include_str!("../../../recipes/presets/attentionxml-paper-medium.toml"),
    ),
    (
        "attentionxml",
        "paper-large",
        include_str!("../../../recipes/presets/attentionxml-paper-large.toml"),
    ),
    (
        "attentionxml",
        "demo",
        include_str!("../../../recipes/presets/attentionxml-demo.toml"),
    ),
    (
        "lightxml",
        "paper-eurlex",
        include_str!("../../../recipes/presets/lightxml-paper-eurlex.toml"),
    ),
    (
        "lightxml",
        "paper-wiki10",
        include_str!("../../../recipes/presets/lightxml-paper-wiki10.toml"),
    ),
    (
        "lightxml",
        "paper-amazoncat",
        include_str!("../../../recipes/presets/lightxml-paper-amazoncat.toml"),
    ),
    (
        "lightxml",
        "paper-wiki500k",
        include_str!("../../../recipes/presets/lightxml-paper-wiki500k.toml"),
    ),
    (
        "lightxml",
        "paper-amazon670k",
        include_str!("../../../recipes/presets/lightxml-paper-amazon670k.toml"),
    ),
    (
        "lightxml",
        "quick",
        include_str!("../../../recipes/presets/lightxml-quick.toml"),
    ),
    (
        "aplc-xlnet",
        "paper-eurlex",
        include_str!("../../../recipes/presets/aplc-xlnet-paper-eurlex.toml"),
    ),
    (
        "aplc-xlnet",
        "paper-wiki10",
        include_str!("../../../recipes/presets/aplc-xlnet-paper-wiki10.toml"),
    ),
    (
        "aplc-xlnet",
        "paper-amazoncat",
        include_str!("../../../recipes/presets/aplc-xlnet-paper-amazoncat.toml"),
    ),
    (
        "aplc-xlnet",
        "paper-wiki500k",
        include_str!("../../../recipes/presets/aplc-xlnet-paper-wiki500k.toml"),
    ),
    (
        "aplc-xlnet",
        "paper-amazon670k",
        include_str!("../../../recipes/presets/aplc-xlnet-paper-amazon670k.toml"),
    ),
    (
        "aplc-xlnet",
        "quick",
        include_str!("../../../recipes/presets/aplc-xlnet-quick.toml"),
    ),
    (
        "lightattention",
        "paper-eurlex",
        include_str!("../../../recipes/presets/lightattention-paper-eurlex.toml"),
    ),
    (
        "lightattention",
        "paper-wiki10",
        include_str!("../../../recipes/presets/lightattention-paper-wiki10.toml"),
    ),
    (
        "lightattention",
        "paper-amazoncat",
        include_str!("../../../recipes/presets/lightattention-paper-amazoncat.toml"),
    ),
    (
        "treaderxml",
        "ablation-0",
        include_str!("../../../recipes/presets/treaderxml-ablation-0.toml"),
    ),
    (
        "treaderxml",
        "ablation-1",
        include_str!("../../../recipes/presets/treaderxml-ablation-1.toml"),
    ),
    (
        "treaderxml",
        "ablation-2",
        include_str!("../../../recipes/presets/treaderxml-ablation-2.toml"),
    ),
    (
        "treaderxml",
        "ablation-3",
        include_str!("../../../recipes/presets/treaderxml-ablation-3.toml"),
    ),
    (
        "treaderxml",
        "ablation-4",
        include_str!("../../../recipes/presets/treaderxml-ablation-4.toml"),
    ),
    (
        "treaderxml",
        "ablation-5",
        include_str!("../../../recipes/presets/treaderxml-ablation-5.toml"),
    ),
    (
        "treaderxml",
        "ablation-6",
        include_str!("../../../recipes/presets/treaderxml-ablation-6.toml"),
    ),
    (
        "treaderxml",
        "no-teacher",
        include_str!("../../../recipes/presets/treaderxml-no-teacher.toml"),
    ),
    (
        "treaderxml",
        "paper",
        include_str!("../../../recipes/presets/treaderxml-paper.toml"),
    ),
    (
        "treaderxml",
        "reading",
        include_str!("../../../recipes/presets/treaderxml-reading.toml"),
    ),
];

/// The text of a system's recipe, a TOML document with every setting.
pub fn recipe(system: &str) -> Option<&'static str> {
    RECIPES
        .iter()
        .find(|(name, _)| *name == system)
        .map(|(_, text)| *text)
}

/// The settings of a system's recipe; `kind` says what the system should be one of.
pub(crate) fn settings_of<T: DeserializeOwned>(system: &str, kind: &str) -> Result<T> {
    let text = recipe(system)
        .ok_or_else(|| Error::config("system", format!("no {kind} is called {system}")))?;
    toml::from_str(text).map_err(|error| Error::config(system, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NeuralConfig;

    #[test]
    fn every_recipe_names_its_system_and_is_valid() {
        for (name, _) in RECIPES {
            let config = NeuralConfig::of_system(name).unwrap();
            assert_eq!(config.system(), name);
            config.validate().unwrap();
        }
        assert!(NeuralConfig::of_system("forest").is_err());
    }

    #[test]
    fn every_preset_is_of_a_system_and_changes_known_settings() {
        for (system, name, text) in PRESETS {
            let mut settings: toml::Table = toml::from_str(recipe(system).unwrap()).unwrap();
            overlay(&mut settings, toml::from_str(text).unwrap(), name);
            let config: NeuralConfig = toml::Value::Table(settings).try_into().unwrap();
            config.validate().unwrap();
        }
    }

    fn overlay(settings: &mut toml::Table, changes: toml::Table, preset: &str) {
        for (key, change) in changes {
            match (settings.get_mut(&key), change) {
                (Some(toml::Value::Table(group)), toml::Value::Table(changes)) => {
                    overlay(group, changes, preset);
                }
                (Some(setting), change) => *setting = change,
                (None, _) => panic!("{preset}: no recipe has {key}"),
            }
        }
    }
}
