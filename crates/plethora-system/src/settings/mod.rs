//! From recipe, preset, file, environment and flags to the settings of a run.
//!
//! Later ones win: the recipe of the system, the presets in their order, and then the steps in the order in which a
//! program gives them. The command line's are the config file, the variable `PLETHORA_SET`, the
//! variables of single settings (`PLETHORA_SEED`), `--set`, the flags of their own. Which settings a
//! system has, and what each takes, is known from the types that they are read into.

mod assignment;
mod auto;
mod config_file;
mod kind;
mod resolution;
mod schema;
#[expect(clippy::module_inception, reason = "the type that the module is about")]
mod settings;

pub use assignment::{AssignedValue, Assignment};
pub use auto::Auto;
pub use config_file::{parse as parse_config, read as read_config};
pub use kind::Kind;
pub use resolution::{SYSTEM, Step, resolve};
pub use schema::schema_of;
pub use settings::{Settings, nearest};
