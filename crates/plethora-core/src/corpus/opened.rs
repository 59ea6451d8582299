//! One part of a corpus, opened: its format, and the reader of its rows.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::folder::documents_notice;
use super::format::{self, ColumnarKind, Format, Row, RowReader, TextFiles, detect};
use super::source::{Origin, Source, is_standard_stream, shown_path};
use super::{Input, ReadOptions};
use crate::{Argument, Error, Message, Result};

/// Bytes that tell files with tables in columns from others.
const MAGIC_BYTES: usize = 8;

/// A part of a corpus that is being read.
pub(super) struct OpenInput {
    pub(super) origin: Origin,
    pub(super) format: Format,
    pub(super) rows: Box<dyn RowReader>,
    /// What was decided for the user when opening it.
    pub(super) warnings: Vec<Message>,
    /// How it is read, as names and values for people; the reader of rows knows more.
    pub(super) facts: Vec<(&'static str, String)>,
}

impl OpenInput {
    /// Opens a part; `None` where there is nothing in it, which is no error where others have something.
    pub(super) fn open(input: &Input, options: &ReadOptions) -> Result<Option<Self>> {
        let path = match input {
            Input::File(path) => path,
            Input::Documents {
                folder,
                files,
                has_labels,
            } => {
                let notice = (!has_labels).then(|| documents_notice(files.len()));
                return Ok(Some(Self {
                    origin: Origin::in_memory(folder),
                    format: Format::Document,
                    rows: Box::new(TextFiles::new(files.clone(), options)),
                    warnings: notice.into_iter().collect(),
                    facts: told(Format::Document, options.format),
                }));
            }
        };
        if let Some(kind) = columnar_kind(path, options)? {
            return Self::open_columnar(path, kind, options).map(Some);
        }
        let source = Source::open_as(path, options.encoding)?;
        if source.sample().is_empty() {
            return Ok(None);
        }
        let origin = source.origin().clone();
        let mut warnings: Vec<Message> = source.notice().into_iter().collect();
        let format = match options.format {
            Some(format) => format,
            None => detect::detect(&source, options)?,
        };
        if format == Format::Document && options.format.is_none() {
            warnings.push(running_text_notice());
        }
        let mut facts = told(format, options.format);
        facts.push(("encoding", encoding_told(&source, options)));
        let mut rows = format::open(format, source, options)?;
        warnings.append(&mut rows.take_warnings());
        Ok(Some(Self {
            origin,
            format,
            rows,
            warnings,
            facts,
        }))
    }

    fn open_columnar(path: &Path, kind: ColumnarKind, options: &ReadOptions) -> Result<Self> {
        let format = kind.format();
        if options.encoding.is_some() {
            let message = format!("{format} files have no encoding to choose");
            return Err(Error::config(Argument::ENCODING, message));
        }
        let mut rows = format::open_columnar(path, kind, options)?;
        Ok(Self {
            origin: Origin::in_memory(path),
            format,
            warnings: rows.take_warnings(),
            rows,
            facts: told(format, options.format),
        })
    }

    /// A part without anything in it.
    pub(super) fn empty(input: &Input, options: &ReadOptions) -> Self {
        let path = match input {
            Input::File(path) => path,
            Input::Documents { folder, .. } => folder,
        };
        Self {
            origin: Origin::in_memory(shown_path(path)),
            format: options.format.unwrap_or(Format::TextPair),
            rows: Box::new(NoRows),
            warnings: Vec::new(),
            facts: Vec::new(),
        }
    }

    /// True if there is nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// How the part is read.
    pub(super) fn layout(&self) -> Vec<(&'static str, String)> {
        let mut layout = self.facts.clone();
        layout.extend(self.rows.layout());
        layout
    }
}

/// The kind of a file with a table in columns; an error where another format was asked for.
fn columnar_kind(path: &Path, options: &ReadOptions) -> Result<Option<ColumnarKind>> {
    if is_standard_stream(path) || !path.is_file() {
        return Ok(None);
    }
    let mut magic = Vec::with_capacity(MAGIC_BYTES);
    File::open(path)
        .and_then(|file| file.take(MAGIC_BYTES as u64).read_to_end(&mut magic))
        .map_err(Error::read(path))?;
    let kind = ColumnarKind::of(&magic);
    match (kind, options.format) {
        (Some(kind), Some(asked)) if kind.format() != asked => Err(Error::input(
            path,
            None,
            format!("a file of the format {}, not {asked}", kind.format()),
        )),
        _ => Ok(kind),
    }
}

fn told(format: Format, named: Option<Format>) -> Vec<(&'static str, String)> {
    let how = match named {
        Some(_) => "as asked for",
        None => "told by content",
    };
    vec![("format", format!("{format} ({how})"))]
}

fn encoding_told(source: &Source, options: &ReadOptions) -> String {
    let how = match options.encoding {
        Some(_) => "as asked for",
        None => "told by content",
    };
    format!("{} ({how})", source.encoding())
}

fn running_text_notice() -> Message {
    Message::new("read as one document, for it is running text; ")
        .hint(Argument::FORMAT.value(Format::TextPair.name()))
        .text(" reads one text per line")
}

/// Nothing to read.
struct NoRows;

impl RowReader for NoRows {
    fn next_row(&mut self) -> Result<Option<Row>> {
        Ok(None)
    }

    fn line(&self) -> u64 {
        0
    }
}
