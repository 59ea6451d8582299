//! `calibrate`: scores that can be read as probabilities.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use plethora_core::artifact::{ModelCopy, ModelReader, ModelWriter};
use plethora_core::calibration::{
    CALIBRATION_FILE, Calibration, CalibrationCollector, CalibrationConfig, Method, ThresholdScope,
};
use plethora_core::corpus::{CorpusReader, Document};
use plethora_core::{Error, LabelId, Result};
use plethora_predict::{ENSEMBLE, EnsembleConfig, Predictor, RankOptions};

use crate::calibration_report::CalibrationReport;
use crate::data_args::{DataArgs, in_file, no_labels, tell_warnings};
use crate::device_args::DeviceArgs;
use crate::evaluation::for_each_batch;
use crate::session::Session;
use crate::{bounds, interrupt, results};

const EXAMPLES: &str = "\
Examples:
  plethora calibrate model validation.jsonl
  plethora calibrate model validation.jsonl --by-frequency --thresholds label -o calibrated
  plethora predict calibrated new.jsonl --tuned

Take documents that the model was not trained on: whether it has seen them cannot be told from the
model, and scores of documents it has seen are too good to learn from. Learnt from are the labels that
the model ranks; true labels that it does not rank count for F1 alone.

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

    /// Fit head, torso and tail labels apart, where they have enough true labels
    #[arg(long)]
    by_frequency: bool,

    /// Tune thresholds for F1 too
    #[arg(long, value_name = "SCOPE")]
    thresholds: Option<ScopeArg>,

    /// Labels to rank a document
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
        let target = self.output.as_deref().unwrap_or(&self.model);
        let replaces = self.output.is_none() || self.force;
        let folder = ModelReader::open(&self.model)?;
        ModelWriter::check_target(target, replaces)?;
        self.check_links(&folder)?;
        interrupt::install();
        let predictor = self.device.open(&self.model)?.without_calibration();
        let calibration = self.fit(&predictor, session)?;
        drop(predictor);
        let writer = ModelWriter::create(target, replaces)?;
        self.save(&folder, &calibration, writer, session)
            .map_err(|error| match error {
                Error::Write { source, .. } => Error::write(target)(source),
                other => other,
            })?;
        let report = CalibrationReport {
            model: target,
            is_replaced: self.output.is_none(),
            calibration: &calibration,
        };
        if self.json {
            results::print_json(&report)?;
        } else {
            results::print(&report.render())?;
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

    fn fit(&self, predictor: &Predictor, session: &Session) -> Result<Calibration> {
        let config = self.config();
        let options = self.input.to_options_for(predictor.details());
        let mut reader = CorpusReader::open(&self.data, &options)?;
        let keeps_labels = config.thresholds == Some(ThresholdScope::Label);
        let mut collector =
            CalibrationCollector::new(predictor.labels().train_counts(), keeps_labels);
        let rank = RankOptions {
            top_k: config.depth,
            beam: None,
        };
        session.progress().start("ranking", None);
        let batch_size = predictor.documents_per_batch();
        for_each_batch(&mut reader, batch_size, session, |documents| {
            for (document, ranking) in documents.iter().zip(predictor.rank(documents, rank)?) {
                collector.add(&truth_of(document, predictor), &ranking);
            }
            session.progress().advance(documents.len() as u64);
            Ok(())
        })
        .map_err(|error| in_file(error, &self.data))?;
        let num_documents = collector.num_documents();
        session
            .progress()
            .finish(&format!("{num_documents} documents with labels"));
        if num_documents == 0 {
            return Err(no_labels(&self.data, reader.format(), "to calibrate with"));
        }
        let bands = collector.bands();
        let calibration = Calibration::fit(&collector.finish(), bands, &config)
            .map_err(|error| in_file(error, &self.data))?;
        tell_warnings(&reader);
        Ok(calibration)
    }

    /// Writes the model with its calibration; files stay where they are on the disk if the model
    /// takes its own place.
    fn save(
        &self,
        folder: &ModelReader,
        calibration: &Calibration,
        writer: ModelWriter,
        session: &Session,
    ) -> Result<()> {
        let progress = session.progress();
        let copy = ModelCopy {
            without: Some(CALIBRATION_FILE),
            by_link: self.output.is_none(),
            ..ModelCopy::default()
        };
        progress.start("writing model", Some(copy.num_files(folder)));
        copy.run(folder, &writer, progress)?;
        writer.write_json(CALIBRATION_FILE, calibration)?;
        let manifest = folder.manifest();
        writer.finish(&manifest.kind, manifest.details.clone())?;
        progress.finish("calibrated");
        Ok(())
    }

    /// Paths of members lead elsewhere from another folder.
    fn check_links(&self, folder: &ModelReader) -> Result<()> {
        let Some(output) = &self.output else {
            return Ok(());
        };
        if folder.manifest().kind != ENSEMBLE || EnsembleConfig::of(folder)?.links.is_empty() {
            return Ok(());
        }
        let parent = |path: &Path| {
            let path = std::path::absolute(path).ok()?;
            fs::canonicalize(path.parent()?).ok()
        };
        let (old, new) = (parent(&self.model), parent(output));
        if old.is_some() && old == new {
            return Ok(());
        }
        Err(Error::model(
            &self.model,
            "links to its members by paths that would lead elsewhere from another place; calibrate \
             it without -o, or into the folder it is in",
        ))
    }
}

/// The true labels, each once; all that the model does not know have one id beyond its own, so
/// that the number of true labels stays right.
fn truth_of(document: &Document, predictor: &Predictor) -> Vec<LabelId> {
    let mut keys: Vec<&str> = document.labels.iter().map(String::as_str).collect();
    keys.sort_unstable();
    keys.dedup();
    let labels = predictor.labels();
    let beyond = LabelId(u32::MAX);
    let ids = keys.into_iter();
    ids.map(|key| labels.id(key).unwrap_or(beyond)).collect()
}
