//! The compiled-in settings of each linear system.

use plethora_core::{Error, Result};

use crate::config::LinearConfig;

/// Names and texts of the recipes, the default first. A new linear system is one more file here.
pub const RECIPES: [(&str, &str); 4] = [
    ("wide-tree", include_str!("../../../recipes/wide-tree.toml")),
    ("parabel", include_str!("../../../recipes/parabel.toml")),
    ("bonsai", include_str!("../../../recipes/bonsai.toml")),
    (
        "one-vs-all",
        include_str!("../../../recipes/one-vs-all.toml"),
    ),
];

/// The text of a system's recipe, a TOML document with every setting.
pub fn recipe(system: &str) -> Option<&'static str> {
    RECIPES
        .iter()
        .find(|(name, _)| *name == system)
        .map(|(_, text)| *text)
}

impl LinearConfig {
    /// The settings of a system's recipe.
    pub fn of_system(system: &str) -> Result<Self> {
        let text = recipe(system).ok_or_else(|| {
            Error::config("system", format!("no linear system is called {system}"))
        })?;
        toml::from_str(text).map_err(|error| Error::config(system, error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recipe_names_its_system_and_is_valid() {
        for (name, _) in RECIPES {
            let config = LinearConfig::of_system(name).unwrap();
            assert_eq!(config.system, name);
            config.validate().unwrap();
        }
        assert!(LinearConfig::of_system("forest").is_err());
    }
}
