//! Several trained models that rank as one, whatever systems they are of.
//!
//! An ensemble is a model folder of its own: it holds whole copies of its members in the folders
//! `member-0`, `member-1` and so on, the labels of all of them, and how their scores become one.

mod config;
mod label_union;
mod member_folder;
mod model;
mod save;

pub use config::{Combination, EnsembleConfig};
pub use member_folder::MemberFolder;
pub use model::{EnsembleModel, Member};
pub use save::EnsembleParts;

/// What ensembles are called where systems have a name.
pub const ENSEMBLE: &str = "ensemble";
