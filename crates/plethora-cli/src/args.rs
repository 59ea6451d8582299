//! The typed form of the command line.

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::bounds;
use crate::commands::{
    calibrate, check, completions, convert, demo, ensemble, eval, explain, generate, info, init,
    labels, man, merge, predict, reproduce, search, serve, split, train,
};
use crate::environment::with_environment;
use crate::logging::LogFormat;

const FIRST_STEPS: &str = "\
First steps:
  plethora train books.jsonl -o model        text and labels of each line in, a model out
  plethora predict model new-books.jsonl -k 5
  plethora eval model test-books.jsonl

Every long option can also be set in the environment: --top-k as PLETHORA_TOP_K, and so on.
Exit status: 0 all went well, 1 failure, 2 wrong usage or settings, 3 bad data or model.";

/// Extreme multi-label text classification: raw text and label names in, ranked label names out
#[derive(Debug, Parser)]
#[command(name = "plethora", version, after_help = FIRST_STEPS, propagate_version = true)]
#[command(max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,

    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// Options of all commands.
#[derive(Debug, Args)]
#[command(next_help_heading = "General")]
pub(crate) struct GlobalArgs {
    /// Number of threads; 0 takes all processors
    #[arg(
        short = 'j',
        long,
        global = true,
        value_name = "N",
        value_parser = bounds::threads(),
        default_value_t = 0
    )]
    pub(crate) threads: usize,

    /// Map model files above 64 MiB instead of reading them as a whole: less memory, but whoever overwrites them in place ends
    /// the program
    #[arg(long, global = true)]
    pub(crate) map_files: bool,

    /// Show results and errors only
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Show more of what happens; twice for even more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,

    /// How to write progress and logs; bars on a terminal and lines of text otherwise if not given
    #[arg(long, global = true, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Demo(demo::DemoArgs),
    Generate(generate::GenerateArgs),
    Check(check::CheckArgs),
    Convert(convert::ConvertArgs),
    Split(split::SplitArgs),
    Train(train::TrainArgs),
    Search(search::SearchArgs),
    Merge(merge::MergeArgs),
    Ensemble(ensemble::EnsembleArgs),
    Calibrate(calibrate::CalibrateArgs),
    Eval(eval::EvalArgs),
    Predict(predict::PredictArgs),
    Explain(explain::ExplainArgs),
    Serve(serve::ServeArgs),
    Reproduce(reproduce::ReproduceArgs),
    Info(info::InfoArgs),
    Labels(labels::LabelsArgs),
    Init(init::InitArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

impl Cli {
    /// Reads the command line and the environment.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let matches = complete_command().try_get_matches()?;
        Self::from_arg_matches(&matches)
    }
}

/// The command line as clap sees it, environment included.
pub(crate) fn complete_command() -> clap::Command {
    with_environment(Cli::command())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        complete_command().debug_assert();
    }

    #[test]
    fn every_verb_shows_examples() {
        for verb in Cli::command().get_subcommands() {
            let examples = verb.get_after_help().map(ToString::to_string);
            assert!(
                examples.is_some_and(|text| text.contains("plethora ")),
                "{}",
                verb.get_name()
            );
        }
    }
}
