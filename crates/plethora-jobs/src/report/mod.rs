//! Reports of one or several models on the same documents: every metric with its interval, how the
//! models differ, where they fail, and what papers report on the same data; as JSON, Markdown and one
//! HTML page that needs nothing else.

mod compare;
mod content;
mod html;
mod judge;
mod markdown;
mod model_names;
mod pictures;
mod plot;
mod published;
mod run;
mod sections;
mod table;
mod tables;
mod training_curves;

#[cfg(test)]
mod sample;

pub use content::Report;
pub use run::{MeasuredForReport, ReportRun};
