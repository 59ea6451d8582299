//! Documents and labels: reading them from every format the field uses, writing them back, and
//! splitting them.

pub mod catalogue;
mod document;
mod label_space;

pub use document::{Content, Document};
pub use label_space::{Label, LabelSpace, LabelSpaceBuilder};
