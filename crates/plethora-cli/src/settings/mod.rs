//! From recipe, preset, file, environment and flags to the settings of a run.
//!
//! Later ones win: the recipe of the system, the preset, the config file, the variable
//! `PLETHORA_SET`, the variables of single settings (`PLETHORA_SEED`), `--set`, the flags of their
//! own.

mod assignment;
pub(crate) mod config_file;
mod kind;
mod recipes;
mod resolution;
mod setting_table;
mod settings_args;
mod system_config;

pub(crate) use assignment::{AssignedValue, Assignment};
pub(crate) use kind::Kind;
pub(crate) use recipes::{DEFAULT_SYSTEM, recipe, recipes, systems};
pub(crate) use setting_table::{SettingTable, nearest};
pub(crate) use settings_args::SettingsArgs;
pub(crate) use system_config::SystemConfig;
