//! Why a text gets its labels, as people and programs read it: coloured on a terminal, as JSON, and
//! as an HTML page that needs nothing else.

mod html;
mod json;
mod label_choice;
mod report;
mod segments;
mod terminal;

#[cfg(test)]
mod sample;

pub(crate) use label_choice::find_label;
pub(crate) use report::{ExplanationReport, printable};
pub(crate) use terminal::TextStyle;
