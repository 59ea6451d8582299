//! One file per corpus format, each turning lines into documents, and the choice between them.

mod annif_tsv;
#[cfg(feature = "arrow")]
mod arrow_bounds;
#[cfg(feature = "arrow")]
mod arrow_cells;
#[cfg(feature = "arrow")]
mod arrow_table;
mod columnar;
mod columns;
mod csv;
pub(super) mod detect;
mod fasttext;
mod grouped;
mod header;
mod json_row;
mod json_value;
mod jsonl;
mod label_file;
mod label_text;
mod libmultilabel_tsv;
mod libsvm;
mod list_literal;
mod running_text;
mod svm_line;
mod table;
mod text2text;
mod text_files;
mod text_pair;
mod tsv;
mod xmc_pair;
mod xmc_raw;

use std::fmt;
use std::str::FromStr;

use super::lines::Lines;
use super::source::{Origin, Source};
use super::{Content, Label, ReadOptions};
use crate::{Argument, Error, Message, Result};

pub(super) use columnar::{ColumnarKind, open_columnar};
pub(super) use label_text::bare_uri;
pub(super) use list_literal::parse_list;
pub(super) use text_files::{TextFile, TextFiles};

/// A way to write a corpus in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// One JSON object per line, with fields for text, labels and id.
    Jsonl,
    /// Values with a delimiter between them and a header, quoted as in RFC 4180.
    Csv,
    /// Tab-separated values with a header; quotes have no meaning.
    Tsv,
    /// A file of texts and a file of labels, line by line; without the second, texts alone.
    TextPair,
    /// The XMC repository's sparse format: a header `documents features labels`, then
    /// `label,label feature:value ...`, all counted from 0.
    XmcLibsvm,
    /// The same lines without a header.
    Libsvm,
    /// Two sparse matrices with headers: features, and labels in the second file.
    XmcPair,
    /// The XMC repository's JSON lines, whose `target_ind` counts in a label file.
    XmcRaw,
    /// Text with words such as `__label__sea`.
    FastText,
    /// Annif's short texts: text, then `<uri>`s in the last columns.
    AnnifTsv,
    /// `LibMultiLabel`'s columns: labels and text, or id, labels and text.
    LibMultiLabelTsv,
    /// PECOS's text2text: label numbers that count in a label file, a tab, text.
    Text2Text,
    /// A file that is one text, or a folder of such files, with labels beside them as Annif has them.
    Document,
    /// Parquet: a table in columns, with text, numbers and lists in its cells.
    Parquet,
    /// The same as Arrow keeps it in files and streams, Feather among them.
    Arrow,
}

impl Format {
    /// Every format, in the order help texts show them.
    pub const ALL: [Self; 15] = [
        Self::Jsonl,
        Self::Csv,
        Self::Tsv,
        Self::TextPair,
        Self::FastText,
        Self::XmcRaw,
        Self::XmcLibsvm,
        Self::XmcPair,
        Self::Libsvm,
        Self::AnnifTsv,
        Self::LibMultiLabelTsv,
        Self::Text2Text,
        Self::Document,
        Self::Parquet,
        Self::Arrow,
    ];

    /// The name in command lines and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::TextPair => "text-pair",
            Self::XmcLibsvm => "xmc-libsvm",
            Self::Libsvm => "libsvm",
            Self::XmcPair => "xmc-pair",
            Self::XmcRaw => "xmc-raw",
            Self::FastText => "fasttext",
            Self::AnnifTsv => "annif-tsv",
            Self::LibMultiLabelTsv => "libmultilabel-tsv",
            Self::Text2Text => "text2text",
            Self::Document => "document",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
        }
    }

    /// True where rows have named fields, so that fields can be chosen and rows filtered.
    pub const fn has_fields(self) -> bool {
        self.is_table() || matches!(self, Self::Jsonl | Self::XmcRaw)
    }

    /// The fields that hold the text where nobody names others; none where rows have no fields.
    pub const fn text_fields(self) -> &'static [&'static str] {
        match self {
            Self::Jsonl | Self::Csv | Self::Tsv | Self::Parquet | Self::Arrow => &["text"],
            Self::XmcRaw => &["title", "content"],
            _ => &[],
        }
    }

    /// True where [`ReadOptions::labels_path`] has a meaning.
    pub const fn takes_labels_file(self) -> bool {
        matches!(
            self,
            Self::TextPair | Self::XmcLibsvm | Self::XmcPair | Self::XmcRaw | Self::Text2Text
        )
    }

    /// True where corpora can be written in this format.
    pub const fn is_written(self) -> bool {
        !matches!(self, Self::Document | Self::Parquet | Self::Arrow)
    }

    /// True where documents are ready features instead of text.
    pub const fn has_features(self) -> bool {
        matches!(self, Self::XmcLibsvm | Self::Libsvm | Self::XmcPair)
    }

    /// True where [`ReadOptions::labels_path`] may name the file that label numbers count in, and
    /// labels need not be numbers.
    const fn takes_label_names(self) -> bool {
        self.is_table() || matches!(self, Self::Jsonl)
    }

    /// True where rows have columns.
    const fn is_table(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv | Self::Parquet | Self::Arrow)
    }

    const fn takes_label_separator(self) -> bool {
        self.is_table() || matches!(self, Self::Jsonl | Self::TextPair | Self::LibMultiLabelTsv)
    }

    /// The names of all formats, for messages.
    pub(super) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| {
                Error::config(
                    "format",
                    format!("`{name}`: expected one of {}", Self::names()),
                )
            })
    }
}

/// What a format reader makes of the next lines.
#[derive(Debug)]
pub(super) enum Row {
    /// A document, as written.
    Document(RawDocument),
    /// A row that the caller's filters leave out.
    Filtered,
    /// A line without anything in it.
    Blank,
}

impl Row {
    /// A text with its labels.
    fn text(id: Option<&str>, text: impl Into<String>, labels: Vec<String>) -> Self {
        Self::Document(RawDocument {
            id: id.map(str::to_owned),
            content: Content::Text(text.into()),
            labels,
        })
    }
}

/// A document before the checks that all formats share.
#[derive(Debug)]
pub(super) struct RawDocument {
    /// The id, where the row has one of its own.
    pub(super) id: Option<String>,
    pub(super) content: Content,
    pub(super) labels: Vec<String>,
}

/// Reads one format, row by row.
pub(super) trait RowReader: Send {
    /// The next row; `None` at the end, where counts are checked too.
    fn next_row(&mut self) -> Result<Option<Row>>;

    /// The line of the last row, counted from 1.
    fn line(&self) -> u64;

    /// Where the last row comes from, where rows come from several files.
    fn origin(&self) -> Option<&Origin> {
        None
    }

    /// The line of the last row as written, where each row is a line that stands for itself.
    fn raw_line(&self) -> Option<&str> {
        None
    }

    /// True if rows so far had fields that no document keeps and no filter asks for.
    fn has_other_fields(&self) -> bool {
        false
    }

    /// Number of feature columns, where a header says so.
    fn num_features(&self) -> Option<usize> {
        None
    }

    /// The labels of the label file that label numbers count in.
    fn vocabulary(&self) -> &[Label] {
        &[]
    }

    /// Why no row was kept, where filters are the reason.
    fn explain_filter(&self) -> Option<String> {
        None
    }

    /// How rows are read, as names and values for people.
    fn layout(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Hands over what was decided for the user since the last call.
    fn take_warnings(&mut self) -> Vec<Message> {
        Vec::new()
    }
}

/// The reader of a format.
pub(super) fn open(
    format: Format,
    source: Source,
    options: &ReadOptions,
) -> Result<Box<dyn RowReader>> {
    check_options(format, options)?;
    let lines = Lines::new;
    let origin = source.origin().clone();
    let rows: Box<dyn RowReader> = match format {
        Format::Jsonl => Box::new(jsonl::Jsonl::open(lines(source), options)?),
        Format::Csv => Box::new(csv::Csv::open(source, options)?),
        Format::Tsv => Box::new(tsv::Tsv::open(source, options)?),
        Format::TextPair => Box::new(text_pair::TextPair::open(lines(source), options)?),
        Format::XmcLibsvm => Box::new(libsvm::Libsvm::open_with_header(lines(source), options)?),
        Format::Libsvm => Box::new(libsvm::Libsvm::open_without_header(lines(source), options)?),
        Format::XmcPair => Box::new(xmc_pair::XmcPair::open(lines(source), options)?),
        Format::XmcRaw => Box::new(xmc_raw::XmcRaw::open(lines(source), options)?),
        Format::FastText => Box::new(fasttext::FastText::new(lines(source), options)?),
        Format::AnnifTsv => Box::new(annif_tsv::AnnifTsv::new(lines(source))),
        Format::LibMultiLabelTsv => Box::new(libmultilabel_tsv::LibMultiLabelTsv::new(
            lines(source),
            options,
        )),
        Format::Text2Text => Box::new(text2text::Text2Text::open(lines(source), options)?),
        Format::Document => Box::new(TextFiles::of_source(source, options)),
        Format::Parquet | Format::Arrow => {
            return Err(origin.error(None, format!("no {format} file")));
        }
    };
    Ok(group(format, rows, origin, options))
}

/// Puts rows of one document together where the caller or the rows say so.
fn group(
    format: Format,
    rows: Box<dyn RowReader>,
    origin: Origin,
    options: &ReadOptions,
) -> Box<dyn RowReader> {
    let is_told = format.is_table() && !options.allow_duplicate_ids && !options.texts_only;
    if options.group_rows || is_told {
        return Box::new(grouped::Grouped::new(rows, origin, !options.group_rows));
    }
    rows
}

/// Refuses options that the format would ignore: the caller expects something else of the file.
fn check_options(format: Format, options: &ReadOptions) -> Result<()> {
    let refuse = |key: Argument, what: &str| {
        let message = Message::new(format!("the format {format} has no {what}; check "));
        Err(Error::config(key, message.hint(Argument::FORMAT)))
    };
    if !format.has_fields() {
        if !options.filters.is_empty() {
            return refuse(Argument::WHERE, "named fields");
        }
        if !options.text_fields.is_empty() {
            return refuse(Argument::TEXT_FIELD, "named fields");
        }
        if options.label_field.is_some() {
            return refuse(Argument::LABEL_FIELD, "named fields");
        }
        if options.id_field.is_some() {
            return refuse(Argument::ID_FIELD, "named fields");
        }
    }
    if options.labels_path.is_some() && !format.takes_labels_file() && !format.takes_label_names() {
        return refuse(Argument::LABELS_FILE, "second file");
    }
    if options.label_separator.as_deref() == Some("") {
        return Err(Error::config(
            Argument::LABEL_SEPARATOR,
            "expected at least one character",
        ));
    }
    if options.label_separator.is_some() && !format.takes_label_separator() {
        return refuse(Argument::LABEL_SEPARATOR, "choice of separators");
    }
    if !options.label_columns.is_empty() {
        if !format.is_table() {
            return refuse(Argument::LABEL_COLUMNS, "columns");
        }
        if options.label_field.is_some() {
            let message = Message::new("labels are in one field or in columns of 0 and 1; leave ");
            let message = message.hint(Argument::LABEL_FIELD).text(" out");
            return Err(Error::config(Argument::LABEL_COLUMNS, message));
        }
    }
    if options.group_rows && !format.has_fields() {
        return refuse(Argument::GROUP_ROWS, "named fields");
    }
    if options.delimiter.is_some() && format != Format::Csv {
        return refuse(Argument::DELIMITER, "delimiter to choose");
    }
    match options.index_base {
        Some(1) if matches!(format, Format::XmcLibsvm | Format::XmcPair) => Err(Error::config(
            Argument::INDEX_BASE,
            format!("features of {format} are counted from 0; a file without header is libsvm"),
        )),
        Some(2..) => Err(Error::config(Argument::INDEX_BASE, "expected 0 or 1")),
        _ => Ok(()),
    }
}

/// The error of a format that cannot do without its second file.
fn missing_labels_file(origin: &Origin, needs: &str) -> Error {
    let message = Message::new(format!("{needs}; name it with "));
    origin.error(None, message.hint(Argument::LABELS_FILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_unknown_ones_refused() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
        }
        let message = "excel".parse::<Format>().unwrap_err().to_string();
        assert!(
            message.starts_with("format: `excel`: expected one of jsonl, csv"),
            "{message}"
        );
    }

    #[test]
    fn options_without_effect_are_refused() {
        let options = ReadOptions {
            text_fields: vec!["title".into()],
            ..ReadOptions::default()
        };
        let message = check_options(Format::FastText, &options)
            .unwrap_err()
            .to_string();
        assert_eq!(
            message,
            "text_field: the format fasttext has no named fields; check format"
        );
        let options = ReadOptions {
            index_base: Some(1),
            ..ReadOptions::default()
        };
        assert!(check_options(Format::XmcLibsvm, &options).is_err());
        assert!(check_options(Format::Libsvm, &options).is_ok());
        let options = ReadOptions {
            labels_path: Some("l.txt".into()),
            ..ReadOptions::default()
        };
        assert!(check_options(Format::FastText, &options).is_err());
        assert!(check_options(Format::Jsonl, &options).is_ok());
        assert!(check_options(Format::TextPair, &options).is_ok());
    }
}
