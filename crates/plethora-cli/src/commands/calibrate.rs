//! `calibrate`: scores that can be read as probabilities.

use std::path::PathBuf;

use clap::Args;
use plethora_core::calibration::{CalibrationConfig, Method, ThresholdScope};
use plethora_jobs::calibration::CalibrationJob;

use crate::choice::{Choice, one_of};
use crate::data_args::DataArgs;
use crate::device_args::DeviceArgs;
use crate::session::Session;
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

const METHODS: [Choice<Method>; 2] = [
    (
        "isotonic",
        Method::Isotonic,
        "Any rising map from scores to probabilities: for hundreds of true labels and more",
    ),
    (
        "platt",
        Method::Platt,
        "A logistic curve over the log-odds of scores: for fewer",
    ),
];

const SCOPES: [Choice<ThresholdScope>; 3] = [
    ("global", ThresholdScope::Global, "One for all labels"),
    (
        "band",
        ThresholdScope::Band,
        "One each for frequent, middling and rare labels",
    ),
    (
        "label",
        ThresholdScope::Label,
        "One for each label with enough true documents, else that of its band",
    ),
];

/// Turn a model's scores into probabilities, and tune thresholds for F1
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CalibrateArgs {
    /// Model folder
    model: PathBuf,

    /// Validation documents with true labels, not of the training data: files, patterns and
    /// folders, together; - is standard input
    #[arg(required = true, value_name = "DATA")]
    data: Vec<PathBuf>,

    /// How scores become probabilities
    #[arg(long, value_name = "METHOD", default_value = "isotonic")]
    #[arg(value_parser = one_of(&METHODS))]
    method: Method,

    /// Fit head, torso and tail labels separately, where they have enough true labels
    #[arg(long)]
    by_frequency: bool,

    /// Tune thresholds for F1 too
    #[arg(long, value_name = "SCOPE", value_parser = one_of(&SCOPES))]
    thresholds: Option<ThresholdScope>,

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
            data: self.input.corpus(&self.data),
            config: CalibrationConfig {
                method: self.method,
                by_frequency: self.by_frequency,
                thresholds: self.thresholds,
                depth: self.depth,
                ..CalibrationConfig::default()
            },
            compute: self.device.compute(),
            output: self.output.clone(),
            replaces: self.force,
        };
        let calibrated = job.run(session)?;
        results::show(self.json, &calibrated, calibration_report::render)
    }
}
