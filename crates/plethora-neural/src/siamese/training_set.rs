//! From a stream of documents to what the encoder reads of documents and of labels.

use std::time::Instant;

use plethora_core::corpus::{LabelSpace, LabelSpaceBuilder};
use plethora_core::{Argument, Error, IndexRows, Message, Result, grouped};
use plethora_system::{DocumentSource, DocumentStream, RunContext, Stages};

use super::config::SiameseConfig;
use super::label_texts;
use crate::dense::text_vectors::{TextVectors, WaitingTexts};
use crate::systems::fingerprint::Fingerprint;
use crate::systems::reading::{check_text, read_validation};
use crate::systems::vectors::Vectors;

/// Texts that are cut into pieces together.
const TEXTS_AT_ONCE: usize = 4096;

/// Texts as training reads them.
#[derive(Debug)]
pub(super) enum Texts {
    /// Vectors of an encoder that stays as it is.
    Vectors(Vectors),
    /// Pieces for one that learns.
    Pieces(IndexRows),
}

/// What the system is trained on.
#[derive(Debug)]
pub(super) struct SiameseSet {
    /// The labels of the vocabulary and of the documents.
    pub(super) space: LabelSpace,
    /// The labels of each document.
    pub(super) labels_of_documents: IndexRows,
    /// The documents that have labels.
    pub(super) documents: Texts,
    /// The names of each label.
    pub(super) names: Texts,
    /// False for labels whose name nobody can read.
    pub(super) is_named: Vec<bool>,
}

/// Documents to choose weights by.
#[derive(Debug)]
pub(super) struct ValidationSet {
    pub(super) documents: Texts,
    /// True labels; numbers from the model's number of labels on are labels that nobody knows.
    pub(super) labels: IndexRows,
}

/// Collects texts in the form that training reads.
struct Collected<'a> {
    encoder: &'a TextVectors,
    /// Where the encoder stays as it is.
    waiting: Option<WaitingTexts>,
    pieces: IndexRows,
}

impl<'a> Collected<'a> {
    fn new(encoder: &'a TextVectors, trains_encoder: bool) -> Self {
        Self {
            encoder,
            waiting: (!trains_encoder).then(WaitingTexts::default),
            pieces: IndexRows::default(),
        }
    }

    fn add(&mut self, texts: &[String]) {
        if let Some(waiting) = &mut self.waiting {
            self.encoder.wait(texts, waiting);
            return;
        }
        for row in self.encoder.reader().sequences(texts).rows() {
            self.pieces.push(row.iter().copied());
        }
    }

    fn finish(self, stage: &str, run: &RunContext<'_>) -> Result<Texts> {
        let Some(waiting) = self.waiting else {
            return Ok(Texts::Pieces(self.pieces));
        };
        run.progress.start(stage, Some(waiting.len() as u64));
        let vectors = self.encoder.encode(&waiting, |count| {
            run.progress.advance(count as u64);
            Ok(run.check_interrupt()?)
        })?;
        run.progress.finish(&format!(
            "{} as {} numbers each, {} of them from the cache",
            vectors.len(),
            vectors.width(),
            waiting.num_known()
        ));
        Ok(Texts::Vectors(vectors))
    }
}

impl Texts {
    /// Number of texts.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Vectors(vectors) => vectors.len(),
            Self::Pieces(rows) => rows.num_rows(),
        }
    }

    /// Some of them.
    pub(super) fn some(&self, texts: &[u32]) -> Self {
        match self {
            Self::Vectors(vectors) => Self::Vectors(vectors.some(texts)),
            Self::Pieces(rows) => {
                let some = texts.iter().map(|&text| rows.row(text as usize));
                Self::Pieces(some.map(|row| row.iter().copied()).collect())
            }
        }
    }

    fn add_to(&self, fingerprint: &mut Fingerprint) {
        match self {
            Self::Vectors(vectors) => fingerprint.add_halves(vectors.bits()),
            Self::Pieces(rows) => fingerprint.add_rows(rows.rows()),
        }
    }
}

impl SiameseSet {
    /// Reads the documents and the names of labels; encodes both where the encoder stays as it is.
    pub(super) fn read(
        documents: &mut dyn DocumentStream,
        run: &RunContext<'_>,
        config: &SiameseConfig,
        encoder: &TextVectors,
    ) -> Result<(Self, Stages)> {
        let mut stages = Stages::default();
        let started = Instant::now();
        run.progress.start("reading", documents.limit());
        let mut space = LabelSpaceBuilder::default();
        let mut labels_of_documents = IndexRows::default();
        let mut collected = Collected::new(encoder, config.encoder.trained);
        let mut texts: Vec<String> = Vec::new();
        while let Some(document) = documents.next_document()? {
            check_text(&document, &config.system)?;
            if let Some(text) = document.text()
                && !document.labels.is_empty()
            {
                labels_of_documents.push(space.add(&document));
                if config.learns_from_documents() {
                    texts.push(text.to_owned());
                }
            }
            if texts.len() >= TEXTS_AT_ONCE {
                collected.add(&texts);
                texts.clear();
            }
        }
        collected.add(&texts);
        let vocabulary = documents.labels();
        for label in vocabulary {
            space.add_unused(&label.key);
        }
        let (space, final_ids) = space.finish(vocabulary);
        labels_of_documents.remap(|label| final_ids[label as usize].0);
        run.progress.finish(&format!(
            "{} documents with labels, {} labels",
            labels_of_documents.num_rows(),
            space.len()
        ));
        stages.end("reading", started);
        let started = Instant::now();
        let documents = collected.finish("vectors of documents", run)?;
        let mut collected = Collected::new(encoder, config.encoder.trained);
        let mut is_named = Vec::with_capacity(space.len());
        for labels in space.labels().chunks(TEXTS_AT_ONCE) {
            let texts: Vec<_> = (labels.iter())
                .map(|label| label_texts::text_of(label, &config.names))
                .collect();
            is_named.extend(texts.iter().map(Option::is_some));
            let texts: Vec<String> = texts.into_iter().map(Option::unwrap_or_default).collect();
            collected.add(&texts);
        }
        let names = collected.finish("vectors of names", run)?;
        stages.end("vectors", started);
        let set = Self {
            space,
            labels_of_documents,
            documents,
            names,
            is_named,
        };
        set.check(run)?;
        Ok((set, stages))
    }

    /// Refuses labels that nothing is known of, and counts some.
    fn check(&self, run: &RunContext<'_>) -> Result<()> {
        let num_unnamed = self.is_named.iter().filter(|is_named| !**is_named).count();
        if num_unnamed == self.space.len() && self.documents.len() == 0 {
            let message =
                Message::new("no label has a name in words, and no document has labels; ")
                    .hint(Argument::VOCABULARY)
                    .text(" names a file with the names of labels");
            return Err(Error::data(message));
        }
        if num_unnamed > 0 {
            let count = grouped(num_unnamed as u64);
            let warning = format!("{count} labels have no name in words");
            run.progress.warn(&warning.into());
        }
        Ok(())
    }

    /// Says which data, settings and seed a run has, so that only an equal one resumes it.
    pub(super) fn fingerprint(
        &self,
        config: &SiameseConfig,
        valid: Option<&ValidationSet>,
    ) -> Result<String> {
        let mut fingerprint = Fingerprint::new(config, self.space.labels())?;
        fingerprint.add_rows(self.labels_of_documents.rows());
        self.documents.add_to(&mut fingerprint);
        self.names.add_to(&mut fingerprint);
        if let Some(valid) = valid {
            fingerprint.add_rows(valid.labels.rows());
            valid.documents.add_to(&mut fingerprint);
        }
        Ok(fingerprint.finish())
    }

    /// Some of the documents, to choose weights by.
    pub(super) fn held_back(&self, held: &[u32]) -> ValidationSet {
        let labels = held.iter().map(|&document| {
            let row = self.labels_of_documents.row(document as usize);
            row.iter().copied()
        });
        ValidationSet {
            documents: self.documents.some(held),
            labels: labels.collect(),
        }
    }
}

impl ValidationSet {
    /// Reads the documents of `source`.
    pub(super) fn read(
        source: &dyn DocumentSource,
        run: &RunContext<'_>,
        space: &LabelSpace,
        encoder: &TextVectors,
        trains_encoder: bool,
    ) -> Result<Self> {
        let mut collected = Collected::new(encoder, trains_encoder);
        let documents = read_validation(source, run, space, |texts| {
            collected.add(texts);
            // Pieces are kept by themselves.
            texts.iter().map(|_| []).collect()
        })?;
        Ok(Self {
            documents: collected.finish("vectors of validation", run)?,
            labels: documents.labels,
        })
    }

    /// No documents.
    pub(super) fn none() -> Self {
        Self {
            documents: Texts::Pieces(IndexRows::default()),
            labels: IndexRows::default(),
        }
    }

    /// True without documents.
    pub(super) fn is_empty(&self) -> bool {
        self.labels.num_rows() == 0
    }
}
