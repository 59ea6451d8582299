//! `search`: settings that rank best on documents apart from those to learn from.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use plethora_core::Error;
use plethora_jobs::search::{
    DEFAULT_METRIC, Documents, Existing, Method, MetricChoice, SearchFolder, SearchJob,
    SearchSpace, parse_budget, parse_range,
};
use plethora_system::settings::{Assignment, read_config};
use serde_json::{Value, json};

use crate::bounds;
use crate::choice::{Choice, one_of};
use crate::data_args::{DataArgs, first_of};
use crate::device_args::DeviceArgs;
use crate::piece_cache_args::PieceCacheArgs;
use crate::session::Session;
use crate::settings::SettingsArgs;
use crate::train_command::TrainCommand;
use crate::training::TrainingJob;
use crate::validation_args::ValidationArgs;
use crate::vocabulary_args::VocabularyArgs;
use crate::{interrupt, results, shell};

const EXAMPLES: &str = "\
Examples:
  plethora search books.jsonl -o search --budget 30m
  plethora search books.jsonl -o search --budget 2h --where split=train --system parabel \\
      --metric PSP@5 --range solver.cost=log:0.1..10 --range num_trees=1,3,5
  plethora search books.jsonl -o search --budget 8h --system NAME --device cuda
  plethora search books.jsonl -o search --budget 1h --resume     after Ctrl-C, or for more time
  plethora train books.jsonl -o model --config search/best.toml

Ranges: 1,3,5 are choices, 10..200 is a range, log:1e-4..1e-2 one by orders of magnitude; a file of
--ranges has the same, as cost = \"log:0.1..10\" or num_trees = [1, 3, 5], in the groups of a settings
file. Without any, a system's own ranges are searched; --dry-run shows them.";

const METHODS: [Choice<Method>; 2] = [
    ("random", Method::Random, ""),
    ("halving", Method::Halving, ""),
];

/// Trials of a search unless users choose another number.
const DEFAULT_TRIALS: usize = 27;

/// Share of the documents that is held back.
const DEFAULT_VALID_SHARE: f64 = 0.1;

/// Search settings that rank validation documents best, under a time budget
///
/// The first trial has the settings as they are. All trials are measured on the same documents, those
/// of --valid or a share of DATA that no trial learns from; no other documents are read. Keep test
/// documents out of DATA with --where, as the test of settings found on them would tell nothing.
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SearchArgs {
    /// Corpus to learn from: files, patterns and folders, together
    #[arg(required = true, value_name = "DATA")]
    data: Vec<PathBuf>,

    /// Folder for the search: trials.jsonl, best.toml
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,

    /// Time for all trials, as 30m or 1h30m: no trial starts after it, and one that runs is stopped
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    budget: Duration,

    /// Most trials to run
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TRIALS)]
    #[arg(value_parser = bounds::at_least_one())]
    trials: usize,

    /// random: all trials are trained in full; halving: all are trained a little (on few documents,
    /// neural systems for few epochs), the best third three times as much, and so on
    #[arg(long, value_name = "METHOD", default_value = Method::Halving.as_str())]
    #[arg(value_parser = one_of(&METHODS), hide_possible_values = true)]
    method: Method,

    /// Metric to maximise, named as eval shows it
    #[arg(long, value_name = "METRIC", default_value = DEFAULT_METRIC)]
    metric: MetricChoice,

    /// File with the settings to vary and their ranges, TOML or JSON
    #[arg(long, value_name = "FILE")]
    ranges: Option<PathBuf>,

    /// A setting to vary and its range, as solver.cost=log:0.1..10; repeat it for more
    #[arg(long, value_name = "KEY=RANGE")]
    range: Vec<String>,

    /// Share of the documents to measure trials on, where --valid gives none
    #[arg(long, value_name = "SHARE", default_value_t = DEFAULT_VALID_SHARE)]
    #[arg(value_parser = parse_share, conflicts_with = "valid")]
    valid_share: f64,

    #[command(flatten)]
    validation: ValidationArgs,

    #[command(flatten)]
    vocabulary: VocabularyArgs,

    /// Keep the best trial's model in the folder
    #[arg(long)]
    keep_model: bool,

    /// Replace the search if there is one
    #[arg(long)]
    force: bool,

    /// Resume a search of the same data and arguments; another --budget counts from its
    /// beginning
    #[arg(long, conflicts_with = "force")]
    resume: bool,

    /// Show the ranges, and train nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    pieces: PieceCacheArgs,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    settings: SettingsArgs,

    #[command(flatten)]
    device: DeviceArgs,

    #[command(flatten)]
    input: DataArgs,
}

impl SearchArgs {
    /// Searches, or shows what would be searched.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let job = self.job()?;
        if self.dry_run {
            return self.show(&job.space);
        }
        interrupt::install();
        let report = job
            .run(session)
            .map_err(|error| self.explain_resume(error))?;
        let output = self.output.join("final");
        let command = TrainCommand {
            data: &self.data,
            output: &output,
            vocabulary: self.vocabulary.file(),
            validation: &self.validation,
            input: &self.input,
            device: self.device,
        }
        .line(report.best_settings());
        let shown = report.to_json(Some(&command));
        results::show(self.json, &shown, |_| report.render(&command))
    }

    fn job(&self) -> anyhow::Result<SearchJob> {
        if first_of(&self.data).as_os_str() == "-" {
            let message = "DATA: a search reads the documents many times; name a file instead of -";
            return Err(Error::usage(message).into());
        }
        let settings = self.settings.resolve(self.device.dtype)?;
        let space = SearchSpace::new(settings.clone(), self.asked_ranges()?)?;
        let data = self.input.corpus(&self.data);
        let valid = self.validation.corpus(&data, &self.input)?;
        if valid
            .as_ref()
            .is_some_and(|valid| valid.path.as_os_str() == "-")
        {
            let message = "--valid: every trial reads the documents; name a file instead of -";
            return Err(Error::usage(message).into());
        }
        let documents = Documents::new(
            data.clone(),
            valid.clone(),
            settings.seed(),
            self.valid_share,
        );
        Ok(SearchJob {
            effort: settings.config()?.effort(),
            training: TrainingJob {
                valid,
                vocabulary: self.vocabulary.file(),
                device: self.device.device,
                piece_cache: self.pieces.folder(),
                ..TrainingJob::new(data, settings, &self.output)
            },
            documents,
            space,
            method: self.method,
            num_trials: self.trials,
            metric: self.metric.clone(),
            budget: self.budget,
            validation: self.validation_kind(),
            keeps_model: self.keep_model,
            existing: match (self.resume, self.force) {
                (true, _) => Existing::Resume,
                (_, true) => Existing::Replace,
                _ => Existing::Refuse,
            },
        })
    }

    /// The ranges of a file and, on top of it, those of `--range`.
    fn asked_ranges(&self) -> Result<Vec<Assignment>, Error> {
        let mut ranges = match &self.ranges {
            Some(path) => read_config(path)?,
            None => Vec::new(),
        };
        for text in &self.range {
            ranges.push(parse_range(text, "--range")?);
        }
        match &self.ranges {
            Some(path) if ranges.is_empty() => Err(Error::usage(format!(
                "{}: there is no range to search",
                path.display()
            ))),
            _ => Ok(ranges),
        }
    }

    /// What trials are measured on; the documents themselves are compared apart from it.
    fn validation_kind(&self) -> Value {
        match &self.validation.valid {
            Some(_) => json!("--valid"),
            None => json!({ "--valid-share": self.valid_share }),
        }
    }

    /// Says how to resume what is finished.
    fn explain_resume(&self, error: Error) -> anyhow::Error {
        let hint = match &error {
            Error::Exists { path } => {
                format!("{}: --resume continues the search there", path.display())
            }
            Error::Interrupted | Error::Write { .. } if SearchFolder::is_at(&self.output) => {
                let command = shell::resuming_command();
                format!("{error}; to resume the search: {command}")
            }
            _ => return error.into(),
        };
        anyhow::Error::from(error).context(hint)
    }

    fn show(&self, space: &SearchSpace) -> anyhow::Result<()> {
        let ranges = space.shown_ranges();
        if self.json {
            results::print_json(&json!({ "config": space.base(), "ranges": ranges }))?;
            return Ok(());
        }
        let mut text = format!(
            "# Nothing was trained; these are the ranges of {} that a search would have.\n",
            space.base().system()
        );
        for (key, range) in ranges {
            let _ = writeln!(text, "{key} = {}", toml::Value::String(range));
        }
        results::print(&text)?;
        Ok(())
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("expected a number between 0 and 1".into()),
    }
}
