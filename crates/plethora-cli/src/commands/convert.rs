//! `convert`: a corpus in another format.

use std::path::PathBuf;

use clap::Args;

use plethora_core::Error;

use crate::data_args::{DataArgs, tell_warnings, warn_of_lost_fields};
use crate::interrupt;
use crate::output_args::{OutputArgs, Target, about_output, format_of_suffix};
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  plethora convert books.csv books.jsonl.zst --text-field title,abstract
  plethora convert 'part-*.csv' more.parquet all.jsonl
  plethora convert train.jsonl train.txt --out-format fasttext --flatten
  plethora convert trn.json texts.txt --labels-file lbl.json \\
      --out-format text-pair --out-labels-file labels.txt --out-label-separator '|'";

/// Write a corpus in another format: id, text and labels of each document, no other fields
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(override_usage = "plethora convert [OPTIONS] <INPUT>... <OUTPUT>")]
pub(crate) struct ConvertArgs {
    /// Corpus to read (files, patterns and folders, together; - is standard input), and last the file
    /// to write, compressed as its suffix says (.gz, .xz, .zst; - is standard output)
    #[arg(required = true, num_args = 2.., value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Second file of formats that keep labels in a file of their own
    #[arg(long, visible_alias = "out-labels", value_name = "FILE")]
    out_labels_file: Option<PathBuf>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    input: DataArgs,
}

impl ConvertArgs {
    /// Reads and writes document by document.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let Some((output_path, inputs)) = self.paths.split_last() else {
            return Err(Error::usage("name a corpus to read and a file to write").into());
        };
        let named = self.output.out_format;
        let format = named
            .or_else(|| format_of_suffix(output_path))
            .ok_or_else(|| {
                Error::usage(format!(
                    "{}: the suffix does not tell the format; choose it with --out-format",
                    output_path.display()
                ))
            })?;
        let mut reader = self.input.open(inputs)?;
        let target = Target {
            path: output_path,
            format,
            labels_path: self.out_labels_file.as_deref(),
        };
        interrupt::install();
        let mut writer = self.output.create(target, &reader)?;
        let mut num_documents = 0_u64;
        session
            .progress()
            .start("converting", self.input.docs_limit);
        while let Some(document) = reader.next().transpose()? {
            session.check_interrupt()?;
            writer.write(&document).map_err(about_output)?;
            session.progress().advance(1);
            num_documents += 1;
        }
        writer.finish()?;
        tell_warnings(&reader, session.progress());
        warn_of_lost_fields(&reader);
        session.progress().finish(&format!(
            "{num_documents} documents from {} to {format}",
            reader.format()
        ));
        Ok(())
    }
}
