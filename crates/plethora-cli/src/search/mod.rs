//! Settings that rank best: trials of a recipe's ranges under a time budget, measured on documents
//! that no trial learns from.
//!
//! `job.rs` is what to search, `running_search.rs` runs trials one after another, `plan.rs` says which comes next, `search_space.rs` what it
//! is trained with. What is finished lies in the search's folder, and a search that was stopped goes
//! on from there.

mod budget;
mod default_ranges;
mod documents;
mod effort;
mod folder;
mod job;
mod journal;
mod metric_choice;
mod plan;
mod range;
mod record;
mod report;
mod running_search;
mod search_space;
mod train_command;
mod trial_progress;

pub(crate) use budget::parse as parse_budget;
pub(crate) use documents::Documents;
pub(crate) use folder::{Existing, SearchFolder};
pub(crate) use job::SearchJob;
pub(crate) use metric_choice::{DEFAULT_METRIC, MetricChoice};
pub(crate) use plan::Method;
pub(crate) use search_space::SearchSpace;
pub(crate) use train_command::TrainCommand;
