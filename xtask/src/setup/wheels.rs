//! Downloading the wheels of torch and taking libtorch out of them.

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cache::Cache;
use super::{ADVICE, is_complete};
use crate::Result;
use crate::process::{capture, succeeds};

const EXTRACT: &str = include_str!("extract.py");

/// Fills the cache; an interrupted call continues with the wheels that are complete.
pub(super) fn install(root: &Path, cache: &Cache) -> Result<()> {
    check_tools()?;
    eprintln!(
        "libtorch: downloading 2.11.0 (540 MB) to {}",
        cache.wheels().display()
    );
    download(root, &cache.wheels())?;
    let finished = cache.libtorch();
    let partial = finished.with_file_name("libtorch.partial");
    remove_folder(&partial)?;
    eprintln!("libtorch: extracting to {}", finished.display());
    extract(&cache.wheels(), &partial, "all")?;
    make_empty_libtorch(&partial)?;
    if !is_complete(&partial) {
        return Err("the wheels of torch do not hold what was expected".to_owned());
    }
    remove_folder(&finished)?;
    fs::rename(&partial, &finished).map_err(|error| format!("{}: {error}", finished.display()))?;
    remove_folder(&cache.wheels())
}

fn check_tools() -> Result<()> {
    let needs = |what: &str| {
        Err(format!(
            "getting libtorch needs {what}; install it, or {ADVICE}"
        ))
    };
    if !succeeds(python().args(["-m", "pip", "--version"])) {
        return needs("python3 with pip (`python3 -m pip --version` fails)");
    }
    if !succeeds(compiler().arg("--version")) {
        return needs("a C and C++ compiler (`c++ --version` fails)");
    }
    Ok(())
}

fn python() -> Command {
    Command::new("python3")
}

/// The C++ compiler, which torch-sys needs too.
fn compiler() -> Command {
    Command::new(std::env::var_os("CXX").unwrap_or_else(|| "c++".into()))
}

fn download(root: &Path, wheels: &Path) -> Result<()> {
    let mut pip = python();
    pip.args([
        "-m",
        "pip",
        "download",
        "--no-input",
        "--no-cache-dir",
        "--retries",
        "3",
    ])
    .args(["--require-hashes", "--no-deps", "--only-binary=:all:"])
    .args(["--implementation", "cp", "--python-version", "3.12"])
    .args([
        "--platform",
        "manylinux_2_28_x86_64",
        "--platform",
        "manylinux_2_25_x86_64",
    ])
    .args(["--platform", "manylinux2014_x86_64", "--dest"])
    .arg(wheels)
    .arg("--requirement")
    .arg(root.join("xtask/libtorch-requirements.txt"))
    // Known to pip from 25.1 on, ignored before: continue a broken download.
    .env("PIP_RESUME_RETRIES", "10")
    .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    .stdin(Stdio::null())
    .stderr(Stdio::piped());
    if std::io::stdout().is_terminal() {
        pip.stdout(Stdio::inherit());
    } else {
        pip.arg("--quiet").stdout(Stdio::null());
    }
    // Errors are kept back: pip explains a missing network in twenty lines.
    let output = pip
        .spawn()
        .and_then(std::process::Child::wait_with_output)
        .map_err(|error| format!("cannot run python3: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let reason = last_error(&String::from_utf8_lossy(&output.stderr));
    Err(format!(
        "libtorch could not be downloaded: {reason}\nTo work offline, {ADVICE}"
    ))
}

/// The line of pip's output that says why it stopped.
fn last_error(output: &str) -> String {
    let is_offline = [
        "NewConnectionError",
        "NameResolutionError",
        "ConnectTimeoutError",
    ]
    .iter()
    .any(|name| output.contains(name));
    if is_offline {
        return "no connection to the Python package index".to_owned();
    }
    let mut errors = output
        .lines()
        .filter_map(|line| line.strip_prefix("ERROR: "));
    let first = errors.next().or_else(|| output.lines().last());
    first.unwrap_or("pip gave no reason").trim().to_owned()
}

/// Adds the licences to a libtorch that was installed without them.
pub(super) fn add_licences(root: &Path, cache: &Cache) -> Result<()> {
    check_tools()?;
    eprintln!("libtorch: downloading 2.11.0 (540 MB) again for its licences");
    download(root, &cache.wheels())?;
    extract(&cache.wheels(), &cache.libtorch(), "licences")?;
    remove_folder(&cache.wheels())
}

/// Takes `all` that is needed out of the wheels, or `licences`.
fn extract(wheels: &Path, target: &Path, what: &str) -> Result<()> {
    let files: Vec<PathBuf> = fs::read_dir(wheels)
        .map_err(|error| format!("{}: {error}", wheels.display()))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .collect();
    must_succeed(
        python()
            .args(["-c", EXTRACT])
            .arg(target)
            .arg(what)
            .args(files),
    )
}

/// `libtorch.so` of the wheel is a shell that pulls in the CUDA libraries; ours is empty.
fn make_empty_libtorch(libtorch: &Path) -> Result<()> {
    must_succeed(
        compiler()
            .args([
                "-shared",
                "-fPIC",
                "-Wl,-soname,libtorch.so",
                "-x",
                "c",
                "/dev/null",
                "-o",
            ])
            .arg(libtorch.join("lib/libtorch.so")),
    )
}

fn must_succeed(command: &mut Command) -> Result<()> {
    let output = capture(command)?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let reason = errors.lines().last().unwrap_or("no reason given");
    Err(format!(
        "`{}` failed: {reason}",
        command.get_program().to_string_lossy()
    ))
}

fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", folder.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_of_pips_output_is_kept() {
        let offline = "WARNING: Retrying after connection broken by \
                       'NewConnectionError(...)': /simple/torch/\n\
                       ERROR: Could not find a version that satisfies the requirement torch\n";
        assert_eq!(
            last_error(offline),
            "no connection to the Python package index"
        );
        let damaged = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES\n    Expected x\n";
        assert_eq!(
            last_error(damaged),
            "THESE PACKAGES DO NOT MATCH THE HASHES"
        );
        assert_eq!(last_error("No space left\n"), "No space left");
        assert_eq!(last_error(""), "pip gave no reason");
    }
}
