//! A command of this program as a process of its own, which can be stopped at its next safe point.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Context;
use plethora_core::Error;

use crate::interrupt;

/// How often to look after the process.
const LOOK: Duration = Duration::from_millis(100);
/// Time for a process that was asked to stop, before it is ended.
const PATIENCE: Duration = Duration::from_secs(120);

/// How variables begin that stand for options.
const ENVIRONMENT: &str = "PLETHORA_";

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// It did what it was to do.
    Well,
    /// It failed; its log says why.
    Badly,
    /// It was asked to stop, as the time was over.
    Stopped,
}

/// Runs this program with these arguments; what it says is added to `log`.
///
/// # Errors
/// [`Error::Interrupted`] if the user asks to stop, which the process was asked as well, then.
pub(super) fn run_child(
    arguments: &[String],
    log: &Path,
    deadline: Option<Instant>,
) -> anyhow::Result<Ended> {
    if let Some(folder) = log.parent() {
        fs_err::create_dir_all(folder)?;
    }
    let file = fs_err::OpenOptions::new()
        .create(true)
        .append(true)
        .open(log)?;
    let (file, _) = file.into_parts();
    let program = std::env::current_exe().context("finding this program")?;
    let mut command = Command::new(program);
    // Options of ours are not the command's; what it is to do is on its command line.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with(ENVIRONMENT) {
            command.env_remove(name);
        }
    }
    apart(&mut command);
    let mut child = command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .spawn()
        .context("starting this program again")?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(if status.success() {
                Ended::Well
            } else {
                Ended::Badly
            });
        }
        if interrupt::is_requested() {
            stop(&mut child)?;
            return Err(Error::Interrupted.into());
        }
        if deadline.is_some_and(|end| Instant::now() >= end) {
            // What is over by now was not stopped.
            let is_done = stop(&mut child)?;
            return Ok(if is_done { Ended::Well } else { Ended::Stopped });
        }
        sleep(LOOK);
    }
}

/// Asks a process to stop at its next safe point, and ends it where it does not. True if it was done in the meantime.
fn stop(child: &mut Child) -> anyhow::Result<bool> {
    ask_to_stop(child);
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        sleep(LOOK);
    }
    child.kill()?;
    child.wait()?;
    Ok(false)
}

/// Keeps Ctrl-C on the terminal from the process: it would take ours for a second one, which ends it at once.
#[cfg(unix)]
fn apart(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

#[cfg(not(unix))]
fn apart(_command: &mut Command) {}

#[cfg(unix)]
fn ask_to_stop(child: &Child) {
    let id = rustix::process::Pid::from_child(child);
    // It may be over already.
    let _ = rustix::process::kill_process(id, rustix::process::Signal::INT);
}

#[cfg(not(unix))]
fn ask_to_stop(child: &mut Child) {
    let _ = child.kill();
}
