//! `cargo xtask demo`: from a fresh clone to a trained and evaluated classifier.

use std::path::Path;
use std::process::Command;

use crate::{Result, process, program, setup};

/// Sets up, builds the program and runs its demo; extra arguments go to the demo.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    setup::run(root)?;
    process::run(
        process::cargo(root)
            .args(["build", "--release", "--package", "plethora-cli"])
            .args(process::WITH_TORCH),
    )?;
    process::run(
        Command::new(program::path(root, "release"))
            .arg("demo")
            .args(arguments)
            .current_dir(root),
    )
}
