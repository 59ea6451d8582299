//! The options and variables that give settings; [`plethora_train::settings`] resolves them.

#[cfg(test)]
mod resolution_tests;
mod settings_args;

#[cfg(test)]
pub(crate) use plethora_train::settings::recipes;
pub(crate) use plethora_train::settings::{DEFAULT_SYSTEM, SystemConfig, nearest, recipe, systems};
pub(crate) use settings_args::SettingsArgs;
