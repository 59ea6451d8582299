//! The program with the neural systems, as the tests have it.

use std::path::{Path, PathBuf};

use crate::{Result, process};

/// Makes cargo choose features as it does for all tests. Dependencies get the features that anything
/// in the same call asks for, so that a call for one package would compile many of them again, and
/// torch-sys for minutes.
pub(crate) const AS_TESTED: [&str; 3] = ["--workspace", "--test", "pages"];

/// Builds the program and says where it is.
pub(crate) fn build(root: &Path) -> Result<PathBuf> {
    process::run(
        process::cargo(root)
            .arg("build")
            .args(AS_TESTED)
            .args(["--bin", "plethora"])
            .args(process::WITH_TORCH),
    )?;
    Ok(path(root, "debug"))
}

/// Where cargo puts the program.
pub(crate) fn path(root: &Path, profile: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root.join(target).join(profile).join("plethora")
}
