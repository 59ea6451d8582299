//! One recipe, and on top of it what everybody else says.

use std::path::Path;

use plethora_core::{Error, Result};

use serde_json::Value;

use super::assignment::{AssignedValue, Assignment};
use super::settings::nearest;
use super::{Settings, config_file};
use crate::{Registry, SystemSpec};

/// Setting and option that name the recipe.
pub const SYSTEM: &str = "system";

/// Where an assignment comes from decides what its key names.
pub enum Step {
    /// The key is that of a setting.
    Setting(Assignment),
    /// The key is an option that stands for a setting, which one depends on the system.
    Option(Assignment),
}

impl Step {
    /// The assignment, if it names the system.
    fn system(&self) -> Option<&Assignment> {
        let (Self::Setting(assignment) | Self::Option(assignment)) = self;
        (assignment.key == SYSTEM).then_some(assignment)
    }
}

/// The recipe of the last system named, with the presets in their order and all other assignments on
/// top of it.
///
/// # Errors
/// If one of them names or sets what there is not; the message starts with its origin.
pub fn resolve(registry: &Registry, steps: &[Step], presets: &[Assignment]) -> Result<Settings> {
    let mut settings = match steps.iter().rev().find_map(Step::system) {
        Some(named) => registry
            .recipe(&name_in(&named.value))
            .map_err(|message| Error::usage(format!("{}: {message}", named.origin))),
        None => registry
            .recipe(registry.default_system().name)
            .map_err(Error::usage),
    }?;
    for preset in presets {
        for assignment in preset_of(settings.spec(), preset)? {
            settings.assign(&assignment)?;
        }
    }
    for step in steps.iter().filter(|step| step.system().is_none()) {
        match step {
            Step::Setting(assignment) => settings.assign(assignment)?,
            Step::Option(assignment) => settings.assign_option(assignment)?,
        }
    }
    Ok(settings)
}

fn name_in(value: &AssignedValue) -> String {
    match value {
        AssignedValue::Text(name) | AssignedValue::Typed(Value::String(name)) => name.clone(),
        AssignedValue::Typed(other) => other.to_string(),
        AssignedValue::EmptyGroup => String::new(),
    }
}

fn preset_of(spec: &SystemSpec, preset: &Assignment) -> Result<Vec<Assignment>> {
    let name = name_in(&preset.value);
    let refuse = |message: String| Error::usage(format!("{}: {message}", preset.origin));
    let known = spec.presets.iter().find(|known| known.name == name);
    match known {
        Some(known) => config_file::parse(Path::new(&format!("preset {name}")), known.text),
        None if spec.presets.is_empty() => Err(refuse(format!("{} has no presets", spec.name))),
        None => {
            let names: Vec<&str> = spec.presets.iter().map(|preset| preset.name).collect();
            let guess = nearest(&name, names.iter().copied())
                .map(|guess| format!("did you mean `{guess}`? "))
                .unwrap_or_default();
            Err(refuse(format!(
                "{} has no preset `{name}`; {guess}Presets: {}",
                spec.name,
                names.join(", ")
            )))
        }
    }
}
