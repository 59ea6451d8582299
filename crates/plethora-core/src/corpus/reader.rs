//! Reading documents from a file of any format.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::feedback::{Corrections, FeedbackCounts};
use super::format::{RawDocument, Row};
use super::input::{Input, expand};
use super::memory::{DocumentList, MemoryRows};
use super::opened::OpenInput;
use super::source::{Origin, is_standard_stream, shown_path};
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
    /// The part that is being read.
    part: OpenInput,
    /// The parts to read after it.
    next_parts: std::vec::IntoIter<Input>,
    options: ReadOptions,
    /// The format of the first part.
    format: Format,
    /// Where each id was met first, by hash; `None` where ids may repeat.
    places_by_id: Option<HashMap<u64, Place, FxBuildHasher>>,
    /// What feedback changes, where there is any.
    corrections: Option<Corrections>,
    /// The files so far, where there are several.
    paths: Vec<PathBuf>,
    num_rows: u64,
    num_documents: u64,
    has_labels: bool,
    is_finished: bool,
    warnings: Vec<Message>,
    skipped: BTreeMap<&'static str, u64>,
}

/// A line of one of the files.
#[derive(Debug, Clone, Copy)]
struct Place {
    file: u32,
    line: u64,
}

impl CorpusReader {
    /// Opens a file, standard input for `-`, a pattern of names or a folder, and what
    /// [`ReadOptions::more_paths`] names, and finds out the format.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        if let Some(labels_path) = &options.labels_path
            && is_standard_stream(labels_path)
        {
            return Err(Error::config(
                Argument::LABELS_FILE,
                "expected a file, not standard input",
            ));
        }
        let mut parts = expand(path, options)?.into_iter();
        let Some(first) = parts.next() else {
            return Err(Error::input(path, None, "no files"));
        };
        let part = match OpenInput::open(&first, options)? {
            Some(part) => part,
            None if options.texts_only || parts.len() > 0 => OpenInput::empty(&first, options),
            None => return Err(Error::input(shown_path(path), None, "the file is empty")),
        };
        let mut reader = Self::new(part, parts, options.clone());
        reader.places_by_id = (!options.allow_duplicate_ids).then(HashMap::default);
        // What is told of a corpus is told of its first file with documents.
        while reader.part.is_empty() && reader.open_next()? {}
        Ok(reader)
    }

    /// Reads documents that are in memory; messages call them `name`. Ids may repeat.
    pub fn of_documents(name: &Path, documents: DocumentList) -> Self {
        let part = OpenInput {
            origin: Origin::in_memory(name),
            format: documents.format(),
            rows: Box::new(MemoryRows::new(documents)),
            warnings: Vec::new(),
            facts: Vec::new(),
        };
        let options = ReadOptions {
            texts_only: true,
            ..ReadOptions::default()
        };
        Self::new(part, Vec::new().into_iter(), options)
    }

    fn new(mut part: OpenInput, parts: std::vec::IntoIter<Input>, options: ReadOptions) -> Self {
        Self {
            format: part.format,
            warnings: std::mem::take(&mut part.warnings),
            paths: vec![part.origin.path().to_owned()],
            part,
            next_parts: parts,
            corrections: (options.feedback.as_ref())
                .map(|feedback| Corrections::new(Arc::clone(feedback))),
            options,
            places_by_id: None,
            num_rows: 0,
            num_documents: 0,
            has_labels: false,
            is_finished: false,
            skipped: BTreeMap::new(),
        }
    }

    /// Only the documents of a sample.
    pub fn sampled(mut self, sample: Option<Sample>) -> Self {
        self.options.sample = sample;
        self
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
        self.part.rows.num_features()
    }

    /// The labels of the label file, in the order of their numbers, for formats that count in one.
    pub fn vocabulary(&self) -> &[Label] {
        self.part.rows.vocabulary()
    }

    /// What has become of feedback, where there is any; complete once all documents are read.
    pub fn feedback(&self) -> Option<FeedbackCounts> {
        let corrections = self.corrections.as_ref();
        corrections.map(Corrections::counts)
    }

    /// Lines that gave no document, by reason. Rows that filters leave out are not among them.
    pub fn skipped(&self) -> &BTreeMap<&'static str, u64> {
        &self.skipped
    }

    /// The line of the last document in its file, counted from 1.
    pub fn line(&self) -> u64 {
        self.part.rows.line()
    }

    /// The line of the last document as written, where each document is a line that stands for
    /// itself: in [`Format::Jsonl`].
    pub fn raw_line(&self) -> Option<&str> {
        self.part.rows.raw_line()
    }

    /// True if rows so far had fields that are neither id, text nor labels and that no filter asks
    /// for; documents do not keep them.
    pub fn has_other_fields(&self) -> bool {
        self.part.rows.has_other_fields()
    }

    /// How the file at hand is read: names and values for people, as `("delimiter", ";")`.
    pub fn layout(&self) -> Vec<(&'static str, String)> {
        self.part.layout()
    }

    fn next_document(&mut self) -> Result<Option<Document>> {
        loop {
            let limit = self.options.docs_limit;
            if limit.is_some_and(|limit| self.num_documents >= limit) {
                return Ok(None);
            }
            let row = self.part.rows.next_row()?;
            self.warn(|part| part.rows.take_warnings());
            match row {
                None => {
                    if self.open_next()? {
                        continue;
                    }
                    let Some(raw) = self.added()? else {
                        self.check_end()?;
                        return Ok(None);
                    };
                    self.num_rows += 1;
                    let document = self.accept(raw)?;
                    if self.is_sampled(&document) {
                        return Ok(Some(document));
                    }
                }
                Some(Row::Blank) => *self.skipped.entry("blank line").or_default() += 1,
                Some(Row::Filtered) => self.num_rows += 1,
                Some(Row::Document(mut raw)) => {
                    self.num_rows += 1;
                    if let Some(corrections) = &mut self.corrections {
                        corrections.correct(&mut raw);
                    }
                    let document = self.accept(raw)?;
                    if self.is_sampled(&document) {
                        return Ok(Some(document));
                    }
                }
            }
        }
    }

    /// The next document of the feedback that the corpus lacks, once all of that was read.
    fn added(&mut self) -> Result<Option<RawDocument>> {
        match &mut self.corrections {
            Some(corrections) => corrections.added(self.part.rows.vocabulary()),
            None => Ok(None),
        }
    }

    /// Goes on to the next file with anything in it; false where there is none.
    fn open_next(&mut self) -> Result<bool> {
        while let Some(input) = self.next_parts.next() {
            let Some(part) = OpenInput::open(&input, &self.options)? else {
                continue;
            };
            let was_empty = self.part.is_empty();
            if !was_empty {
                check_alike(&self.part, &part)?;
            }
            self.part = part;
            if was_empty {
                self.format = self.part.format;
            }
            self.paths.push(self.part.origin.path().to_owned());
            self.warn(|part| std::mem::take(&mut part.warnings));
            return Ok(true);
        }
        Ok(false)
    }

    /// Keeps what a part has to say, once where all parts say it.
    fn warn(&mut self, take: impl FnOnce(&mut OpenInput) -> Vec<Message>) {
        for warning in take(&mut self.part) {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }

    /// Where the last document is from.
    fn origin(&self) -> &Origin {
        let own = self.part.rows.origin();
        own.unwrap_or(&self.part.origin)
    }

    fn is_sampled(&self, document: &Document) -> bool {
        let sample = self.options.sample.as_ref();
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
            return Err(self.origin().error(self.part.rows.line(), "an empty label"));
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
        let line = self.part.rows.line();
        let place = Place {
            file: self.paths.len() as u32 - 1,
            line,
        };
        let Some(places_by_id) = &mut self.places_by_id else {
            return Ok(());
        };
        // Two of a million ids share a hash once in some ten million files.
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        let Some(first) = places_by_id.insert(hasher.finish(), place) else {
            return Ok(());
        };
        let mut of_file = String::new();
        if first.file != place.file {
            of_file = format!(" of {}", self.paths[first.file as usize].display());
        }
        let message = format!(
            "the id `{id}` is that of line {}{of_file} already; ",
            first.line
        );
        let mut message = Message::new(message)
            .hint(Argument::ALLOW_DUPLICATE_IDS.on())
            .text(" accepts that");
        if self.part.format.has_fields() && first.file == place.file {
            message = message
                .text(", and ")
                .hint(Argument::GROUP_ROWS.on())
                .text(" makes one document of neighbouring rows");
        }
        Err(self.origin().error(line, message))
    }

    fn check_end(&mut self) -> Result<()> {
        if self.num_documents == 0 {
            let message = match self.part.rows.explain_filter() {
                Some(filter) if self.num_rows > 0 => {
                    format!("none of {} rows has {filter}", self.num_rows)
                }
                // Nothing to rank is nothing to complain of.
                _ if self.options.texts_only => return Ok(()),
                _ => "the file has no documents".into(),
            };
            return Err(self.part.origin.error(None, message));
        }
        if self.format == Format::Jsonl && !self.has_labels && !self.options.texts_only {
            let warning = Message::new("no document has labels; ")
                .hint(Argument::LABEL_FIELD)
                .text(" names their field");
            self.warnings.push(warning);
        }
        Ok(())
    }
}

/// Refuses to make one corpus of features and texts, or of other features.
fn check_alike(before: &OpenInput, part: &OpenInput) -> Result<()> {
    let path = before.origin.path().display();
    if before.format.has_features() != part.format.has_features() {
        let message = format!(
            "{} in one corpus with {} ({path}): features and texts do not go together",
            part.format, before.format
        );
        return Err(part.origin.error(None, message));
    }
    match (before.rows.num_features(), part.rows.num_features()) {
        (Some(expected), Some(found)) if expected != found => {
            let message = format!("{found} features, but {path} has {expected}");
            Err(part.origin.error(1, message))
        }
        _ => Ok(()),
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
            .field("path", &self.part.origin.path())
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
