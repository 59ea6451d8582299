//! What is in a corpus, what may be wrong with it, and what training on it will cost.

mod content_hashes;
mod job;
mod profile;
mod report;
mod report_text;

pub use job::CheckJob;
pub use profile::CorpusProfile;
pub use report::CheckReport;
