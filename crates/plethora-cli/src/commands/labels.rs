//! `labels`: which labels a model knows, and more of them.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use plethora_core::artifact::{ModelReader, load_label_space};
use plethora_core::{grouped, one_field};
use plethora_jobs::labels::{LabelAdditionJob, search_labels};
use serde::Serialize;

use crate::session::Session;
use crate::{interrupt, registry, results};

const EXAMPLES: &str = "\
Examples:
  plethora labels model --search harbour
  plethora labels model -k 0 > all-labels.tsv
  plethora labels add model new-subjects.tsv -o wider-model

Lines have key, name and the number of training documents, separated by tabs.";

/// List or search the labels of a model, or add some without training
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
    Add(AddArgs),
}

/// Add labels, or names of labels, to a model that finds labels by their names
#[derive(Debug, Args)]
struct AddArgs {
    /// Model folder
    model: PathBuf,

    /// Labels with their names: any format that --vocabulary of `train` takes
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
        interrupt::install();
        let job = LabelAdditionJob {
            registry: registry(),
            model: self.model.clone(),
            labels: self.labels.clone(),
            output: self.output.clone(),
            replaces: self.force,
        };
        let widened = job.run(session)?;
        if self.json {
            results::print_json(&widened)?;
        } else {
            results::print(&format!(
                "model       {}\nlabels      {}: {} new, {} of the others may have new names\n",
                widened.model.display(),
                grouped(widened.num_labels as u64),
                grouped(widened.num_new as u64),
                grouped(widened.num_known as u64),
            ))?;
        }
        Ok(())
    }
}
