//! `cargo xtask demo`: from a fresh clone to a trained and evaluated classifier.

use std::path::Path;
use std::process::Command;

use crate::{Result, process, program};

/// Builds the program without neural systems, which the demo on a processor does not train, and runs its demo; extra
/// arguments go to the demo.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    process::run(process::cargo(root).args(["build", "--release", "--package", "plethora-cli"]))?;
    process::run(
        Command::new(program::path(root, "release"))
            .arg("demo")
            .args(arguments)
            .current_dir(root),
    )
}
