//! Running other programs.

use std::ffi::OsString;
use std::process::{Command, Output, Stdio};

use crate::Result;

/// What makes cargo build the neural systems into the programs, wherever the crates have the choice.
pub(crate) const WITH_TORCH: [&str; 2] = ["--features", "torch"];

/// The cargo that runs this program, in the root of the repository.
pub(crate) fn cargo(root: &std::path::Path) -> Command {
    let mut command =
        Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.current_dir(root);
    forget_own_package(&mut command);
    command
}

/// Hides what `cargo run` says of the package of this program. The build script of ring runs again
/// where that changes, and much would be compiled anew after each change from `cargo` to `cargo xtask`.
pub(crate) fn forget_own_package(command: &mut Command) {
    let names = std::env::vars_os().map(|(name, _)| name);
    for name in names.filter(|name| is_of_own_package(&name.to_string_lossy())) {
        command.env_remove(name);
    }
}

fn is_of_own_package(variable: &str) -> bool {
    variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_MANIFEST_")
}

/// Shows a command, runs it with the terminal of this program, and fails if it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    eprintln!("$ {}", display(command));
    let status = command
        .status()
        .map_err(|error| cannot_start(command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{}` failed: {status}", display(command)))
    }
}

/// Runs a command without a word unless it fails.
pub(crate) fn run_quietly(command: &mut Command) -> Result<()> {
    let output = capture(command)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "`{}` failed: {}",
        display(command),
        said.trim_end()
    ))
}

/// Runs a command and keeps what it prints; a failing command is not an error here.
pub(crate) fn capture(command: &mut Command) -> Result<Output> {
    command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| cannot_start(command, &error))
}

/// True if the command can be run and succeeds.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    capture(command).is_ok_and(|output| output.status.success())
}

fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!(
        "cannot run `{}`: {error}",
        command.get_program().to_string_lossy()
    )
}

fn display(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let mut text = program
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_is_called_as_from_the_shell() {
        // Tests, too, are run by a cargo that says such things.
        assert!(std::env::var_os("CARGO_PKG_NAME").is_some());
        let command = cargo(std::path::Path::new("."));
        let is_hidden = |variable: &str| {
            command
                .get_envs()
                .any(|(name, value)| name == variable && value.is_none())
        };
        assert!(is_hidden("CARGO_PKG_NAME") && is_hidden("CARGO_MANIFEST_DIR"));
        assert!(!is_hidden("CARGO_TARGET_DIR"));
    }
}
