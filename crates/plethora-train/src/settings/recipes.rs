//! The systems that this program knows, with their recipes and presets.

use plethora_linear::RECIPES;
use plethora_linear::knn::{KNN, KNN_RECIPE};
use plethora_predict::NEURAL_SYSTEMS;

use super::setting_table::nearest;

/// What trains where `--system` names nothing.
pub const DEFAULT_SYSTEM: &str = RECIPES[0].0;

/// How to get what this program lacks.
const WITHOUT_NEURAL: &str = "this program was built without neural systems; in its repository, \
     `cargo xtask setup` and `cargo install --path crates/plethora-cli --features torch` build one \
     with them";

/// System, name and text of a preset: settings that differ from the system's recipe.
pub(super) type Preset = (&'static str, &'static str, &'static str);

/// Names and recipes of all systems, the default first.
pub fn recipes() -> Vec<(&'static str, &'static str)> {
    let mut recipes = RECIPES.to_vec();
    recipes.push((KNN, KNN_RECIPE));
    #[cfg(feature = "torch")]
    recipes.extend(plethora_neural::RECIPES);
    recipes
}

/// The presets of all systems.
pub(super) fn presets() -> &'static [Preset] {
    #[cfg(feature = "torch")]
    return &plethora_neural::PRESETS;
    #[cfg(not(feature = "torch"))]
    &[]
}

/// The names of all systems for `--help`, the default first.
pub fn systems() -> String {
    let names = names().join(", ");
    names.replacen(',', " (default),", 1)
}

/// The names of all presets for `--help`.
pub fn preset_help() -> String {
    let shown: Vec<String> = presets()
        .iter()
        .map(|(system, name, _)| format!("{name} ({system})"))
        .collect();
    let list = match shown.as_slice() {
        [] => "none in this program".to_owned(),
        shown => shown.join(", "),
    };
    format!("Named changes of a system's recipe: {list}")
}

/// The recipe of a system, or what to tell those who asked for it.
pub fn recipe(system: &str) -> Result<&'static str, String> {
    let all = recipes();
    if let Some((_, text)) = all.iter().find(|(name, _)| *name == system) {
        return Ok(text);
    }
    if NEURAL_SYSTEMS.contains(&system) {
        return Err(format!("`{system}`: {WITHOUT_NEURAL}"));
    }
    let names = names();
    let guess = nearest(system, names.iter().copied())
        .map(|guess| format!("did you mean `{guess}`? "))
        .unwrap_or_default();
    Err(format!(
        "unknown system `{system}`; {guess}Systems: {}",
        names.join(", ")
    ))
}

/// The text of a preset, or what to tell those who asked for it.
pub(super) fn preset(system: &str, name: &str) -> Result<&'static str, String> {
    let of_system = presets().iter().filter(|(of, _, _)| *of == system);
    let names: Vec<&str> = of_system.clone().map(|(_, name, _)| *name).collect();
    if let Some((_, _, text)) = of_system.into_iter().find(|(_, known, _)| *known == name) {
        return Ok(text);
    }
    if names.is_empty() {
        return Err(format!("{system} has no presets"));
    }
    let guess = nearest(name, names.iter().copied())
        .map(|guess| format!("did you mean `{guess}`? "))
        .unwrap_or_default();
    Err(format!(
        "{system} has no preset `{name}`; {guess}Presets: {}",
        names.join(", ")
    ))
}

fn names() -> Vec<&'static str> {
    recipes().into_iter().map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_system() {
        let shown = systems();
        assert!(shown.starts_with("wide-tree (default), "), "{shown}");
        assert!(names().iter().all(|name| shown.contains(name)));
    }

    #[test]
    fn neural_systems_are_known_or_said_to_be_missing() {
        for system in NEURAL_SYSTEMS {
            let found = recipe(system);
            assert_eq!(found.is_ok(), cfg!(feature = "torch"), "{found:?}");
            match found {
                Ok(text) => assert!(text.contains(system)),
                Err(message) => assert!(message.contains("--features torch"), "{message}"),
            }
        }
        let message = recipe("attentionxm").unwrap_err();
        assert!(message.starts_with("unknown system `attentionxm`; "));
    }

    #[test]
    fn presets_belong_to_a_system() {
        assert_eq!(
            preset("wide-tree", "demo").unwrap_err(),
            "wide-tree has no presets"
        );
        for (system, name, text) in presets() {
            assert_eq!(preset(system, name), Ok(*text));
            assert!(preset_help().contains(name));
        }
    }

    #[cfg(feature = "torch")]
    #[test]
    fn an_unknown_preset_is_refused_with_the_nearest_one() {
        assert_eq!(
            preset("attentionxml", "paper-medum").unwrap_err(),
            "attentionxml has no preset `paper-medum`; did you mean `paper-medium`? \
             Presets: paper-medium, paper-large, demo"
        );
    }
}
