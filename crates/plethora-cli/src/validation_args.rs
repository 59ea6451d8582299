//! The options that choose documents to measure a model on.

use std::path::PathBuf;

use clap::Args;
use plethora_core::corpus::Filter;

use plethora_core::Error;

use crate::bounds;
use crate::data_args::{DataArgs, check_stdin};
use crate::training::Corpus;

/// Documents apart from those to learn from; the words here are those of `--help`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ValidationArgs {
    /// Corpus to measure the model on; the metrics are kept in the model. Neural systems also
    /// stop early and choose their weights by it
    #[arg(long, value_name = "DATA")]
    pub(crate) valid: Option<PathBuf>,

    /// As --where, for --valid; it replaces the --where of the same field
    #[arg(long, value_name = "FIELD=VALUE", requires = "valid", value_parser = bounds::filter)]
    pub(crate) valid_where: Vec<Filter>,

    /// As --labels-file, for --valid
    #[arg(long, value_name = "FILE", requires = "valid")]
    pub(crate) valid_labels_file: Option<PathBuf>,
}

impl ValidationArgs {
    /// The corpus of `--valid`, which must not be `data`.
    pub(crate) fn corpus(&self, data: &Corpus, input: &DataArgs) -> anyhow::Result<Option<Corpus>> {
        let Some(path) = &self.valid else {
            return Ok(None);
        };
        let valid = Corpus::of_file(
            path.clone(),
            input.to_second_options(&self.valid_where, self.valid_labels_file.as_deref()),
        );
        check_stdin(&[&data.path, &valid.path])?;
        if valid.path == data.path && valid.options.filters == data.options.filters {
            return Err(Error::usage(
                "--valid: these are the documents to train on; \
                 choose others with --where and --valid-where",
            )
            .into());
        }
        Ok(Some(valid))
    }
}
