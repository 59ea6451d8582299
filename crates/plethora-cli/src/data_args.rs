//! The options of all commands that read corpora.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use plethora_core::artifact::ModelDetails;
use plethora_core::corpus::{CorpusReader, Delimiter, Encoding, Filter, Format, ReadOptions};
use plethora_core::{Error, Result};

pub(crate) use plethora_jobs::{in_file, tell_warnings};

use crate::bounds;
use crate::training::Corpus;

/// How to read a corpus.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataArgs {
    /// Format of the data; told by its content where not given
    #[arg(short, long, value_parser = format_parser())]
    pub(crate) format: Option<Format>,

    /// What stands between the cells of CSV: one character, or tab; told by the header where not
    /// given
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter: Option<Delimiter>,

    /// Encoding of the data, as utf-8, utf-16, windows-1252, latin1; told by content where not given
    #[arg(long, value_name = "NAME")]
    pub(crate) encoding: Option<Encoding>,

    /// Fields that hold the text, joined in this order (as title,text). If not given: for eval and
    /// predict those the model was trained on; else, and where a document has none of them, text
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    pub(crate) text_field: Vec<String>,

    /// Field that holds the labels
    #[arg(long, value_name = "FIELD")]
    pub(crate) label_field: Option<String>,

    /// Columns of 0 and 1 that each stand for a label: names, FIRST..LAST, or * for all that are
    /// nothing else; told by content where all of these are 0 and 1
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) label_columns: Vec<String>,

    /// Make one document of neighbouring rows with the same id, or with the same text where there are
    /// no ids: data with a row for each label of a document
    #[arg(long)]
    pub(crate) group_rows: bool,

    /// Field that holds the id
    #[arg(long, value_name = "FIELD")]
    pub(crate) id_field: Option<String>,

    /// Keep rows whose field has this value; repeat it for more fields or values
    #[arg(long = "where", value_name = "FIELD=VALUE", value_parser = bounds::filter)]
    pub(crate) filters: Vec<Filter>,

    /// Second file of formats with separate labels: label lines of text-pair, label matrix of
    /// xmc-pair, the label file that numbers of labels count in (from 0)
    #[arg(long, visible_alias = "labels", value_name = "FILE")]
    pub(crate) labels_file: Option<PathBuf>,

    /// What stands between labels in one field or line
    #[arg(long, value_name = "TEXT")]
    pub(crate) label_separator: Option<String>,

    /// What marks a label in fastText files
    #[arg(long, value_name = "TEXT", default_value_t = ReadOptions::default().label_prefix)]
    pub(crate) label_prefix: String,

    /// Number of the first feature in libsvm files without header: 0 or 1
    #[arg(long, value_name = "N")]
    pub(crate) index_base: Option<u8>,

    /// Read at most this many documents
    #[arg(long, value_name = "N")]
    pub(crate) docs_limit: Option<u64>,

    /// Accept documents that share an id
    #[arg(long)]
    pub(crate) allow_duplicate_ids: bool,
}

impl DataArgs {
    /// The same as the library's options.
    pub(crate) fn to_options(&self) -> ReadOptions {
        ReadOptions {
            more_paths: Vec::new(),
            format: self.format,
            delimiter: self.delimiter,
            encoding: self.encoding,
            text_fields: self.text_field.clone(),
            usual_text_fields: Vec::new(),
            label_field: self.label_field.clone(),
            label_columns: self.label_columns.clone(),
            group_rows: self.group_rows,
            id_field: self.id_field.clone(),
            filters: self.filters.clone(),
            labels_path: self.labels_file.clone(),
            label_separator: self.label_separator.clone(),
            label_prefix: self.label_prefix.clone(),
            index_base: self.index_base,
            docs_limit: self.docs_limit,
            sample: None,
            allow_duplicate_ids: self.allow_duplicate_ids,
            feedback: None,
            texts_only: false,
        }
    }

    /// The corpus that paths name together.
    pub(crate) fn corpus(&self, paths: &[PathBuf]) -> Corpus {
        Corpus::of_file(
            first_of(paths).to_owned(),
            self.to_options().and_more(paths),
        )
    }

    /// Options for documents to be read as a model was trained.
    pub(crate) fn to_options_for(&self, model: &ModelDetails) -> ReadOptions {
        ReadOptions {
            usual_text_fields: model.text_fields.clone(),
            ..self.to_options()
        }
    }

    /// Options for a second corpus of the same kind: its own filters replace those of the same
    /// field, and all of it is read.
    pub(crate) fn to_second_options(
        &self,
        filters: &[Filter],
        labels_file: Option<&Path>,
    ) -> ReadOptions {
        let mut options = self.to_options();
        let is_replaced = |filter: &Filter| filters.iter().any(|own| own.field == filter.field);
        options.filters.retain(|filter| !is_replaced(filter));
        options.filters.extend(filters.iter().cloned());
        options.docs_limit = None;
        if labels_file.is_some() {
            options.labels_path = labels_file.map(Path::to_owned);
        }
        options
    }

    /// Refuses to put an output in the place of what it is made from.
    pub(crate) fn check_output(&self, data: &[PathBuf], output: &Path) -> Result<(), Error> {
        let Ok(existing) = fs::canonicalize(output) else {
            return Ok(());
        };
        let mut inputs = data.iter().chain(&self.labels_file);
        if inputs.any(|input| fs::canonicalize(input).is_ok_and(|input| input == existing)) {
            return Err(Error::usage(format!(
                "{}: this is the input; choose another name for the output",
                output.display()
            )));
        }
        Ok(())
    }

    /// Opens the corpus that paths name together.
    pub(crate) fn open(&self, paths: &[PathBuf]) -> Result<CorpusReader> {
        self.corpus(paths).open()
    }
}

/// The first of the paths of a corpus, of which there is at least one.
pub(crate) fn first_of(paths: &[PathBuf]) -> &Path {
    paths.first().map_or(Path::new(""), PathBuf::as_path)
}

/// Options for a corpus of several files.
pub(crate) trait AndMore {
    /// The same options with all paths after the first.
    fn and_more(self, paths: &[PathBuf]) -> Self;
}

impl AndMore for ReadOptions {
    fn and_more(self, paths: &[PathBuf]) -> Self {
        Self {
            more_paths: paths.iter().skip(1).cloned().collect(),
            ..self
        }
    }
}

/// Reads format names, and lists them in help and errors.
pub(crate) fn format_parser() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name)).try_map(|name| name.parse::<Format>())
}

/// The same of the formats that can be written.
pub(crate) fn out_format_parser() -> impl TypedValueParser<Value = Format> {
    let written = Format::ALL.into_iter().filter(|format| format.is_written());
    PossibleValuesParser::new(written.map(Format::name)).try_map(|name| name.parse::<Format>())
}

/// Says that what was written has less than what was read.
pub(crate) fn warn_of_lost_fields(reader: &CorpusReader) {
    if reader.has_other_fields() {
        tracing::warn!("only id, text and labels are written; all other fields are left out");
    }
}

/// Refuses two readers of standard input.
pub(crate) fn check_stdin(paths: &[&Path]) -> Result<()> {
    let num_streams = paths.iter().filter(|path| path.as_os_str() == "-").count();
    if num_streams > 1 {
        return Err(Error::config(
            "-",
            "standard input can be read once; name a file for the other",
        ));
    }
    Ok(())
}
