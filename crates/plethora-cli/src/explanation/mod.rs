//! Why a text gets its labels, on a terminal.

mod terminal;

#[cfg(test)]
#[path = "../../../plethora-jobs/src/explanation/sample.rs"]
mod sample;

pub(crate) use plethora_jobs::explanation::ExplanationReport;
pub(crate) use terminal::{TextStyle, marked_text, to_text};
