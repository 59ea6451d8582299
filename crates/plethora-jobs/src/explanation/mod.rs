//! Why a text gets its labels, as people and programs read it: as JSON, as an HTML page that needs
//! nothing else, and cut into parts for those who draw it elsewhere.

mod html;
mod report;
mod segments;

#[cfg(test)]
mod sample;

pub use report::{ExplanationReport, printable};
pub use segments::{Segment, segments, strongest};
