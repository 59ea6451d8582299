//! Systems of pieces on a small catalogue, with the smallest encoder that can be trained: every form
//! trains, ranks and comes back from its folder, what must be equal is equal, and runs are resumed.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod adaptive;
mod equalities;
mod family;
mod forms;
mod going_on;
mod label_names;
mod neighbours;
mod presets;
mod settled;
mod windows;
mod workshop;
