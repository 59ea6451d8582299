//! `cargo xtask golden`: makes the golden values again with the programs they come from.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, process, virtual_environment};

/// Runs every `testdata/*/make_golden.py` with pinned packages and shows what changed.
pub(crate) fn run(root: &Path) -> Result<()> {
    let scripts = scripts(root)?;
    if scripts.is_empty() {
        return Err("there is no testdata/*/make_golden.py".to_owned());
    }
    let python = environment(root)?;
    for script in &scripts {
        let folder = script.parent().unwrap_or(root);
        process::run(Command::new(&python).arg(script).current_dir(folder))?;
    }
    process::run(
        Command::new("git")
            .args(["diff", "--stat", "--", "testdata"])
            .current_dir(root),
    )
}

fn scripts(root: &Path) -> Result<Vec<PathBuf>> {
    let testdata = root.join("testdata");
    let entries =
        std::fs::read_dir(&testdata).map_err(|error| format!("{}: {error}", testdata.display()))?;
    let mut scripts: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path().join("make_golden.py"))
        .filter(|script| script.is_file())
        .collect();
    scripts.sort();
    Ok(scripts)
}

/// The Python of a virtual environment with the reference programs.
fn environment(root: &Path) -> Result<PathBuf> {
    let python = virtual_environment::kept(&root.join("target/golden-venv"))?;
    process::run(
        virtual_environment::install(&python)
            .arg("--requirement")
            .arg(root.join("xtask/golden-requirements.txt")),
    )?;
    Ok(python)
}
