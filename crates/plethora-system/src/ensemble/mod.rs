//! Several trained models that rank as one, whatever systems they are of.
//!
//! An ensemble is a model folder of its own: it holds whole copies of its members in the folders
//! `member-0`, `member-1` and so on, or says where they are, the labels of all of them, and how their
//! scores become one. Scores of members are probabilities where they were calibrated.

mod candidates;
mod combiner;
mod config;
mod family;
mod fusion;
mod fusion_fitter;
mod label_edit;
mod label_union;
mod label_weights;
mod link;
mod logistic;
mod member_folder;
mod model;
mod powers;
mod save;
mod size;
mod stacking;

pub use candidates::{Candidates, FUSION_RANKS};
pub use config::{Combination, EnsembleConfig};
pub use family::Ensembles;
pub use fusion::Fusion;
pub use fusion_fitter::FittedFusion;
pub use label_weights::LabelWeights;
pub use link::MemberLink;
pub use member_folder::MemberFolder;
pub use model::{EnsembleModel, Member};
pub use powers::Powers;
pub use save::EnsembleParts;
pub use stacking::{Stacking, StackingFitter};

/// What ensembles are called where systems have a name.
pub const ENSEMBLE: &str = "ensemble";
