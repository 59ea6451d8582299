//! Bad input through the command line: corpora, models, arguments, outputs and streams that cannot
//! be used. Each case is refused with one message that says where and what was expected, with the
//! right exit status, and leaves the disk as it was. Full disks and killed processes have files of
//! their own.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

#[path = "../refusal/mod.rs"]
mod refusal;
#[path = "../support/mod.rs"]
mod support;

mod arguments;
mod corpora;
mod letters;
mod models;
mod outputs;
mod searches;
mod streams;
