//! Reading documents from a file of any format.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::format::{self, RawDocument, Row, RowReader, detect};
use super::memory::{DocumentList, MemoryRows};
use super::source::{Origin, Source, is_standard_stream};
use super::{Document, Format, Label, ReadOptions, Sample};
use crate::{Argument, Error, Message, Result};

/// Up to here comparing all pairs of labels is faster than hashing them.
const MAX_LABELS_TO_COMPARE: usize = 24;

/// Streams the documents of a corpus, one at a time.
///
/// ```
/// # fn main() -> plethora_core::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("corpus.jsonl");
/// # std::fs::write(&path, r#"{"text": "Waves", "labels": ["sea"]}"#).unwrap();
/// use plethora_core::corpus::{CorpusReader, ReadOptions};
///
/// for document in CorpusReader::open(&path, &ReadOptions::default())? {
///     let document = document?;
///     println!("{}: {}", document.id, document.labels.join(", "));
/// }
/// # Ok(())
/// # }
/// ```
pub struct CorpusReader {
    format: Format,
    rows: Box<dyn RowReader>,
    origin: Origin,
    docs_limit: Option<u64>,
    sample: Option<Sample>,
    /// Where each id was met first, by hash; `None` where ids may repeat.
    lines_by_id: Option<HashMap<u64, u64, FxBuildHasher>>,
    num_rows: u64,
    num_documents: u64,
    has_labels: bool,
    texts_only: bool,
    is_finished: bool,
    warnings: Vec<Message>,
    skipped: BTreeMap<&'static str, u64>,
}

impl CorpusReader {
    /// Opens a file, or standard input for `-`, and finds out its format.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        if let Some(labels_path) = &options.labels_path
            && is_standard_stream(labels_path)
        {
            return Err(Error::config(
                Argument::LABELS_FILE,
                "expected a file, not standard input",
            ));
        }
        let source = Source::open(path)?;
        let origin = source.origin().clone();
        let format = match options.format {
            Some(format) => format,
            None => detect::detect(&source, options)?,
        };
        let mut rows = format::open(format, source, options)?;
        let warnings = rows.take_warnings();
        Ok(Self {
            format,
            rows,
            origin,
            docs_limit: options.docs_limit,
            sample: options.sample.clone(),
            lines_by_id: (!options.allow_duplicate_ids).then(HashMap::default),
            num_rows: 0,
            num_documents: 0,
            has_labels: false,
            texts_only: options.texts_only,
            is_finished: false,
            warnings,
            skipped: BTreeMap::new(),
        })
    }

    /// Reads documents that are in memory; messages call them `name`. Ids may repeat.
    pub fn of_documents(name: &Path, documents: DocumentList) -> Self {
        Self {
            format: documents.format(),
            rows: Box::new(MemoryRows::new(documents)),
            origin: Origin::in_memory(name),
            docs_limit: None,
            sample: None,
            lines_by_id: None,
            num_rows: 0,
            num_documents: 0,
            has_labels: false,
            texts_only: true,
            is_finished: false,
            warnings: Vec::new(),
            skipped: BTreeMap::new(),
        }
    }

    /// The format, as given or as found.
    pub fn format(&self) -> Format {
        self.format
    }

    /// What was decided for the user, complete once all documents are read.
    pub fn warnings(&self) -> &[Message] {
        &self.warnings
    }

    /// Number of feature columns, where a header says so.
    pub fn num_features(&self) -> Option<usize> {
        self.rows.num_features()
    }

    /// The labels of the label file, in the order of their numbers, for formats that count in one.
    pub fn vocabulary(&self) -> &[Label] {
        self.rows.vocabulary()
    }

    /// Lines that gave no document, by reason. Rows that filters leave out are not among them.
    pub fn skipped(&self) -> &BTreeMap<&'static str, u64> {
        &self.skipped
    }

    /// The line of the last document in its file, counted from 1.
    pub fn line(&self) -> u64 {
        self.rows.line()
    }

    /// The line of the last document as written, where each document is a line that stands for
    /// itself: in [`Format::Jsonl`].
    pub fn raw_line(&self) -> Option<&str> {
        self.rows.raw_line()
    }

    /// True if rows so far had fields that are neither id, text nor labels and that no filter asks
    /// for; documents do not keep them.
    pub fn has_other_fields(&self) -> bool {
        self.rows.has_other_fields()
    }

    fn next_document(&mut self) -> Result<Option<Document>> {
        loop {
            if self
                .docs_limit
                .is_some_and(|limit| self.num_documents >= limit)
            {
                return Ok(None);
            }
            let row = self.rows.next_row()?;
            self.warnings.append(&mut self.rows.take_warnings());
            match row {
                None => {
                    self.check_end()?;
                    return Ok(None);
                }
                Some(Row::Blank) => *self.skipped.entry("blank line").or_default() += 1,
                Some(Row::Filtered) => self.num_rows += 1,
                Some(Row::Document(raw)) => {
                    self.num_rows += 1;
                    let document = self.accept(raw)?;
                    if self.is_sampled(&document) {
                        return Ok(Some(document));
                    }
                }
            }
        }
    }

    fn is_sampled(&self, document: &Document) -> bool {
        let sample = self.sample.as_ref();
        sample.is_none_or(|sample| sample.contains(&document.id))
    }

    /// The checks that all formats share.
    fn accept(&mut self, raw: RawDocument) -> Result<Document> {
        let RawDocument {
            id,
            content,
            mut labels,
        } = raw;
        if labels.iter().any(String::is_empty) {
            return Err(self.origin.error(self.rows.line(), "an empty label"));
        }
        keep_first_of_equals(&mut labels);
        let id = match id {
            Some(id) => {
                self.check_unique(&id)?;
                id
            }
            None => self.num_rows.to_string(),
        };
        self.num_documents += 1;
        self.has_labels |= !labels.is_empty();
        Ok(Document {
            id,
            content,
            labels,
        })
    }

    fn check_unique(&mut self, id: &str) -> Result<()> {
        let Some(lines_by_id) = &mut self.lines_by_id else {
            return Ok(());
        };
        let line = self.rows.line();
        // Two of a million ids share a hash once in some ten million files.
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        match lines_by_id.insert(hasher.finish(), line) {
            None => Ok(()),
            Some(first) => {
                let message = format!("the id `{id}` is that of line {first} already; ");
                let message = Message::new(message)
                    .hint(Argument::ALLOW_DUPLICATE_IDS.on())
                    .text(" accepts that");
                Err(self.origin.error(line, message))
            }
        }
    }

    fn check_end(&mut self) -> Result<()> {
        if self.num_documents == 0 {
            let message = match self.rows.explain_filter() {
                Some(filter) if self.num_rows > 0 => {
                    format!("none of {} rows has {filter}", self.num_rows)
                }
                _ => "the file has no documents".into(),
            };
            return Err(self.origin.error(None, message));
        }
        if self.format == Format::Jsonl && !self.has_labels && !self.texts_only {
            let warning = Message::new("no document has labels; ")
                .hint(Argument::LABEL_FIELD)
                .text(" names their field");
            self.warnings.push(warning);
        }
        Ok(())
    }
}

impl Iterator for CorpusReader {
    type Item = Result<Document>;

    fn next(&mut self) -> Option<Result<Document>> {
        if self.is_finished {
            return None;
        }
        let next = self.next_document().transpose();
        // What follows an error has lost its place.
        self.is_finished = !matches!(next, Some(Ok(_)));
        next
    }
}

impl std::fmt::Debug for CorpusReader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("CorpusReader")
            .field("path", &self.origin.path())
            .field("format", &self.format)
            .field("num_documents", &self.num_documents)
            .finish_non_exhaustive()
    }
}

/// Leaves out labels that came before, in order.
fn keep_first_of_equals(labels: &mut Vec<String>) {
    if labels.len() > MAX_LABELS_TO_COMPARE {
        let mut seen = HashSet::<String, FxBuildHasher>::default();
        labels.retain(|label| seen.insert(label.clone()));
        return;
    }
    for index in (1..labels.len()).rev() {
        if labels[..index].contains(&labels[index]) {
            labels.remove(index);
        }
    }
}
