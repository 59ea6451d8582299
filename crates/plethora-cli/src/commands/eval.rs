//! `eval`: how good a model is on documents whose labels are known.

use std::path::{Path, PathBuf};

use clap::Args;
use plethora_core::corpus::Output;
use plethora_core::metrics::{BootstrapConfig, EvaluationConfig};
use plethora_core::{Error, Result};
use plethora_jobs::ModelOpening;
use plethora_jobs::report::{MeasuredForReport, ReportRun};
use plethora_system::Predictor;

use crate::bounds;
use crate::data_args::{DataArgs, first_of};
use crate::device_args::DeviceArgs;
use crate::evaluation::{EvaluationRun, MeasuredModel};
use crate::report::to_screen;
use crate::score_args::ScoreArgs;
use crate::session::Session;
use crate::training::Corpus;
use crate::{interrupt, metrics_table, results};

const EXAMPLES: &str = "\
Examples:
  plethora eval model test.jsonl
  plethora eval model books.jsonl --where split=test -k 1,3,5,10 --per-label labels.tsv
  plethora eval model amazon-test.txt --a 0.6 --b 2.6 --json
  plethora eval parabel bonsai network test.jsonl --report report
  plethora eval bonsai test.jsonl --members 1        the first of its trees, without training again

--report compares one or several models on the same documents and writes report.html, report.md and
report.json: intervals, differences, where models fail, and what papers report on the same data.";

/// Measure a model on documents with labels
#[derive(Debug, Args)]
#[command(visible_aliases = ["test", "evaluate"], after_help = EXAMPLES)]
#[command(override_usage = "plethora eval [OPTIONS] <MODEL>... <DATA>...")]
pub(crate) struct EvalArgs {
    /// Model folder, or several with --report, and then the corpus with true labels: files, patterns
    /// and folders, together; - is standard input
    // One list, for clap takes no option between a list of models and the data.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Depths of the ranking to measure at
    #[arg(
        short = 'k',
        long = "top-k",
        visible_alias = "limit",
        value_name = "K,..."
    )]
    #[arg(value_delimiter = ',', value_parser = bounds::at_least_one())]
    #[arg(default_values_t = EvaluationConfig::default().ks)]
    top_k: Vec<usize>,

    /// Labels from this score on count as assigned, for F1 and --per-label
    #[arg(short, long, value_name = "SCORE", value_parser = bounds::score)]
    #[arg(default_value_t = EvaluationConfig::default().threshold)]
    threshold: f32,

    #[command(flatten)]
    scores: ScoreArgs,

    /// A of the propensity model
    #[arg(long, value_name = "A", default_value_t = EvaluationConfig::default().a)]
    a: f64,

    /// B of the propensity model
    #[arg(long, value_name = "B", default_value_t = EvaluationConfig::default().b)]
    b: f64,

    /// Labels to rank per document; at least the largest K. If not given: 100, and with --tuned as
    /// many as thresholds were tuned on
    #[arg(long, value_name = "N", value_parser = bounds::at_least_one())]
    depth: Option<usize>,

    /// Tree nodes kept per level, if not those the model was trained with
    #[arg(short, long, value_name = "N", value_parser = bounds::at_least_one())]
    beam: Option<usize>,

    /// Write a table of all labels to this file, tab-separated
    #[arg(long, value_name = "FILE")]
    per_label: Option<PathBuf>,

    /// Write the metrics to this file as JSON
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write a report to this folder: report.html, report.md and report.json
    #[arg(long, value_name = "FOLDER")]
    report: Option<PathBuf>,

    /// Bootstrap draws for the intervals of a report
    #[arg(long, value_name = "N", requires = "report")]
    #[arg(default_value_t = BootstrapConfig::default().resamples)]
    resamples: usize,

    /// Seed of these draws
    #[arg(long, value_name = "N", requires = "report")]
    #[arg(default_value_t = BootstrapConfig::default().seed)]
    seed: u64,

    /// Replace files that exist
    #[arg(long)]
    force: bool,

    /// Print the metrics as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    device: DeviceArgs,

    #[command(flatten)]
    input: DataArgs,
}

impl EvalArgs {
    /// Evaluates and reports.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let inputs = self.inputs()?;
        let run = EvaluationRun {
            config: EvaluationConfig {
                ks: self.top_k.clone(),
                a: self.a,
                b: self.b,
                threshold: self.threshold,
            },
            beam: self.beam,
            depth: self.depth,
            is_tuned: self.scores.tuned,
        };
        self.scores.check()?;
        run.config.validate()?;
        self.check_models(inputs)?;
        if self.output.is_some() || self.per_label.is_some() || self.report.is_some() {
            interrupt::install();
        }
        // Outputs that cannot be written are told before the work, not after it.
        let files = Files {
            output: self.create(inputs, self.output.as_deref())?,
            per_label: self.create(inputs, self.per_label.as_deref())?,
        };
        if let Some(folder) = &self.report {
            return self.report(run, inputs, folder, files, session);
        }
        let predictor = self.scores.open(&inputs.models[0], self.device)?;
        let reader = self.corpus(inputs).open_for(predictor.details())?;
        let measured = run.run(&predictor, reader, first_of(inputs.data), session)?;
        self.write_files(files, &measured, &predictor)?;
        self.print(&measured)
    }

    /// What the paths are.
    fn inputs(&self) -> Result<Inputs<'_>, Error> {
        if self.paths.len() < 2 {
            return Err(Error::usage(
                "one path is not enough; name a model and then a corpus with true labels",
            ));
        }
        // The first path is a model and the last one data, whatever they are.
        let inner = &self.paths[1..self.paths.len() - 1];
        let num_models = 1 + inner.iter().take_while(|path| is_model(path)).count();
        let (models, data) = self.paths.split_at(num_models);
        if let Some(model) = data.iter().find(|path| data.len() > 1 && is_model(path)) {
            return Err(Error::usage(format!(
                "{}: a model after the data; name models first",
                model.display()
            )));
        }
        Ok(Inputs { models, data })
    }

    /// Several models make a report, and the other outputs are of one model.
    fn check_models(&self, inputs: Inputs<'_>) -> Result<(), Error> {
        if inputs.models.len() < 2 {
            return Ok(());
        }
        if self.report.is_none() {
            return Err(Error::usage(
                "several models are compared in a report; --report FOLDER says where to write it",
            ));
        }
        if self.output.is_some() || self.per_label.is_some() {
            return Err(Error::usage(
                "--output and --per-label are of one model; a report of several has all metrics in \
                 report.json",
            ));
        }
        if first_of(inputs.data).as_os_str() == "-" {
            return Err(Error::usage(
                "standard input can be read once, and each model reads the documents; name a file",
            ));
        }
        Ok(())
    }

    fn report(
        &self,
        evaluation: EvaluationRun,
        inputs: Inputs<'_>,
        target: &Path,
        files: Files,
        session: &Session,
    ) -> anyhow::Result<()> {
        let run = ReportRun {
            models: inputs.models.to_vec(),
            opening: ModelOpening {
                registry: crate::registry(),
                compute: self.device.compute(),
                scores: self.scores.scores,
                members: self.scores.members,
            },
            data: self.corpus(inputs),
            evaluation,
            bootstrap: BootstrapConfig {
                resamples: self.resamples,
                seed: self.seed,
                ..BootstrapConfig::default()
            },
        };
        let (report, latest) = run.write(target, self.force, session)?;
        match (latest, inputs.models.len()) {
            (
                Some(MeasuredForReport {
                    predictor,
                    measured,
                }),
                1,
            ) => {
                self.write_files(files, &measured, &predictor)?;
                self.print(&measured)?;
            }
            _ if self.json => results::print_json(&report)?,
            _ => results::print(&to_screen(&report))?,
        }
        if !self.json {
            let page = target.join("report.html");
            results::print(&format!("report      {}\n", page.display()))?;
        }
        Ok(())
    }

    fn corpus(&self, inputs: Inputs<'_>) -> Corpus {
        self.input.corpus(inputs.data)
    }

    fn write_files(
        &self,
        files: Files,
        measured: &MeasuredModel,
        predictor: &Predictor,
    ) -> anyhow::Result<()> {
        if let (Some(file), Some(path)) = (files.per_label, &self.per_label) {
            write_labels(file, path, measured, predictor)?;
        }
        if let Some(mut file) = files.output {
            let text = serde_json::to_string_pretty(measured)?;
            file.write(text.as_bytes())?;
            file.write(b"\n")?;
            file.finish()?;
        }
        Ok(())
    }

    fn print(&self, measured: &MeasuredModel) -> anyhow::Result<()> {
        results::show(self.json, measured, metrics_table::render)
    }

    fn create(&self, inputs: Inputs<'_>, path: Option<&Path>) -> anyhow::Result<Option<Output>> {
        let Some(path) = path else {
            return Ok(None);
        };
        self.input.check_output(inputs.data, path)?;
        Ok(Some(Output::create(path, self.force)?))
    }
}

/// What to measure, and on what.
#[derive(Debug, Clone, Copy)]
struct Inputs<'a> {
    models: &'a [PathBuf],
    data: &'a [PathBuf],
}

/// True for a folder that a model was written to.
fn is_model(path: &Path) -> bool {
    path.join("manifest.json").is_file()
}

/// Files that were asked for, open before the work.
struct Files {
    output: Option<Output>,
    per_label: Option<Output>,
}

fn write_labels(
    mut file: Output,
    path: &Path,
    measured: &MeasuredModel,
    predictor: &Predictor,
) -> Result<()> {
    let mut table = Vec::new();
    measured
        .evaluation
        .write_labels(&mut table, |label| measured.describe(predictor, label))
        .map_err(Error::write(path))?;
    file.write(&table)?;
    file.finish()
}
