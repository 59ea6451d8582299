//! Python packages in a folder of their own, apart from those of the machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::process::{self, succeeds};

/// What an environment is made with; Debian keeps the second one back in `python3-venv`.
const NEEDED: &str = "import venv, ensurepip";

/// Says what is missing before anything is done.
pub(crate) fn check() -> Result<()> {
    check_with("python3")
}

fn check_with(python: &str) -> Result<()> {
    if succeeds(Command::new(python).args(["-c", NEEDED])) {
        return Ok(());
    }
    Err(format!(
        "Python programs run in an environment of their own, which needs python3 with venv \
         (`{python} -c '{NEEDED}'` fails); install it (Debian: apt-get install python3-venv)"
    ))
}

/// The Python of an environment that stays from call to call.
pub(crate) fn kept(folder: &Path) -> Result<PathBuf> {
    let python = folder.join("bin/python");
    // Written last: an environment without it was interrupted.
    if python.is_file() && folder.join("bin/pip").is_file() {
        Ok(python)
    } else {
        fresh(folder)
    }
}

/// The Python of an environment without packages.
pub(crate) fn fresh(folder: &Path) -> Result<PathBuf> {
    check()?;
    process::run(
        Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(folder),
    )?;
    Ok(folder.join("bin/python"))
}

/// Installs what the arguments to come say.
pub(crate) fn install(python: &Path) -> Command {
    let mut command = Command::new(python);
    command
        .args(["-m", "pip", "install", "--quiet", "--no-input"])
        .env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_python_without_venv_is_told_with_what_to_install() {
        let error = check_with("false").unwrap_err();
        assert!(error.contains("apt-get install python3-venv"), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
}
