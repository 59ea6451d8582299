//! Files of which each is one document, with labels beside them as Annif has them: `.tsv` with a
//! `<uri>` and a name per line, or `.key` with a name per line.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::super::bounds::MAX_ROW_BYTES;
use super::super::csv_records::no_utf8;
use super::super::lines::Lines;
use super::super::source::{Origin, Source};
use super::super::{Content, Encoding, ReadOptions};
use super::label_text::bare_uri;
use super::{RawDocument, Row, RowReader};
use crate::{Message, Result};

/// A document in a file of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::corpus) struct TextFile {
    pub(in crate::corpus) path: PathBuf,
    pub(in crate::corpus) labels: Option<PathBuf>,
}

/// Reads [`Format::Document`](super::Format::Document).
pub(in crate::corpus) struct TextFiles {
    files: std::vec::IntoIter<TextFile>,
    /// A file that is open already.
    first: Option<Source>,
    encoding: Option<Encoding>,
    texts_only: bool,
    origin: Option<Origin>,
    warnings: Vec<Message>,
}

impl TextFiles {
    /// The documents of several files.
    pub(in crate::corpus) fn new(files: Vec<TextFile>, options: &ReadOptions) -> Self {
        Self {
            files: files.into_iter(),
            first: None,
            encoding: options.encoding,
            texts_only: options.texts_only,
            origin: None,
            warnings: Vec::new(),
        }
    }

    /// The document that a file is.
    pub(super) fn of_source(source: Source, options: &ReadOptions) -> Self {
        Self {
            first: Some(source),
            ..Self::new(Vec::new(), options)
        }
    }

    #[expect(clippy::naive_bytecount, reason = "once per file")]
    fn document(&mut self, source: Source, labels: Option<&Path>) -> Result<Row> {
        let (reader, origin) = source.into_reader();
        self.origin = Some(origin.clone());
        let mut bytes = Vec::new();
        let num_bytes = reader
            .take(MAX_ROW_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| origin.read_error(error, None))?;
        if num_bytes as u64 > MAX_ROW_BYTES {
            let message = format!("the document is longer than {} MiB", MAX_ROW_BYTES >> 20);
            return Err(origin.error(None, message));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let before = &error.as_bytes()[..valid];
            let line = before.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
            origin.error(line, no_utf8("a byte of the line"))
        })?;
        let labels = match labels.filter(|_| !self.texts_only) {
            Some(path) => read_labels(path)?,
            None => Vec::new(),
        };
        let name = origin.path().file_name();
        Ok(Row::Document(RawDocument {
            id: name.map(|name| name.to_string_lossy().into_owned()),
            content: Content::Text(text.trim_end().to_owned()),
            labels,
        }))
    }
}

/// The labels of a file: a key per line in `.key`, a `<uri>` and a name in `.tsv`.
fn read_labels(path: &Path) -> Result<Vec<String>> {
    let source = Source::open_as(path, None)?;
    let is_table = path.extension().is_some_and(|suffix| suffix == "tsv");
    let mut lines = Lines::new(source);
    let mut labels = Vec::new();
    while let Some(line) = lines.next_line()? {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        if !is_table {
            labels.push(line.to_owned());
            continue;
        }
        let key = line.split('\t').next().unwrap_or_default().trim();
        let uri = bare_uri(key);
        // Annif takes nothing else; a name alone would become another label than its URI.
        if uri == key && line.contains('\t') {
            return Err(lines.error("expected a subject such as <http://..>, a tab, and its name"));
        }
        labels.push(uri.to_owned());
    }
    Ok(labels)
}

impl RowReader for TextFiles {
    fn next_row(&mut self) -> Result<Option<Row>> {
        if let Some(source) = self.first.take() {
            return self.document(source, None).map(Some);
        }
        let Some(file) = self.files.next() else {
            return Ok(None);
        };
        let source = Source::open_as(&file.path, self.encoding)?;
        if let Some(notice) = source.notice() {
            let name = file.path.display();
            self.warnings
                .push(Message::new(format!("{name}: ")).message(notice));
        }
        self.document(source, file.labels.as_deref()).map(Some)
    }

    fn line(&self) -> u64 {
        1
    }

    fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    fn take_warnings(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.warnings)
    }
}
