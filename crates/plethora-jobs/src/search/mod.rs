//! Settings that rank best: trials of a recipe's ranges under a time budget, measured on documents
//! that no trial learns from.
//!
//! `job.rs` is what to search, `running_search.rs` runs trials one after another, `plan.rs` says which comes next, `search_space.rs` what it
//! is trained with. What is finished lies in the search's folder, and a search that was stopped is
//! resumed from there.

mod budget;
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
mod trial_progress;
mod trial_runner;
pub(crate) use trial_progress::TrialProgress;

pub use budget::parse as parse_budget;
pub use documents::Documents;
pub use folder::{Existing, SearchFolder};
pub use job::SearchJob;
pub use metric_choice::{DEFAULT_METRIC, MetricChoice};
pub use plan::{Method, Step};
pub use report::{CompleteReport, SearchReport};
pub use search_space::{SearchSpace, parse_range};
pub use trial_runner::{TrialResult, TrialRunner};
