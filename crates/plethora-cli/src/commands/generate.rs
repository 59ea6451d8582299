//! `generate`: the catalogue, a corpus of invented library records.

use std::path::PathBuf;

use clap::Args;
use plethora_catalogue::{Catalogue, CatalogueConfig};
use plethora_core::corpus::CompleteFile;
use plethora_core::{Argument, Error};

use crate::catalogue_files::{write_documents, write_labels};
use crate::interrupt;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  plethora generate -o catalogue                  makes catalogue/documents.jsonl and labels.jsonl
  plethora generate -o books.jsonl.gz --documents 100000 --seed 7
  plethora train catalogue/documents.jsonl -o model --text-field title,text \\
      --where split=train --vocabulary catalogue/labels.jsonl";

/// Names of the files in a folder.
pub(crate) const DOCUMENTS_FILE: &str = "documents.jsonl";
pub(crate) const LABELS_FILE: &str = "labels.jsonl";

/// Settings of a catalogue, and the options they come from.
const OPTIONS: [(&str, Argument); 3] = [
    ("num_labels", Argument::new("labels")),
    ("num_documents", Argument::new("documents")),
    ("noise_percent", Argument::new("noise")),
];

/// Make up a library catalogue to try things on: titles, abstracts and subject headings
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GenerateArgs {
    /// Folder for documents and labels, or a .jsonl file for documents, labels beside it; - writes
    /// documents alone to standard output
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,

    /// Number of documents
    #[arg(short = 'n', long, value_name = "N", default_value_t = CatalogueConfig::default().num_documents)]
    documents: u64,

    /// Number of labels; a quarter of the documents if not given
    #[arg(long, value_name = "N")]
    labels: Option<u32>,

    /// Percentage of the usual amount of noise; more is harder
    #[arg(long, value_name = "PERCENT", default_value_t = CatalogueConfig::default().noise_percent)]
    noise: u32,

    /// Seed; equal seeds give equal catalogues
    #[arg(long, value_name = "N", default_value_t = CatalogueConfig::default().seed)]
    seed: u64,

    /// Replace files that exist
    #[arg(long)]
    force: bool,
}

/// The library's names of settings as those of the options they come from.
pub(crate) fn name_option(error: Error) -> Error {
    let Error::Config { key, message } = error else {
        return error;
    };
    match OPTIONS.iter().find(|(setting, _)| key == **setting) {
        Some((_, option)) => Error::config(*option, message),
        None => Error::Config { key, message },
    }
}

impl GenerateArgs {
    /// Writes both files.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let catalogue = Catalogue::new(CatalogueConfig {
            seed: self.seed,
            num_documents: self.documents,
            num_labels: self.labels,
            noise_percent: self.noise,
        })
        .map_err(name_option)?;
        interrupt::install();
        let (documents, labels) = self.paths()?;
        let mut complete = Vec::new();
        if let Some(labels) = labels {
            complete.push(write_labels(&catalogue, &labels, self.force, session)?);
        }
        complete.push(write_documents(
            &catalogue, &documents, self.force, session,
        )?);
        CompleteFile::publish(complete)?;
        Ok(())
    }

    fn paths(&self) -> plethora_core::Result<(PathBuf, Option<PathBuf>)> {
        let output = &self.output;
        if output.as_os_str() == "-" {
            return Ok((output.clone(), None));
        }
        let name = output.file_name().unwrap_or_default().to_string_lossy();
        let Some((stem, _)) = name.split_once(".json") else {
            fs_err::create_dir_all(output).map_err(Error::write(output))?;
            return Ok((output.join(DOCUMENTS_FILE), Some(output.join(LABELS_FILE))));
        };
        let labels = output.with_file_name(format!("{stem}.{LABELS_FILE}"));
        Ok((output.clone(), Some(labels)))
    }
}
