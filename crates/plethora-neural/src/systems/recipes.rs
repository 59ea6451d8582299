//! The compiled-in settings of systems, and the options that stand for some of them.

use plethora_core::{Error, Result};
use plethora_system::SystemSpec;
use serde::de::DeserializeOwned;

/// A file of the folder of recipes, from a family's folder.
macro_rules! recipe {
    ($($name:literal),+) => {
        include_str!(concat!("../../../../recipes/", $($name),+, ".toml"))
    };
}

/// A system with the files of its recipe, presets and ranges, which are named after it.
macro_rules! system {
    (
        name: $name:literal,
        about: $about:literal,
        presets: [$($preset:literal),*],
        options: $options:expr,
        example: $example:literal,
        $(auto: [$($auto:expr),+ $(,)?],)?
    ) => {
        plethora_system::SystemSpec {
            name: $name,
            about: $about,
            recipe: $crate::systems::recipes::recipe!($name),
            presets: &[$(plethora_system::Preset {
                name: $preset,
                text: $crate::systems::recipes::recipe!("presets/", $name, "-", $preset),
            }),*],
            ranges: $crate::systems::recipes::recipe!("ranges/", $name),
            options: $options,
            example: $example,
            auto: &[$($($auto),+)?],
        }
    };
}

pub(crate) use {recipe, system};

/// The seed of all random choices.
pub(crate) const SEED: (&str, &str) = ("seed", "seed");

/// A file with pretrained word vectors.
pub(crate) const VECTORS: (&str, &str) = ("vectors", "vectors.file");

/// The numbers that training computes with.
pub(crate) const DTYPE: (&str, &str) = ("dtype", "train.precision");

/// The settings of the recipe of one of these systems.
pub(crate) fn recipe_of<T: DeserializeOwned>(systems: &[SystemSpec], name: &str) -> Result<T> {
    let spec = systems.iter().find(|spec| spec.name == name);
    let spec = spec.ok_or_else(|| {
        let message = format!("no system of this family is called {name}");
        Error::config("system", message)
    })?;
    toml::from_str(spec.recipe).map_err(|error| Error::config(name, error.to_string()))
}

/// Makes sure that recipes name their systems, that presets change known settings, that options stand
/// for such, and that all of them can be trained.
#[cfg(test)]
pub(crate) fn check_systems(family: &'static dyn plethora_system::Family) {
    use std::path::Path;

    use plethora_system::Registry;
    use plethora_system::settings::parse_config;

    let registry = Registry::new([family]);
    for spec in registry.systems() {
        let recipe = registry.recipe(spec.name).unwrap();
        assert_eq!(recipe.get("system").unwrap(), spec.name);
        recipe.config().unwrap();
        for (_, key) in spec.options {
            recipe.kind_of(key).unwrap();
        }
        for preset in spec.presets {
            let mut settings = recipe.clone();
            for assignment in parse_config(Path::new(preset.name), preset.text).unwrap() {
                settings.assign(&assignment).unwrap();
            }
            settings.config().unwrap();
        }
    }
}
