//! Where the libraries' events go: lines on standard error.

use std::io::{self, Write};

use clap::ValueEnum;
use indicatif::MultiProgress;
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
        .with_writer(PastBars(bars))
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

/// Takes the bars away while a line is written.
#[derive(Clone)]
struct PastBars(MultiProgress);

impl Write for PastBars {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().write(bytes))
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
