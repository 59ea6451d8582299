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
    command
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
