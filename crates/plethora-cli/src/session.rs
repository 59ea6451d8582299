//! What every command needs: threads, logs and progress, as the user wants them.

use std::io::{self, IsTerminal};
use std::sync::Arc;

use anyhow::Context;
use indicatif::MultiProgress;
pub(crate) use plethora_jobs::{Session, SharedProgress};
use rayon::ThreadPoolBuilder;

use crate::args::GlobalArgs;
use crate::logging::{self, LogFormat, Verbosity};
use crate::progress_bar::TerminalProgress;
use crate::progress_lines::LineProgress;

/// Sets up threads, logs and progress. A server tells of every request, with the time.
pub(crate) fn start(args: &GlobalArgs, is_server: bool) -> anyhow::Result<Session> {
    ThreadPoolBuilder::new()
        .num_threads(args.threads)
        .build_global()
        .context("starting threads")?;
    if args.threads > 0 {
        plethora::set_num_threads(args.threads);
    }
    let is_terminal = io::stderr().is_terminal();
    let format = args.log_format.unwrap_or(LogFormat::Text);
    let bars = MultiProgress::new();
    let verbosity = Verbosity {
        is_quiet: args.quiet,
        more: args.verbose.saturating_add(u8::from(is_server)),
        has_time: is_server,
    };
    logging::init_logging(verbosity, format, bars.clone());
    let progress: Arc<SharedProgress> = if args.quiet {
        Arc::new(LineProgress::new(None))
    } else if is_terminal && args.log_format.is_none() {
        Arc::new(TerminalProgress::new(bars))
    } else {
        Arc::new(LineProgress::new(Some(format)))
    };
    Ok(Session::new(progress))
}
