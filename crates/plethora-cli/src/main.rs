//! The command line of Plethora: typed arguments become settings, settings become work. Results go
//! to standard output, everything else to standard error.

mod args;
mod bounds;
mod calibration_report;
mod catalogue_files;
mod commands;
mod corpus_check;
mod data_args;
mod device_args;
mod environment;
mod explanation;
mod failure;
mod interrupt;
mod logging;
mod metrics_table;
mod output_args;
mod page;
mod piece_cache_args;
mod prediction_writer;
mod progress_bar;
mod progress_lines;
mod report;
mod results;
mod score_args;
mod search;
mod session;
mod settings;
mod shell;
mod validation_args;

use std::panic;
use std::process::ExitCode;

use args::Cli;
use failure::ExitStatus;
use plethora_train::{evaluation, figures, folders, training};

fn main() -> ExitCode {
    failure::install_panic_hook();
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(error) => return failure::report_usage(&error).into(),
    };
    match panic::catch_unwind(|| commands::run(cli)) {
        Ok(Ok(())) => ExitStatus::Success,
        Ok(Err(error)) => failure::report(&error),
        // The hook has told the user.
        Err(_) => ExitStatus::Failure,
    }
    .into()
}
