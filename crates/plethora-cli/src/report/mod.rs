//! Reports on a terminal.

mod screen;

pub(crate) use screen::to_screen;
