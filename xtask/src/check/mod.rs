//! `cargo xtask check`: what must hold of every commit beside its tests.

mod architecture;
mod crate_graph;

use std::path::Path;

use crate::{Result, process, setup};

type Check = fn(&Path) -> Result<()>;

/// Runs all checks, and reports every one that failed.
pub(crate) fn run(root: &Path) -> Result<()> {
    setup::run(root)?;
    let checks: [(&str, Check); 5] = [
        ("formatting", formatting),
        ("crate graph", crate_graph::check),
        ("paths in ARCHITECTURE.md", architecture::check),
        ("lints", lints),
        ("documentation", documentation),
    ];
    let mut failed = Vec::new();
    for (name, check) in checks {
        if let Err(message) = check(root) {
            eprintln!("check: {name}: {message}");
            failed.push(name);
        }
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(format!("failed: {}", failed.join(", ")))
    }
}

fn formatting(root: &Path) -> Result<()> {
    process::run(process::cargo(root).args(["fmt", "--all", "--check"]))
}

fn lints(root: &Path) -> Result<()> {
    process::run(process::cargo(root).args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "--deny",
        "warnings",
    ]))
}

fn documentation(root: &Path) -> Result<()> {
    process::run(
        process::cargo(root)
            .args(["doc", "--workspace", "--no-deps"])
            .env("RUSTDOCFLAGS", "--deny warnings"),
    )
}
