//! `check`: what is in a corpus, before hours are spent on it.

use std::path::PathBuf;

use clap::Args;
use plethora_core::corpus::Filter;
use plethora_core::printable;
use plethora_jobs::check::CheckJob;

use crate::data_args::{DataArgs, check_stdin, first_of};
use crate::results;
use crate::session::Session;
use crate::training::Corpus;
use crate::vocabulary_args::VocabularyArgs;

const EXAMPLES: &str = "\
Examples:
  plethora check books.jsonl
  plethora check books.jsonl --where split=train --against books.jsonl --against-where split=test
  plethora check train.csv --vocabulary subjects.ttl --json";

/// Show what is in a corpus, what looks wrong, and what training will cost
#[derive(Debug, Args)]
#[command(visible_alias = "inspect", after_help = EXAMPLES)]
pub(crate) struct CheckArgs {
    /// Corpus to look at: files, patterns and folders, together; - is standard input
    #[arg(required = true, value_name = "DATA")]
    data: Vec<PathBuf>,

    /// Test corpus: look for its documents among those of the first, and for labels it lacks
    #[arg(long, value_name = "DATA")]
    against: Option<PathBuf>,

    /// As --where, for --against; it replaces the --where of the same field
    #[arg(long, value_name = "FIELD=VALUE", requires = "against")]
    against_where: Vec<Filter>,

    /// As --labels-file, for --against
    #[arg(long, value_name = "FILE", requires = "against")]
    against_labels_file: Option<PathBuf>,

    #[command(flatten)]
    vocabulary: VocabularyArgs,

    /// Print everything as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    input: DataArgs,
}

impl CheckArgs {
    /// Reads everything once and reports.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        if let Some(against) = &self.against {
            check_stdin(&[first_of(&self.data), against])?;
        }
        let against = self.against.clone().map(|path| {
            let labels_file = self.against_labels_file.as_deref();
            let options = self
                .input
                .to_second_options(&self.against_where, labels_file);
            Corpus::of_file(path, options)
        });
        let job = CheckJob {
            registry: crate::registry(),
            data: self.input.corpus(&self.data),
            against,
            vocabulary: self.vocabulary.file(),
        };
        let report = job.run(session)?;
        results::show(self.json, &report, |report| {
            printable(&report.render()).into_owned()
        })
    }
}
