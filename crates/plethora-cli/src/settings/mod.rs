//! From recipe, file, environment and flags to the settings of a run.
//!
//! Later ones win: the recipe of the system, the config file, the variable `PLETHORA_SET`, the
//! variables of single settings (`PLETHORA_SEED`), `--set`, the flags of their own.

mod config_file;
mod setting_table;

use std::env;
use std::path::PathBuf;

use clap::Args;
use plethora_linear::{LinearConfig, RECIPES};
use serde_json::Value;

use crate::environment;
use crate::failure::UsageError;
use setting_table::SettingTable;
pub(crate) use setting_table::nearest;

/// The options that shape a model; the words here are those of `--help`.
#[expect(clippy::doc_markdown, reason = "backticks would show in the help")]
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct SettingsArgs {
    #[arg(long, value_name = "NAME", help = format!("System to train: {}", systems()))]
    pub(crate) system: Option<String>,

    /// File with settings, TOML or JSON; `plethora init` writes one
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// A setting, as --set tree.max_leaf=50; repeat it for more. PLETHORA_SET takes the same,
    /// separated by commas
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,

    /// Seed of all random choices; equal seeds give equal models
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Tree nodes kept a level in prediction
    #[arg(short, long, value_name = "N")]
    pub(crate) beam: Option<u64>,
}

/// The names of all systems for `--help`, the default first.
pub(crate) fn systems() -> String {
    let names = RECIPES.map(|(name, _)| name).join(", ");
    names.replacen(',', " (default),", 1)
}

/// One setting as somebody wrote it.
#[derive(Debug, Clone, PartialEq)]
struct Assignment {
    /// Dotted path of the setting.
    key: String,
    value: AssignedValue,
    /// Who says so, for messages.
    origin: String,
}

/// A value with a type of its own, text that takes the setting's type, or a group of no settings.
#[derive(Debug, Clone, PartialEq)]
enum AssignedValue {
    Typed(Value),
    Text(String),
    EmptyGroup,
}

impl SettingsArgs {
    /// The settings of the run, checked.
    pub(crate) fn resolve(&self) -> anyhow::Result<LinearConfig> {
        let mut assignments = match &self.config {
            Some(path) => config_file::read(path)?,
            None => Vec::new(),
        };
        assignments.extend(from_environment()?);
        for text in &self.set {
            assignments.push(Assignment::parse(text, "--set")?);
        }
        assignments.extend(self.flags());
        let config = apply(&assignments)?;
        config.validate()?;
        Ok(config)
    }

    fn flags(&self) -> impl Iterator<Item = Assignment> {
        let flag = |key: &str, value: Option<Value>| {
            value.map(|value| Assignment {
                key: key.into(),
                value: AssignedValue::Typed(value),
                origin: format!("--{key}"),
            })
        };
        [
            flag("system", self.system.as_deref().map(Value::from)),
            flag("seed", self.seed.map(Value::from)),
            flag("beam", self.beam.map(Value::from)),
        ]
        .into_iter()
        .flatten()
    }
}

/// What variables say, those of single settings last.
fn from_environment() -> Result<Vec<Assignment>, UsageError> {
    let read = |option: &str| {
        let variable = environment::variable(option);
        let value = env::var(&variable).unwrap_or_default();
        (variable, value)
    };
    let (variable, list) = read("set");
    let parts = list.split(',').filter(|part| !part.is_empty());
    let mut assignments: Vec<Assignment> = parts
        .map(|part| Assignment::parse(part, &variable))
        .collect::<Result<_, _>>()?;
    for key in environment::SETTINGS {
        let (origin, value) = read(key);
        if !value.is_empty() {
            assignments.push(Assignment {
                key: key.into(),
                value: AssignedValue::Text(value),
                origin,
            });
        }
    }
    Ok(assignments)
}

impl Assignment {
    fn parse(text: &str, origin: &str) -> Result<Self, UsageError> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => Ok(Self {
                key: key.trim().into(),
                value: AssignedValue::Text(value.trim().into()),
                origin: origin.into(),
            }),
            _ => Err(UsageError::new(format!(
                "{origin}: `{text}`: expected KEY=VALUE, as tree.max_leaf=50"
            ))),
        }
    }
}

/// The recipe of the last system named, with all other assignments on top of it.
fn apply(assignments: &[Assignment]) -> anyhow::Result<LinearConfig> {
    let is_system = |assignment: &&Assignment| assignment.key == "system";
    let system = match assignments.iter().rfind(is_system) {
        Some(assignment) => system_of(assignment)?,
        None => RECIPES[0].0.to_owned(),
    };
    let mut table = SettingTable::of_system(&system)?;
    for assignment in assignments.iter().filter(|&one| !is_system(&one)) {
        table.assign(assignment)?;
    }
    Ok(table.into_config())
}

fn system_of(assignment: &Assignment) -> Result<String, UsageError> {
    let name = match &assignment.value {
        AssignedValue::Text(name) | AssignedValue::Typed(Value::String(name)) => name.clone(),
        AssignedValue::Typed(other) => other.to_string(),
        AssignedValue::EmptyGroup => String::new(),
    };
    let names = RECIPES.map(|(name, _)| name);
    if names.contains(&name.as_str()) {
        return Ok(name);
    }
    let guess = nearest(&name, names)
        .map(|guess| format!("did you mean `{guess}`? "))
        .unwrap_or_default();
    Err(UsageError::new(format!(
        "{}: unknown system `{name}`; {guess}Systems: {}",
        assignment.origin,
        names.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(args: &SettingsArgs) -> Result<LinearConfig, String> {
        args.resolve().map_err(|error| error.to_string())
    }

    fn set(assignments: &[&str]) -> SettingsArgs {
        SettingsArgs {
            set: assignments.iter().map(ToString::to_string).collect(),
            ..SettingsArgs::default()
        }
    }

    #[test]
    fn help_names_every_system() {
        let shown = systems();
        assert!(shown.starts_with("wide-tree (default), "), "{shown}");
        assert!(RECIPES.iter().all(|(name, _)| shown.contains(name)));
    }

    #[test]
    fn flags_win_over_assignments_and_these_over_the_recipe() {
        let config = resolve(&SettingsArgs {
            seed: Some(9),
            ..set(&["seed=7", "tree.max_leaf=12", "system=parabel"])
        })
        .unwrap();
        assert_eq!((config.seed, config.tree.max_leaf), (9, 12));
        assert_eq!((config.system.as_str(), config.num_trees), ("parabel", 3));
        assert_eq!(
            resolve(&SettingsArgs::default()).unwrap().system,
            "wide-tree"
        );
    }

    #[test]
    fn unknown_keys_are_refused_with_the_nearest_known_one() {
        for (assignment, expected) in [
            (
                "tree.max_leaff=3",
                "--set: unknown setting `tree.max_leaff`; did you mean `tree.max_leaf`?",
            ),
            ("max_leaf=3", "did you mean `tree.max_leaf`?"),
            ("seeed=3", "did you mean `seed`?"),
            ("tree=3", "`tree` is a group of settings"),
            ("seed", "expected KEY=VALUE"),
            ("system=parable", "did you mean `parabel`?"),
        ] {
            let message = resolve(&set(&[assignment])).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn wrong_types_say_what_was_expected() {
        for (assignment, expected) in [
            (
                "seed=many",
                "seed: expected a whole number from 0, found `many`",
            ),
            ("seed=-1", "expected a whole number from 0, found `-1`"),
            (
                "solver.cost=high",
                "solver.cost: expected a number, found `high`",
            ),
            ("text.sublinear=1", "expected true or false, found `1`"),
            (
                "tree.shape=round",
                "expected one of `balanced`, `kmeans`, `hierarchy`",
            ),
            ("num_trees=0", "num_trees: must be at least 1"),
        ] {
            let message = resolve(&set(&[assignment])).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn values_take_the_type_of_their_setting() {
        let config = resolve(&set(&[
            "solver.cost=2",
            "text.max_features=500",
            "text.sublinear=false",
            "tree.shape=\"kmeans\"",
        ]))
        .unwrap();
        assert_eq!(config.solver.cost, 2.0);
        assert_eq!(config.text.max_features, Some(500));
        assert!(!config.text.sublinear);
        assert_eq!(config.tree.shape, plethora_core::tree::TreeShape::Kmeans);
    }
}
