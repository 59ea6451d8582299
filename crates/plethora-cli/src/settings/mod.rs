//! The options and variables that give settings; [`plethora_train::settings`] resolves them.

#[cfg(test)]
mod resolution_tests;
mod settings_args;

#[cfg(test)]
pub(crate) use plethora_train::settings::recipes;
pub(crate) use plethora_train::settings::{
    AssignedValue, Assignment, DEFAULT_SYSTEM, Kind, SettingTable, SystemConfig, nearest,
    parse_config, read_config, recipe, systems,
};
pub(crate) use settings_args::SettingsArgs;
