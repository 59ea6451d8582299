//! What users see of failures: one message on standard error, and an exit status.

use std::io::{self, Write};
use std::panic;
use std::process::ExitCode;

use plethora_core::{Error, printable};

use crate::wording::worded;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// All went well.
    Success,
    /// Something failed that is neither the arguments' nor the data's fault, or the user stopped.
    Failure,
    /// The arguments or settings make no sense.
    Usage,
    /// A corpus, a vocabulary or a model cannot be used.
    BadData,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(match status {
            ExitStatus::Success => 0,
            ExitStatus::Failure => 1,
            ExitStatus::Usage => 2,
            ExitStatus::BadData => 3,
        })
    }
}

/// Tells the user what failed, and gives the status for it.
pub(crate) fn report(error: &anyhow::Error) -> ExitStatus {
    if is_closed_pipe(error) {
        return ExitStatus::Success;
    }
    tell(&format!("error: {}", message_of(error)));
    status_of(error)
}

/// Prints what clap has to say: help and version are no errors.
pub(crate) fn report_usage(error: &clap::Error) -> ExitStatus {
    // Nothing is left to do if even this cannot be written.
    let _ = error.print();
    if error.use_stderr() {
        ExitStatus::Usage
    } else {
        ExitStatus::Success
    }
}

/// In the message of a panic that says that libtorch failed, as when memory runs out. The neural
/// crate turns such panics into errors, which are told once.
const TORCH_FAILURE: &str = "Torch(\"";

/// A bug of ours is one line that asks to be reported, not a trace.
pub(crate) fn install_panic_hook() {
    panic::set_hook(Box::new(|panic| {
        let payload = panic.payload();
        let message = (payload.downcast_ref::<&str>().copied())
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        if message.contains(TORCH_FAILURE) {
            return;
        }
        let place = panic
            .location()
            .map_or_else(String::new, |place| format!(" ({place})"));
        tell(&format!(
            "error: this is a bug in plethora {}, please report it: {message}{place}",
            env!("CARGO_PKG_VERSION"),
        ));
    }));
}

/// Writes a line to standard error.
pub(crate) fn tell(line: &str) {
    // Where nobody can be told, nothing can be done about it.
    let _ = writeln!(io::stderr().lock(), "{}", printable(line));
}

fn status_of(error: &anyhow::Error) -> ExitStatus {
    match error.downcast_ref::<Error>() {
        Some(Error::Config { .. } | Error::Usage(_)) => ExitStatus::Usage,
        Some(Error::Input { .. } | Error::Read { .. } | Error::Data(_) | Error::Model { .. }) => {
            ExitStatus::BadData
        }
        _ => ExitStatus::Failure,
    }
}

/// The chain of causes in one line; causes that a message repeats already are left out.
pub(crate) fn message_of(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain() {
        let text = match cause.downcast_ref() {
            Some(error) => worded(error),
            None => cause.to_string(),
        };
        if message.is_empty() {
            message = text;
        } else if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
    }
    message
}

/// True if the reader of our output went away, as `head` does once it has enough.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_failure_has_its_status() {
        let not_found = || io::Error::from(io::ErrorKind::NotFound);
        let path = Path::new("corpus.jsonl");
        for (error, status) in [
            (Error::config("seed", "no"), ExitStatus::Usage),
            (Error::usage("no"), ExitStatus::Usage),
            (Error::input(path, 3, "no text"), ExitStatus::BadData),
            (Error::read(path)(not_found()), ExitStatus::BadData),
            (Error::Data("no documents".into()), ExitStatus::BadData),
            (Error::model(path, "damaged"), ExitStatus::BadData),
            (Error::write(path)(not_found()), ExitStatus::Failure),
            (Error::Interrupted, ExitStatus::Failure),
            (Error::Compute("out of memory".into()), ExitStatus::Failure),
        ] {
            assert_eq!(status_of(&error.into()), status);
        }
    }

    #[test]
    fn causes_are_told_once() {
        let source = io::Error::other("disk on fire");
        let error = anyhow::Error::from(Error::read(Path::new("a.txt"))(source));
        assert_eq!(message_of(&error), "a.txt: cannot read: disk on fire");
        let error = error.context("comparing corpora");
        assert_eq!(
            message_of(&error),
            "comparing corpora: a.txt: cannot read: disk on fire"
        );
    }
}
