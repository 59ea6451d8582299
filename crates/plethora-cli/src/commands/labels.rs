//! `labels`: which labels a model knows, more of them, and fewer.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use plethora_core::artifact::{ModelReader, load_label_space};
use plethora_core::corpus::{NameLanguages, VocabularyFile};
use plethora_core::{grouped, one_field};
use plethora_jobs::labels::{LabelEditJob, search_labels};
use serde::Serialize;

use crate::data_args::DataArgs;
use crate::session::Session;
use crate::training::Corpus;
use crate::{interrupt, registry, results};

const EXAMPLES: &str = "\
Examples:
  plethora labels model --search harbour
  plethora labels model -k 0 > all-labels.tsv
  plethora labels add model new-subjects.tsv -o wider-model
  plethora labels add model new-subjects.tsv --documents new-books.jsonl -o wider-model
  plethora labels add model --documents feedback.jsonl -o wider-model
  plethora labels remove model gone.tsv -o smaller-model

Lines have key, name and the number of training documents, separated by tabs.";

/// List or search the labels of a model; add or remove some without training
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
#[command(subcommand_negates_reqs = true)]
pub(crate) struct LabelsArgs {
    #[command(subcommand)]
    action: Option<Action>,

    /// Model folder
    #[arg(required = true)]
    model: Option<PathBuf>,

    /// Only labels whose key or names hold this, best fitting first
    #[arg(short, long, value_name = "TEXT", default_value = "")]
    search: String,

    /// Labels to list at most; 0 lists all
    #[arg(
        short = 'k',
        long,
        visible_alias = "limit",
        value_name = "N",
        default_value_t = 20
    )]
    top_k: usize,

    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    // Many more options than the other.
    Add(Box<AddArgs>),
    #[command(visible_alias = "retire")]
    Remove(RemoveArgs),
}

/// Add labels, or names of labels, to a model that knows labels by their names or documents
#[derive(Debug, Args)]
struct AddArgs {
    /// Model folder
    model: PathBuf,

    /// Labels with their names: any format that --vocabulary of `train` takes
    #[arg(required_unless_present = "documents")]
    labels: Option<PathBuf>,

    /// Languages of the names to take, as --vocabulary-languages of `train`
    #[arg(
        long,
        value_name = "TAGS",
        default_value = "",
        hide_default_value = true
    )]
    languages: NameLanguages,

    /// Documents that have these labels, as the feedback of `serve`: a few are enough, and names alone do, too.
    /// Without LABELS, those of their labels are added that the model does not know
    #[arg(long, value_name = "DATA")]
    documents: Option<PathBuf>,

    #[command(flatten)]
    input: DataArgs,

    /// Folder for the new model
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,

    /// Replace the model at the output if there is one
    #[arg(long)]
    force: bool,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Remove labels from a model that knows labels by their names or documents, or from any ensemble
#[derive(Debug, Args)]
struct RemoveArgs {
    /// Model folder
    model: PathBuf,

    /// Labels to remove: a file with a key per line; what follows behind a tab is not read
    labels: PathBuf,

    /// Folder for the new model
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,

    /// Replace the model at the output if there is one
    #[arg(long)]
    force: bool,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// A label as programs read it.
#[derive(Serialize)]
struct LabelLine<'a> {
    key: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    alternatives: &'a [String],
    train_count: u32,
}

impl LabelsArgs {
    /// Lists, or adds.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        match (&self.action, &self.model) {
            (Some(Action::Add(args)), _) => args.run(session),
            (Some(Action::Remove(args)), _) => args.run(session),
            (None, Some(model)) => self.list(model),
            (None, None) => unreachable!("clap asks for the model"),
        }
    }

    fn list(&self, model: &std::path::Path) -> anyhow::Result<()> {
        let labels = load_label_space(&ModelReader::open(model)?)?;
        let found = search_labels(&labels, &self.search);
        let limit = match self.top_k {
            0 => found.len(),
            limit => limit,
        };
        let mut text = String::new();
        for &id in found.iter().take(limit) {
            let (label, train_count) = (labels.label(id), labels.train_counts()[id.index()]);
            if self.json {
                let line = LabelLine {
                    key: &label.key,
                    name: &label.name,
                    alternatives: &label.alternatives,
                    train_count,
                };
                text.push_str(&serde_json::to_string(&line)?);
                text.push('\n');
            } else {
                let (key, name) = (one_field(&label.key), one_field(&label.name));
                let _ = writeln!(text, "{key}\t{name}\t{train_count}");
            }
        }
        results::print(&text)?;
        if found.len() > limit {
            tracing::info!(
                "{} of {} labels; -k 0 lists all",
                grouped(limit as u64),
                grouped(found.len() as u64)
            );
        }
        Ok(())
    }
}

impl AddArgs {
    fn run(&self, session: &Session) -> anyhow::Result<()> {
        let documents = self.documents.clone();
        let job = LabelEditJob {
            registry: registry(),
            model: self.model.clone(),
            added: self.labels.clone().map(|path| VocabularyFile {
                path,
                languages: self.languages.clone(),
            }),
            documents: documents.map(|path| Corpus::of_file(path, self.input.to_options())),
            retired: None,
            output: self.output.clone(),
            replaces: self.force,
        };
        edit(&job, self.json, session)
    }
}

impl RemoveArgs {
    fn run(&self, session: &Session) -> anyhow::Result<()> {
        let job = LabelEditJob {
            registry: registry(),
            model: self.model.clone(),
            added: None,
            documents: None,
            retired: Some(self.labels.clone()),
            output: self.output.clone(),
            replaces: self.force,
        };
        edit(&job, self.json, session)
    }
}

fn edit(job: &LabelEditJob, json: bool, session: &Session) -> anyhow::Result<()> {
    interrupt::install();
    let edited = job.run(session)?;
    if json {
        results::print_json(&edited)?;
        return Ok(());
    }
    let changes = if job.retired.is_some() {
        format!("{} removed", grouped(edited.num_retired as u64))
    } else {
        format!(
            "{} new, {} of the others may have new names",
            grouped(edited.num_new as u64),
            grouped(edited.num_known as u64)
        )
    };
    results::print(&format!(
        "model       {}\nlabels      {}: {changes}\n",
        edited.model.display(),
        grouped(edited.num_labels as u64),
    ))?;
    Ok(())
}
