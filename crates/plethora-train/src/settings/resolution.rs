//! One recipe, and on top of it what everybody else says.

use std::path::Path;

use serde_json::Value;

use super::assignment::{AssignedValue, Assignment};
use super::recipes::{self, DEFAULT_SYSTEM};
use super::setting_table::SettingTable;
use super::{SystemConfig, UsageError, config_file};

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

/// The recipe of the last system named, with the preset and all other assignments on top of it.
///
/// # Errors
/// If one of them names or sets what there is not; the message starts with its origin.
pub fn apply(steps: &[Step], preset: Option<&Assignment>) -> Result<SystemConfig, UsageError> {
    let system = match steps.iter().rev().find_map(Step::system) {
        Some(assignment) => system_of(assignment)?,
        None => DEFAULT_SYSTEM.to_owned(),
    };
    let mut table = SettingTable::of_system(&system)?;
    if let Some(preset) = preset {
        for assignment in preset_of(&system, preset)? {
            table.assign(&assignment)?;
        }
    }
    for step in steps.iter().filter(|step| step.system().is_none()) {
        match step {
            Step::Setting(assignment) => table.assign(assignment)?,
            Step::Option(assignment) => table.assign_option(assignment)?,
        }
    }
    Ok(table.into_config())
}

fn system_of(assignment: &Assignment) -> Result<String, UsageError> {
    let name = name_in(&assignment.value);
    match recipes::recipe(&name) {
        Ok(_) => Ok(name),
        Err(message) => Err(UsageError::new(format!("{}: {message}", assignment.origin))),
    }
}

fn name_in(value: &AssignedValue) -> String {
    match value {
        AssignedValue::Text(name) | AssignedValue::Typed(Value::String(name)) => name.clone(),
        AssignedValue::Typed(other) => other.to_string(),
        AssignedValue::EmptyGroup => String::new(),
    }
}

fn preset_of(system: &str, preset: &Assignment) -> Result<Vec<Assignment>, UsageError> {
    let name = name_in(&preset.value);
    let text = recipes::preset(system, &name)
        .map_err(|message| UsageError::new(format!("{}: {message}", preset.origin)))?;
    config_file::parse(Path::new(&format!("preset {name}")), text)
}
