//! What every command needs: threads, logs and progress, as the user wants them.

use std::io::{self, IsTerminal};

use anyhow::Context;
use indicatif::MultiProgress;
use plethora_core::Progress;
pub(crate) use plethora_train::Session;
use rayon::ThreadPoolBuilder;

use crate::args::GlobalArgs;
use crate::logging::{self, LogFormat, Verbosity};
use crate::progress_bar::TerminalProgress;
use crate::progress_lines::LineProgress;

/// Sets up threads, logs and progress.
pub(crate) fn start(args: &GlobalArgs) -> anyhow::Result<Session> {
    ThreadPoolBuilder::new()
        .num_threads(args.threads)
        .build_global()
        .context("starting threads")?;
    #[cfg(feature = "torch")]
    if args.threads > 0 {
        plethora_neural::set_num_threads(args.threads);
    }
    let is_terminal = io::stderr().is_terminal();
    let format = args.log_format.unwrap_or(if is_terminal {
        LogFormat::Text
    } else {
        LogFormat::Json
    });
    let bars = MultiProgress::new();
    let verbosity = Verbosity {
        is_quiet: args.quiet,
        more: args.verbose,
    };
    logging::init_logging(verbosity, format, bars.clone());
    let progress: Box<dyn Progress> = if args.quiet {
        Box::new(LineProgress::new(None))
    } else if is_terminal && args.log_format.is_none() {
        Box::new(TerminalProgress::new(bars))
    } else {
        Box::new(LineProgress::new(Some(format)))
    };
    Ok(Session::new(progress))
}
