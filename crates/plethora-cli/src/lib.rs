//! The command line of Plethora: typed arguments become settings, settings become work. Results go
//! to standard output, everything else to standard error.

mod args;
mod auto_args;
mod auto_table;
mod bounds;
mod calibration_report;
mod catalogue_files;
mod choice;
mod commands;
mod data_args;
mod device_args;
mod environment;
mod explanation;
mod failure;
mod interrupt;
mod logging;
mod metrics_table;
mod output_args;
mod piece_cache_args;
mod prediction_joint;
mod prediction_pieces;
mod prediction_table;
mod prediction_writer;
mod preview;
mod progress_bar;
mod progress_lines;
mod ranks_args;
mod report;
mod reproduction;
mod results;
mod score_args;
mod session;
mod settings;
mod shell;
mod train_command;
mod unknown_option;
mod validation_args;
mod vocabulary_args;
mod wording;

use std::panic;
use std::process::ExitCode;
use std::sync::OnceLock;

use args::Cli;
use failure::ExitStatus;
use plethora_jobs::{evaluation, figures, folders, training};
use plethora_system::Registry;

static REGISTRY: OnceLock<&'static Registry> = OnceLock::new();

/// The whole command line, with the systems of `registry`. What it says on standard output are results;
/// everything else goes to standard error.
pub fn run(registry: &'static Registry) -> ExitCode {
    // It is set already where a test runs two command lines in one process, which then have the same.
    let _ = REGISTRY.set(registry);
    plethora::prepare();
    failure::install_panic_hook();
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(error) => return failure::report_usage(&unknown_option::explain(error)).into(),
    };
    match panic::catch_unwind(|| commands::run(cli)) {
        Ok(Ok(())) => ExitStatus::Success,
        Ok(Err(error)) => failure::report(&error),
        // The hook has told the user.
        Err(_) => ExitStatus::Failure,
    }
    .into()
}

/// The systems that this command line knows.
pub(crate) fn registry() -> &'static Registry {
    REGISTRY.get().copied().unwrap_or_else(plethora::registry)
}
