//! `cargo xtask python`: the wheel of the Python package, and its tests in a fresh environment.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, process, setup};

/// The package, from the root.
const PACKAGE: &str = "crates/plethora-python";

/// What builds wheels.
const MATURIN: &str = "maturin>=1.10,<2";

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    /// An optimised wheel, to give to others.
    is_release: bool,
    /// Without the neural systems.
    is_linear: bool,
    /// For pytest.
    others: Vec<String>,
}

impl Request {
    fn parse(arguments: &[String]) -> Self {
        let mut request = Self::default();
        for argument in arguments {
            match argument.as_str() {
                "--release" => request.is_release = true,
                "--linear" => request.is_linear = true,
                other => request.others.push(other.to_owned()),
            }
        }
        request
    }

    /// Features of cargo.
    fn features(&self) -> &'static [&'static str] {
        if self.is_linear {
            &[]
        } else {
            &process::WITH_TORCH
        }
    }
}

/// Builds the wheel and the program that it is compared with, and runs the tests.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let request = Request::parse(arguments);
    if !request.is_linear {
        setup::run(root)?;
    }
    let folder = root.join("target/python");
    let wheel = build(root, &folder, &request)?;
    process::run(
        process::cargo(root)
            .args(["build", "-p", "plethora-cli"])
            .args(request.features()),
    )?;
    let python = environment(&folder.join("venv"), true)?;
    let requirement = format!("{}[test]", wheel.display());
    process::run(pip(&python).arg(requirement))?;
    process::run(
        Command::new(&python)
            .args(["-m", "pytest"])
            .args(&request.others)
            .current_dir(root.join(PACKAGE))
            .env("PLETHORA_BINARY", root.join("target/debug/plethora"))
            .env("OMP_NUM_THREADS", "1"),
    )?;
    eprintln!("the wheel: {}", wheel.display());
    Ok(())
}

/// Builds the wheel, alone in its folder.
fn build(root: &Path, folder: &Path, request: &Request) -> Result<PathBuf> {
    let wheels = folder.join("wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    }
    let python = environment(&folder.join("build-venv"), false)?;
    process::run(pip(&python).arg(MATURIN))?;
    let profile = if request.is_release { "release" } else { "dev" };
    let mut maturin = Command::new(python.with_file_name("maturin"));
    maturin
        .args(["build", "--profile", profile, "--manifest-path"])
        .arg(root.join(PACKAGE).join("Cargo.toml"))
        .arg("--out")
        .arg(&wheels)
        .arg("--interpreter")
        .arg(&python)
        .args(request.features())
        .current_dir(root);
    if !request.is_linear {
        // libtorch stays outside of the wheel, so that it can be the one of PyTorch.
        maturin.args(["--compatibility", "linux", "--auditwheel", "skip"]);
    }
    process::run(&mut maturin)?;
    let entries =
        fs::read_dir(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    entries
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension() == Some(OsStr::new("whl")))
        .ok_or_else(|| format!("{}: there is no wheel", wheels.display()))
}

/// The Python of a virtual environment, made anew where it must be `fresh`.
fn environment(folder: &Path, fresh: bool) -> Result<PathBuf> {
    let python = folder.join("bin/python");
    if fresh || !python.is_file() {
        process::run(
            Command::new("python3")
                .args(["-m", "venv", "--clear"])
                .arg(folder),
        )?;
    }
    Ok(python)
}

fn pip(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--quiet", "--no-input"]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_ours_goes_to_pytest() {
        let arguments = ["--linear", "-k", "metrics", "--release"].map(str::to_owned);
        let request = Request::parse(&arguments);
        assert!(request.is_release && request.is_linear);
        assert_eq!(request.others, ["-k", "metrics"]);
        assert!(request.features().is_empty());
    }
}
