//! The program, and the one that kills it at a chosen moment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::{Result, process};

/// What a program is killed right before.
pub(super) const KINDS: [&str; 3] = ["rename", "fsync", "write"];

/// Calls of each kind.
pub(super) type Counts = [usize; 3];

/// Runs the program, and kills it.
#[derive(Debug)]
pub(super) struct Killer {
    tool: PathBuf,
    program: PathBuf,
    counts: PathBuf,
}

impl Killer {
    /// Compiles the tool into a folder.
    pub(super) fn build(folder: &Path, program: &Path) -> Result<Self> {
        let source = folder.join("kill_at.c");
        fs::write(&source, include_str!("kill_at.c"))
            .map_err(|error| format!("{}: {error}", source.display()))?;
        let tool = folder.join("kill_at");
        let mut compile = Command::new("cc");
        compile.args(["-O1", "-Wall", "-Wextra", "-o"]);
        process::run(compile.arg(&tool).arg(&source))?;
        Ok(Self {
            tool,
            program: fs::canonicalize(program)
                .map_err(|error| format!("{}: {error}", program.display()))?,
            counts: folder.join("counts"),
        })
    }

    /// The program with arguments, in a folder.
    pub(super) fn command(&self, folder: &Path, line: &str) -> Command {
        let mut command = Command::new(&self.program);
        settle(&mut command, folder).args(line.split_whitespace());
        command
    }

    /// Runs the program to its end.
    pub(super) fn run(&self, folder: &Path, line: &str) -> Result<Output> {
        process::capture(&mut self.command(folder, line))
    }

    /// Runs the program, which must succeed.
    pub(super) fn succeed(&self, folder: &Path, line: &str) -> Result<String> {
        let output = self.run(folder, line)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(format!("`plethora {line}`: {}", message_of(&output)))
    }

    /// The command that is killed right before the call `number` of a kind, or never where that is 0.
    pub(super) fn killed(&self, folder: &Path, line: &str, kind: &str, number: usize) -> Command {
        let mut command = Command::new(&self.tool);
        settle(&mut command, folder)
            .arg(&self.counts)
            .args([kind, &number.to_string()])
            .arg(&self.program)
            .args(line.split_whitespace());
        command
    }

    /// Runs the program until it is killed; the calls of each kind that it has made.
    pub(super) fn kill(
        &self,
        folder: &Path,
        line: &str,
        kind: &str,
        number: usize,
    ) -> Result<(Output, Counts)> {
        let output = process::capture(&mut self.killed(folder, line, kind, number))?;
        Ok((output, self.counts()?))
    }

    /// The calls of the last run.
    fn counts(&self) -> Result<Counts> {
        let text = fs::read_to_string(&self.counts).map_err(|error| format!("counts: {error}"))?;
        let numbers: Vec<usize> = text
            .split_whitespace()
            .filter_map(|number| number.parse().ok())
            .collect();
        Counts::try_from(numbers).map_err(|_| format!("counts: {text}"))
    }
}

/// What a program said before it failed.
pub(super) fn message_of(output: &Output) -> String {
    let message = String::from_utf8_lossy(&output.stderr);
    let last = message.trim().lines().last().unwrap_or_default();
    format!("{}: {last}", output.status)
}

/// No environment of ours, one thread, no terminal.
fn settle<'a>(command: &'a mut Command, folder: &Path) -> &'a mut Command {
    command
        .current_dir(folder)
        .env_clear()
        .env("OMP_NUM_THREADS", "1")
        .env("HOME", folder)
        .stdin(Stdio::null())
}
