//! What is in a corpus, what may be wrong with it, and what training on it will cost.

mod content_hashes;
mod estimate;
#[cfg(feature = "torch")]
mod neural_estimate;
mod profile;
mod report;
mod report_text;

pub(crate) use profile::CorpusProfile;
pub(crate) use report::CheckReport;
