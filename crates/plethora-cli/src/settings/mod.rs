//! The options and variables that give settings; [`plethora_system::settings`] resolves them.

#[cfg(test)]
mod resolution_tests;
mod settings_args;

pub(crate) use settings_args::{AutoChoice, SettingsArgs, default_settings, systems};
