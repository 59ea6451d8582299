//! `cargo xtask clients`: programs of others talk to `plethora serve` and take its models.

use std::path::Path;
use std::process::Command;

use crate::{Result, process, program, setup, virtual_environment};

/// What is tested, from the root.
const TESTS: &str = "crates/plethora-serve/tests/clients";

/// Environment and caches, from the root.
const FOLDER: &str = "target/clients";

/// Sets up and runs the tests; arguments go to pytest.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    setup::run(root)?;
    let program = program::build(root)?;
    let folder = root.join(FOLDER);
    let python = virtual_environment::kept(&folder.join("venv"))?;
    process::run(
        virtual_environment::install(&python)
            .arg("--requirement")
            .arg(root.join(TESTS).join("requirements.txt")),
    )?;
    process::run(
        Command::new(&python)
            .args(["-m", "pytest", "-q", "--override-ini"])
            .arg(format!("cache_dir={}", folder.join("pytest").display()))
            .args(arguments)
            .arg(TESTS)
            .current_dir(root)
            .env("PLETHORA", program)
            .env("OMP_NUM_THREADS", "1"),
    )
}
