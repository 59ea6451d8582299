//! `cargo xtask check`: what must hold of every commit beside its tests.

mod architecture;
mod crate_graph;
mod structure;

use std::path::Path;

use crate::{Result, docs, process, setup};

type Check = fn(&Path) -> Result<()>;

/// Runs all checks, and reports every one that failed.
pub(crate) fn run(root: &Path) -> Result<()> {
    setup::run(root)?;
    let checks: [(&str, Check); 7] = [
        ("formatting", formatting),
        ("crate graph", crate_graph::check),
        ("paths in ARCHITECTURE.md", architecture::check),
        ("structure", structure::check),
        ("links of the documents", docs::check_links),
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
    let clippy = |packages: &[&str]| {
        process::run(process::cargo(root).arg("clippy").args(packages).args([
            "--all-targets",
            "--",
            "--deny",
            "warnings",
        ]))
    };
    clippy(&[&["--workspace"][..], &process::WITH_TORCH].concat())?;
    // Programs that download encoders are not built otherwise.
    clippy(&["--package", "plethora-cli", "--features", "hub"])?;
    // The code of programs without neural systems; all that these depend on is checked already.
    let plain = ["plethora", "plethora-cli", "plethora-python"];
    clippy(&plain.map(|name| ["--package", name]).concat())
}

fn documentation(root: &Path) -> Result<()> {
    process::run(
        process::cargo(root)
            .args(["doc", "--workspace", "--no-deps"])
            .args(process::WITH_TORCH)
            .env("RUSTDOCFLAGS", "--deny warnings"),
    )
}
