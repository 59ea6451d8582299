//! Documents as systems get them: counted, checked, and told about.

use std::path::Path;

use plethora_core::artifact::TrainedOn;
use plethora_core::corpus::{
    CorpusReader, Document, Format, Label, VocabularyFile, VocabularyMistakes,
};
use plethora_core::{Progress, Result};
use plethora_system::{DocumentSource, DocumentStream};
use rustc_hash::FxHashSet;

use super::corpus::Corpus;
use crate::corpus_reading::{
    check_interrupt, no_labels, shown, tell_feedback, tell_warnings, vocabulary,
};

/// Documents between two reports of progress.
const DOCUMENTS_PER_STEP: u64 = 256;

/// The training documents of a job.
pub(super) struct TrainingDocuments<'a> {
    corpus: &'a Corpus,
    reader: CorpusReader,
    /// Names of labels, from a vocabulary or from the corpus.
    labels: Vec<Label>,
    unnamed: Option<UnnamedLabels<'a>>,
    progress: &'a dyn Progress,
    num_documents: u64,
    /// Whether a corpus without any labels is a mistake.
    pub(super) need_labels: bool,
    pub(super) num_without_labels: u64,
    first_without_labels: u64,
    /// What the model will have seen.
    pub(super) trained_on: TrainedOn,
}

impl<'a> TrainingDocuments<'a> {
    pub(super) fn open(
        corpus: &'a Corpus,
        vocabulary_file: Option<&'a VocabularyFile>,
        progress: &'a dyn Progress,
    ) -> Result<Self> {
        let reader = corpus.open()?;
        let labels = vocabulary(vocabulary_file, &reader)?;
        Ok(Self {
            corpus,
            unnamed: vocabulary_file.map(|file| UnnamedLabels::new(&file.path, &labels)),
            reader,
            labels,
            progress,
            num_documents: 0,
            need_labels: true,
            num_without_labels: 0,
            first_without_labels: 0,
            trained_on: TrainedOn::default(),
        })
    }

    /// The format, as given or as found.
    pub(super) fn format(&self) -> Format {
        self.reader.format()
    }

    fn count(&mut self, document: &Document) -> Result<()> {
        self.num_documents += 1;
        if document.labels.is_empty() {
            if self.num_without_labels == 0 {
                self.first_without_labels = self.reader.line();
            }
            self.num_without_labels += 1;
        } else {
            self.trained_on.add(document);
        }
        if let Some(unnamed) = &mut self.unnamed {
            unnamed.add(document);
        }
        if self.num_documents.is_multiple_of(DOCUMENTS_PER_STEP) {
            self.progress.advance(DOCUMENTS_PER_STEP);
            check_interrupt(self.progress)?;
        }
        Ok(())
    }

    /// Says what was decided for the user while reading.
    fn end(&self) -> Result<()> {
        let path = &self.corpus.path;
        let is_unlabelled = self.num_without_labels == self.num_documents;
        if self.num_documents > 0 && is_unlabelled && self.need_labels {
            return Err(no_labels(path, self.format(), "to learn from"));
        }
        tell_warnings(&self.reader, self.progress);
        tell_feedback(&self.reader, self.progress);
        if is_unlabelled && !self.need_labels {
            tracing::warn!(
                "{}: no document has labels, so the model knows names alone",
                shown(path).display()
            );
            return Ok(());
        }
        if let Some(unnamed) = &self.unnamed {
            unnamed.tell();
        }
        if self.num_without_labels > 0 {
            tracing::warn!(
                "{}:{}: no labels; documents without labels are left out: {}",
                shown(path).display(),
                self.first_without_labels,
                self.num_without_labels
            );
        }
        Ok(())
    }
}

impl DocumentStream for TrainingDocuments<'_> {
    fn next_document(&mut self) -> Result<Option<Document>> {
        let next = self.reader.next().transpose()?;
        match &next {
            Some(document) => self.count(document)?,
            None => self.end()?,
        }
        Ok(next)
    }

    fn limit(&self) -> Option<u64> {
        self.corpus.options.docs_limit
    }

    fn labels(&self) -> &[Label] {
        &self.labels
    }

    fn num_features(&self) -> Option<usize> {
        self.reader.num_features()
    }
}

/// Labels that a vocabulary lacks: one of other labels, or with other keys, would go unnoticed until
/// predictions are read.
struct UnnamedLabels<'a> {
    path: &'a Path,
    mistakes: VocabularyMistakes,
    named: FxHashSet<String>,
    found: FxHashSet<String>,
    met: FxHashSet<String>,
}

impl<'a> UnnamedLabels<'a> {
    fn new(path: &'a Path, vocabulary: &[Label]) -> Self {
        Self {
            path,
            mistakes: VocabularyMistakes::of(vocabulary),
            named: vocabulary.iter().map(|label| label.key.clone()).collect(),
            found: FxHashSet::default(),
            met: FxHashSet::default(),
        }
    }

    fn add(&mut self, document: &Document) {
        for key in &document.labels {
            let met = if self.named.contains(key) {
                &mut self.met
            } else {
                &mut self.found
            };
            if !met.contains(key) {
                met.insert(key.clone());
            }
        }
    }

    fn tell(&self) {
        for line in self.mistakes.lines() {
            tracing::warn!("{}: {line}", self.path.display());
        }
        if !self.found.is_empty() {
            tracing::warn!(
                "{} of {} labels are not in {}; their keys serve as names",
                self.found.len(),
                self.found.len() + self.met.len(),
                self.path.display()
            );
        }
    }
}

/// Documents to choose weights by.
struct ValidationStream<'a> {
    corpus: &'a Corpus,
    reader: CorpusReader,
    has_labels: bool,
}

impl DocumentStream for ValidationStream<'_> {
    fn next_document(&mut self) -> Result<Option<Document>> {
        let next = self.reader.next().transpose()?;
        match &next {
            Some(document) => self.has_labels |= !document.labels.is_empty(),
            None if !self.has_labels => {
                let path = &self.corpus.path;
                return Err(no_labels(path, self.reader.format(), "to validate by"));
            }
            None => {}
        }
        Ok(next)
    }

    fn limit(&self) -> Option<u64> {
        self.corpus.options.docs_limit
    }

    fn labels(&self) -> &[Label] {
        self.reader.vocabulary()
    }

    fn num_features(&self) -> Option<usize> {
        self.reader.num_features()
    }
}

impl DocumentSource for Corpus {
    fn open(&self) -> Result<Box<dyn DocumentStream + '_>> {
        Ok(Box::new(ValidationStream {
            corpus: self,
            reader: Self::open(self)?,
            has_labels: false,
        }))
    }

    fn path(&self) -> &Path {
        &self.path
    }
}
