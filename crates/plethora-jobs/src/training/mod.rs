//! From a corpus to a model folder, whatever the system, in stages from which a run can be resumed.

mod corpus;
mod documents;
mod job;
mod names;
mod report;

pub use corpus::Corpus;
pub use job::TrainingJob;
pub use report::TrainingReport;
