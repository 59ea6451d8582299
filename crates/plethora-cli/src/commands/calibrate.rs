//! `calibrate`: scores that can be read as probabilities.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use plethora_core::calibration::{CalibrationConfig, Method, ThresholdScope};
use plethora_jobs::calibration::CalibrationJob;

use crate::data_args::DataArgs;
use crate::device_args::DeviceArgs;
use crate::session::Session;
use crate::training::Corpus;
use crate::{bounds, calibration_report, interrupt, results};

const EXAMPLES: &str = "\
Examples:
  plethora calibrate model validation.jsonl
  plethora calibrate model validation.jsonl --by-frequency --thresholds label -o calibrated
  plethora predict calibrated new.jsonl --tuned

Take documents that the model was not trained on: whether it has seen them cannot be told from the
model, and scores of documents it has seen are too good to learn from. Only labels that the model ranks
are learnt from; true labels that it does not rank count for F1 alone.

Without -o the model itself is calibrated: a complete copy with the calibration takes its place in one
step. `plethora predict --scores raw` still gives the old scores.";

/// The methods; the words here are those of `--help`.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum MethodArg {
    /// Any rising map from scores to probabilities: for hundreds of true labels and more
    Isotonic,
    /// A logistic curve over the log-odds of scores: for fewer
    Platt,
}

/// What has a threshold; the words here are those of `--help`.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ScopeArg {
    /// One for all labels
    Global,
    /// One each for frequent, middling and rare labels
    Band,
    /// One for each label with enough true documents, else that of its band
    Label,
}

/// Turn a model's scores into probabilities, and tune thresholds for F1
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CalibrateArgs {
    /// Model folder
    model: PathBuf,

    /// Validation documents with true labels, not of the training data; - is standard input
    data: PathBuf,

    /// How scores become probabilities
    #[arg(long, value_name = "METHOD", default_value = "isotonic")]
    method: MethodArg,

    /// Fit head, torso and tail labels separately, where they have enough true labels
    #[arg(long)]
    by_frequency: bool,

    /// Tune thresholds for F1 too
    #[arg(long, value_name = "SCOPE")]
    thresholds: Option<ScopeArg>,

    /// Labels to rank per document
    #[arg(long, value_name = "N", value_parser = bounds::at_least_one())]
    #[arg(default_value_t = CalibrationConfig::default().depth)]
    depth: usize,

    /// Folder for the calibrated model; the model itself if not given
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,

    /// Replace the model at the output if there is one
    #[arg(long)]
    force: bool,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    device: DeviceArgs,

    #[command(flatten)]
    input: DataArgs,
}

impl CalibrateArgs {
    /// Ranks, fits, writes and reports.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        interrupt::install();
        let job = CalibrationJob {
            registry: crate::registry(),
            model: self.model.clone(),
            data: Corpus::of_file(self.data.clone(), self.input.to_options()),
            config: self.config(),
            compute: self.device.compute(),
            output: self.output.clone(),
            replaces: self.force,
        };
        let calibrated = job.run(session)?;
        if self.json {
            results::print_json(&calibrated)?;
        } else {
            results::print(&calibration_report::render(&calibrated))?;
        }
        Ok(())
    }

    fn config(&self) -> CalibrationConfig {
        CalibrationConfig {
            method: match self.method {
                MethodArg::Isotonic => Method::Isotonic,
                MethodArg::Platt => Method::Platt,
            },
            by_frequency: self.by_frequency,
            thresholds: self.thresholds.map(|scope| match scope {
                ScopeArg::Global => ThresholdScope::Global,
                ScopeArg::Band => ThresholdScope::Band,
                ScopeArg::Label => ThresholdScope::Label,
            }),
            depth: self.depth,
            ..CalibrationConfig::default()
        }
    }
}
