//! `train`: from a corpus to a model.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use plethora_core::artifact::WorkFolder;
use plethora_core::corpus::{Feedback, LabelSpaceBuilder};
use plethora_core::{Error, grouped};
use plethora_jobs::auto::{AutoJob, Plan};
use plethora_jobs::tell_feedback;
use plethora_system::Shard;
use plethora_system::settings::Settings;
use serde_json::json;

use crate::auto_args::AutoArgs;
use crate::data_args::{DataArgs, tell_warnings};
use crate::device_args::DeviceArgs;
use crate::figures::{bytes, duration};
use crate::piece_cache_args::PieceCacheArgs;
use crate::preview::Preview;
use crate::ranks_args::RanksArgs;
use crate::session::Session;
use crate::settings::{AutoChoice, SettingsArgs, default_settings};
use crate::training::{Corpus, TrainingJob, TrainingReport};
use crate::validation_args::ValidationArgs;
use crate::vocabulary_args::VocabularyArgs;
use crate::wording::worded;
use crate::{auto_table, interrupt, metrics_table, registry, results, shell};

/// Examples, those of single systems by what these say of themselves.
fn examples() -> String {
    let mut of_systems = String::new();
    for spec in registry().systems().filter(|spec| !spec.example.is_empty()) {
        let _ = writeln!(
            of_systems,
            "  plethora train books.jsonl -o model {}",
            spec.example
        );
    }
    format!(
        "\
Examples:
  plethora train books.jsonl -o model                the best model that a few minutes give
  plethora train books.jsonl -o model --budget 20m --vocabulary names.tsv --explain-plan
  plethora train books.jsonl -o model --text-field title,abstract --where split=train \\
      --valid books.jsonl --valid-where split=dev
  plethora train texts.txt --labels-file labels.txt -o model --seed 7
  plethora train books.csv -o model --config my.toml --set tree.max_leaf=50 --force
  plethora train books.jsonl -o model --force --feedback feedback.jsonl
  plethora train books.jsonl --system bonsai --shard 0/3 -o piece-0     see `plethora merge --help`
{of_systems}  plethora train books.jsonl -o model --resume     after Ctrl-C or a crash"
    )
}

/// Train a model
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
#[derive(Debug, Args)]
#[command(after_help = examples())]
pub(crate) struct TrainArgs {
    /// Corpus to learn from: files, patterns such as 'part-*.jsonl' and folders, together; - is
    /// standard input
    #[arg(required = true, value_name = "DATA")]
    data: Vec<PathBuf>,

    /// Folder for the model
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,

    #[command(flatten)]
    validation: ValidationArgs,

    #[command(flatten)]
    vocabulary: VocabularyArgs,

    /// Judgements that `serve --feedback` has collected: right and missing labels are added to those
    /// of DATA, wrong ones are taken out, and documents that DATA lacks are added. --where is not
    /// asked of them
    #[arg(long, value_name = "FILE")]
    feedback: Option<PathBuf>,

    /// Learn from names of labels, too: each is read as a short document with that label
    #[arg(long)]
    learn_names: bool,

    /// Replace the model if there is one, or throw away what an interrupted run has finished
    #[arg(long)]
    force: bool,

    /// Resume an interrupted run of the same data and settings
    #[arg(long)]
    resume: bool,

    /// Train one of so many shares, counted from 0, such as 0/3, to a piece of the model in FOLDER; `merge`
    /// makes a model of all pieces. Every share reads all documents
    #[arg(long, value_name = "I/N", conflicts_with = "dry_run")]
    shard: Option<Shard>,

    /// Show the settings, what is in the data and its first documents as read, and train nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    ranks: RanksArgs,

    #[command(flatten)]
    pieces: PieceCacheArgs,

    #[command(flatten)]
    auto: AutoArgs,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    settings: SettingsArgs,

    #[command(flatten)]
    device: DeviceArgs,

    #[command(flatten)]
    input: DataArgs,
}

impl TrainArgs {
    /// Trains, or shows what would be trained.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        if let Some(choice) = self.settings.auto()? {
            if self.shard.is_some() || self.ranks.distributed {
                let message = "--shard and --distributed: name the system with --system";
                return Err(Error::usage(message).into());
            }
            return self.run_auto(choice, session);
        }
        self.auto.refuse("a system is named")?;
        let job = self.job()?;
        if self.dry_run {
            return self.show(&job, session);
        }
        if self.ranks.distributed {
            RanksArgs::join()?;
        }
        interrupt::install();
        let run = match self.shard {
            None if self.ranks.distributed => job.run_together(session),
            None => job.run(session).map(Some),
            Some(shard) => job.run_piece(shard, session).map(Some),
        };
        let report = run.map_err(|error| self.explain_resume(error, job.resume_point()))?;
        let Some(report) = report else {
            // Another process tells of the model.
            return Ok(());
        };
        if self.json {
            results::print_json(&report)?;
        } else {
            results::print(&summary(&report))?;
        }
        Ok(())
    }

    /// Trains the best model that the time allows, or shows what it would train.
    fn run_auto(&self, choice: AutoChoice, session: &Session) -> anyhow::Result<()> {
        let training = self.job_with(default_settings()?)?;
        let training = TrainingJob {
            data: training.data.kept()?,
            ..training
        };
        let job = AutoJob {
            registry: registry(),
            training,
            budget: self.auto.budget,
            objective: self.auto.objective,
            seed: choice.seed,
            encoder: choice.encoder.into(),
            vectors: choice.vectors,
        };
        interrupt::install();
        if self.dry_run {
            let preview = Preview::read(&job.training.data)?;
            let plan = job.plan(session)?;
            return preview.show_above(self.json, &plan, auto_table::plan);
        }
        let tell = |plan: &Plan| {
            // In JSON it is a part of the summary.
            if self.auto.explain_plan && !self.json {
                return results::print(&format!("{}\n", auto_table::plan(plan)));
            }
            Ok(())
        };
        let report = job
            .run(session, &tell)
            .map_err(|error| self.explain_resume(error, "the last complete member"))?;
        results::show(self.json, &report, auto_table::report)
    }

    fn job(&self) -> anyhow::Result<TrainingJob> {
        self.job_with(self.settings.resolve(self.device.dtype)?)
    }

    fn job_with(&self, settings: Settings) -> anyhow::Result<TrainingJob> {
        let mut data = self.input.corpus(&self.data);
        data.options.feedback = self.read_feedback()?;
        Ok(TrainingJob {
            valid: self.validation.corpus(&data, &self.input)?,
            data,
            vocabulary: self.vocabulary.file(),
            output: self.output.clone(),
            settings,
            device: self.ranks.device(self.device.device),
            piece_cache: self.pieces.folder(),
            learns_names: self.learn_names,
            epoch_share: 1.0,
            replaces: self.force,
            resumes: self.resume,
        })
    }

    fn read_feedback(&self) -> anyhow::Result<Option<Arc<Feedback>>> {
        let Some(path) = &self.feedback else {
            return Ok(None);
        };
        let named = match self.vocabulary.file() {
            Some(vocabulary) => vocabulary.read()?,
            None => Vec::new(),
        };
        Ok(Some(Arc::new(Feedback::read(path)?.with_named(&named))))
    }

    /// Says how to resume, where there is something to resume and nothing is wrong with the
    /// training data.
    fn explain_resume(&self, error: Error, resume_point: &str) -> anyhow::Error {
        let is_kept = WorkFolder::path_for(&self.output).exists();
        let is_resumable = match &error {
            Error::Interrupted | Error::Write { .. } => true,
            Error::Input { path, .. } | Error::Read { path, .. } => {
                self.validation.valid.as_ref() == Some(path)
            }
            _ => false,
        };
        if !is_kept || !is_resumable {
            return error.into();
        }
        let hint = format!(
            "{}; to resume from {}: {}",
            worded(&error),
            resume_point,
            shell::resuming_command()
        );
        anyhow::Error::from(error).context(hint)
    }

    fn show(&self, job: &TrainingJob, session: &Session) -> anyhow::Result<()> {
        let facts = DataFacts::read(job.data.kept()?, session)?;
        if self.json {
            results::print_json(&json!({
                "config": job.settings,
                "format": facts.format,
                "n_documents": facts.num_documents,
                "n_documents_without_labels": facts.num_without_labels,
                "n_labels": facts.num_labels,
                "n_assignments": facts.num_assignments,
                "reading": facts.preview.reading(),
                "documents": facts.preview.documents(),
            }))?;
        } else {
            results::print(&facts.render(&job.data.path, &job.settings))?;
        }
        Ok(())
    }
}

/// What a dry run tells about the data.
struct DataFacts {
    format: String,
    num_documents: u64,
    num_without_labels: u64,
    num_labels: usize,
    num_assignments: usize,
    preview: Preview,
}

impl DataFacts {
    #[expect(clippy::needless_pass_by_value, reason = "the value of an argument")]
    fn read(corpus: Corpus, session: &Session) -> anyhow::Result<Self> {
        let preview = Preview::read(&corpus)?;
        let mut reader = corpus.open()?;
        let mut space = LabelSpaceBuilder::default();
        let (mut num_documents, mut num_without_labels, mut num_assignments) = (0, 0, 0);
        session.progress().start("reading", None);
        while let Some(document) = reader.next().transpose()? {
            num_documents += 1;
            num_without_labels += u64::from(document.labels.is_empty());
            num_assignments += space.add(&document).len();
            session.progress().advance(1);
        }
        session
            .progress()
            .finish(&format!("{num_documents} documents"));
        tell_warnings(&reader, session.progress());
        tell_feedback(&reader, session.progress());
        Ok(Self {
            format: reader.format().to_string(),
            num_documents,
            num_without_labels,
            num_labels: space.finish(&[]).0.len(),
            num_assignments,
            preview,
        })
    }

    fn render(&self, path: &Path, settings: &Settings) -> String {
        let with_labels = (self.num_documents - self.num_without_labels).max(1);
        format!(
            "# {}: {} documents ({}), {} without labels, {} labels, {:.2} labels per document\n\
             {}# Nothing was trained; these are the settings a run would have.\n\n{}",
            path.display(),
            grouped(self.num_documents),
            self.format,
            grouped(self.num_without_labels),
            grouped(self.num_labels as u64),
            self.num_assignments as f64 / with_labels as f64,
            self.preview.render("# "),
            settings.to_toml(),
        )
    }
}

/// What a person wants to know when training is over.
fn summary(report: &TrainingReport) -> String {
    let mut text = String::new();
    if let Some(measured) = &report.metrics {
        text = format!("{}\n", metrics_table::render(measured));
    }
    let memory = report
        .peak_memory_bytes
        .map_or_else(|| "unknown".to_owned(), bytes);
    let stages: Vec<String> = (report.seconds.stages())
        .map(|(stage, seconds)| format!("{stage} {}", duration(seconds)))
        .collect();
    let _ = write!(
        text,
        "model       {} ({}, {})\n\
         documents   {} ({} without labels left out)\n\
         labels      {}\n\
         {}\
         time        {}: {}\n\
         resources   {} of CPU, {memory} of memory at most\n",
        report.model.display(),
        report.system,
        bytes(report.model_bytes),
        grouped(report.num_documents),
        grouped(report.num_without_labels),
        grouped(report.num_labels),
        size_lines(report),
        duration(report.seconds.total),
        stages.join(", "),
        duration(report.cpu_seconds),
    );
    text
}

fn size_lines(report: &TrainingReport) -> String {
    let mut text = String::new();
    for (name, value) in &report.facts.lines {
        let _ = writeln!(text, "{name:<12}{value}");
    }
    text
}
