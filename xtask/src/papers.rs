//! `cargo xtask papers`: what the papers claim, tested on data that you have.

use std::path::Path;
use std::process::Command;

use crate::{Result, process, program, setup};

/// Where figures are kept, and the page that they make.
const RESULTS: &str = "docs/papers.jsonl";
const PAGE: &str = "docs/papers.md";

/// Builds the program and runs `plethora reproduce` with what was measured already; without arguments it writes the page
/// anew.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    setup::run(root)?;
    process::run(
        process::cargo(root)
            .args(["build", "--release", "--package", "plethora-cli"])
            .args(process::WITH_TORCH),
    )?;
    process::run(
        Command::new(program::path(root, "release"))
            .args(["reproduce", "--results", RESULTS, "--page", PAGE])
            .args(arguments)
            .current_dir(root),
    )
}
