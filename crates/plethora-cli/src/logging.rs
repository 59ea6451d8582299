//! Where the libraries' events go: lines on standard error.

use std::borrow::Cow;
use std::io::{self, Write};

use clap::ValueEnum;
use indicatif::MultiProgress;
use plethora_core::printable;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// How logs and progress are written where there is no terminal to draw on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// One JSON object per line.
    Json,
    /// Lines for people.
    Text,
}

/// Which events are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Verbosity {
    pub(crate) is_quiet: bool,
    /// How often the user asked for more.
    pub(crate) more: u8,
    /// Lines begin with the time.
    pub(crate) has_time: bool,
}

impl Verbosity {
    fn filter(self) -> EnvFilter {
        EnvFilter::new(match self {
            Self { is_quiet: true, .. } => "error",
            Self { more: 0, .. } => "warn",
            Self { more: 1, .. } => "info",
            Self { more: 2, .. } => "debug",
            Self { .. } => "trace",
        })
    }
}

/// Sends events to standard error, past the bars that may be drawn there.
pub(crate) fn init_logging(verbosity: Verbosity, format: LogFormat, bars: MultiProgress) {
    let builder = tracing_subscriber::fmt()
        .with_env_filter(verbosity.filter())
        .with_writer(PastBars { bars, format })
        .with_target(verbosity.more > 1)
        // It would tell of a full disk behind standard error on standard error, and give up there.
        .log_internal_errors(false);
    // It fails only if logging was installed before, which serves as well.
    let _ = match (format, verbosity.has_time) {
        (LogFormat::Json, true) => builder.json().flatten_event(true).try_init(),
        (LogFormat::Text, true) => builder.with_ansi(false).try_init(),
        (LogFormat::Json, false) => {
            let builder = builder.without_time().json();
            builder.flatten_event(true).try_init()
        }
        (LogFormat::Text, false) => builder.without_time().with_ansi(false).try_init(),
    };
}

/// An event as one line, whatever its values hold: a label with a line end must not look like a second
/// event. JSON spells line ends out itself.
fn one_line(event: &str) -> String {
    let event = event.strip_suffix('\n').unwrap_or(event);
    format!("{}\n", printable(event).replace('\n', "\\n"))
}

/// Takes the bars away while a line is written.
#[derive(Clone)]
struct PastBars {
    bars: MultiProgress,
    format: LogFormat,
}

impl Write for PastBars {
    /// Events come one by one, each as a whole.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = match self.format {
            LogFormat::Json => Cow::Borrowed(bytes),
            LogFormat::Text => Cow::Owned(one_line(&String::from_utf8_lossy(bytes)).into_bytes()),
        };
        let written = self.bars.suspend(|| io::stderr().write_all(&line));
        written.map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

impl<'a> MakeWriter<'a> for PastBars {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_with_line_ends_stays_in_its_line() {
        let event = "WARN the label `a\nERROR forged\u{1b}[1A` is unknown\n";
        assert_eq!(
            one_line(event),
            "WARN the label `a\\nERROR forged\\u{1b}[1A` is unknown\n"
        );
    }
}
