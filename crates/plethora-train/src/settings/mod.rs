//! From recipe, preset, file, environment and flags to the settings of a run.
//!
//! Later ones win: the recipe of the system, the preset, and then the steps in the order in which a
//! program gives them. The command line's are the config file, the variable `PLETHORA_SET`, the
//! variables of single settings (`PLETHORA_SEED`), `--set`, the flags of their own.

mod assignment;
mod config_file;
mod kind;
mod recipes;
mod resolution;
mod setting_table;
mod system_config;
mod usage_error;

pub use assignment::{AssignedValue, Assignment};
pub use config_file::{parse as parse_config, read as read_config};
pub use kind::Kind;
pub use recipes::{DEFAULT_SYSTEM, preset_help, recipe, recipes, systems};
pub use resolution::{SYSTEM, Step, apply};
pub use setting_table::{SettingTable, nearest};
pub use system_config::SystemConfig;
pub use usage_error::UsageError;
