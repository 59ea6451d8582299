//! `cargo xtask python`: the wheel of the Python package, and its tests in a fresh environment.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, process, program, setup, virtual_environment};

/// The package, from the root.
const PACKAGE: &str = "crates/plethora-python";

/// What builds wheels, with checksums.
const MATURIN: &str = "xtask/maturin-requirements.txt";

/// What the package and its tests need, with checksums.
const NEEDED: &str = "crates/plethora-python/tests/requirements.txt";

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    /// An optimised wheel, to give to others.
    is_release: bool,
    /// Without the neural systems.
    is_linear: bool,
    /// For other machines, where libtorch is elsewhere.
    is_relocatable: bool,
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

    /// True where the wheel is to try things and shares what was compiled for the tests.
    fn has_features_of_tests(&self) -> bool {
        !self.is_release && !self.is_linear
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
    let program = if request.is_linear {
        process::run(process::cargo(root).args(["build", "-p", "plethora-cli"]))?;
        program::path(root, "debug")
    } else {
        program::build(root)?
    };
    let python = virtual_environment::fresh(&folder.join("venv"))?;
    process::run(
        virtual_environment::install(&python)
            .arg("-r")
            .arg(root.join(NEEDED)),
    )?;
    // Everything that it needs is there; pip must look for nothing else.
    process::run(
        virtual_environment::install(&python)
            .arg("--no-deps")
            .arg(&wheel),
    )?;
    process::run(
        Command::new(&python)
            .args(["-m", "pytest"])
            .args(&request.others)
            .current_dir(root.join(PACKAGE))
            .env("PLETHORA_BINARY", program)
            .env("OMP_NUM_THREADS", "1"),
    )?;
    eprintln!("the wheel: {}", wheel.display());
    Ok(())
}

/// Puts an optimised wheel for users into a folder, with or without the neural systems.
pub(crate) fn wheel(root: &Path, target: &Path, is_linear: bool) -> Result<()> {
    let request = Request {
        is_release: true,
        is_linear,
        is_relocatable: true,
        others: Vec::new(),
    };
    if !is_linear {
        setup::run(root)?;
    }
    let built = build(root, &root.join("target/python"), &request)?;
    let name = built.file_name().unwrap_or_default();
    fs::copy(&built, target.join(name))
        .map(drop)
        .map_err(|error| format!("{}: {error}", built.display()))
}

/// Builds the wheel, alone in its folder.
fn build(root: &Path, folder: &Path, request: &Request) -> Result<PathBuf> {
    let wheels = folder.join("wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    }
    let python = virtual_environment::kept(&folder.join("build-venv"))?;
    process::run(
        virtual_environment::install(&python)
            .arg("-r")
            .arg(root.join(MATURIN)),
    )?;
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
    if request.is_relocatable {
        maturin.env("PLETHORA_RELOCATABLE", "1");
    }
    if request.has_features_of_tests() {
        maturin
            .env("CARGO", root.join("xtask/cargo-as-tested"))
            .env("XTASK_CARGO", process::cargo(root).get_program())
            .env("XTASK_AS_TESTED", program::AS_TESTED.join(" "));
    }
    process::forget_own_package(&mut maturin);
    process::run(&mut maturin)?;
    let entries =
        fs::read_dir(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    entries
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension() == Some(OsStr::new("whl")))
        .ok_or_else(|| format!("{}: there is no wheel", wheels.display()))
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
