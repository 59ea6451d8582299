//! From a stream of documents to their features, vectors and labels.

use std::time::Instant;

use plethora_core::neighbours::DocumentNames;
use plethora_core::{IndexRows, Result, SparseMatrix};
use plethora_linear::{TrainingSet, TrainingSetBuilder};
use plethora_system::{DocumentSource, DocumentStream, RunContext, Stages};

use super::config::OpenDenseConfig;
use super::indexes::Asked;
use super::text_vectors::{TextVectors, WaitingTexts};
use super::vectors::Vectors;
use crate::systems::fingerprint::Fingerprint;
use crate::systems::reading::{check_text, read_validation};

/// Texts that are cut into pieces together.
const TEXTS_AT_ONCE: usize = 4096;

/// What the system is trained on.
#[derive(Debug)]
pub(super) struct DenseSet {
    /// Features and labels.
    pub(super) set: TrainingSet,
    /// Ids and titles, in the same order.
    pub(super) names: DocumentNames,
    /// ... and vectors.
    pub(super) vectors: Vectors,
}

impl DenseSet {
    /// Reads the documents, then encodes them.
    pub(super) fn read(
        documents: &mut dyn DocumentStream,
        run: &RunContext<'_>,
        config: &OpenDenseConfig,
        encoder: &TextVectors,
    ) -> Result<(Self, Stages)> {
        let started = Instant::now();
        run.progress.start("reading", documents.limit());
        let mut builder = TrainingSetBuilder::new(config.text.clone())?;
        let mut names = DocumentNames::default();
        let mut waiting = WaitingTexts::default();
        let mut texts: Vec<String> = Vec::new();
        while let Some(document) = documents.next_document()? {
            check_text(&document, &config.system)?;
            if let Some(text) = document.text()
                && !document.labels.is_empty()
            {
                names.push(&document.id, Some(text));
                texts.push(text.to_owned());
            }
            builder.add(document)?;
            if texts.len() >= TEXTS_AT_ONCE {
                encoder.wait(&texts, &mut waiting);
                texts.clear();
            }
        }
        encoder.wait(&texts, &mut waiting);
        let set = builder.finish(documents.labels(), None)?;
        run.progress.finish(&format!(
            "{} documents, {} labels, {} features",
            set.labels_of_documents.num_rows() as u64 + set.num_without_labels,
            set.space.len(),
            set.features.num_columns()
        ));
        let mut stages = Stages::default();
        stages.end("reading", started);
        let started = Instant::now();
        let vectors = encode(encoder, &waiting, run)?;
        stages.end("vectors", started);
        let read = Self {
            set,
            names,
            vectors,
        };
        Ok((read, stages))
    }
}

impl DenseSet {
    /// Says which data, settings and seed a run has, so that only an equal one resumes it.
    pub(super) fn fingerprint(
        &self,
        config: &OpenDenseConfig,
        valid: Option<&DenseValidation>,
    ) -> Result<String> {
        let set = &self.set;
        let mut fingerprint = Fingerprint::new(config, set.space.labels())?;
        fingerprint.add_features(set.features.rows());
        fingerprint.add_rows(set.labels_of_documents.rows());
        fingerprint.add_halves(self.vectors.bits());
        if let Some(valid) = valid {
            fingerprint.add_features(valid.asked.features.rows());
            fingerprint.add_rows(valid.labels.rows());
            fingerprint.add_halves(valid.asked.vectors.bits());
        }
        Ok(fingerprint.finish())
    }
}

/// Documents to choose weights by.
#[derive(Debug)]
pub(super) struct DenseValidation {
    pub(super) asked: Asked,
    /// True labels; numbers from the model's number of labels on are labels that training never saw.
    pub(super) labels: IndexRows,
}

impl DenseValidation {
    /// Reads and encodes the documents of `source`.
    pub(super) fn read(
        source: &dyn DocumentSource,
        run: &RunContext<'_>,
        set: &TrainingSet,
        encoder: &TextVectors,
    ) -> Result<Self> {
        let tfidf = set.tfidf.as_ref().expect("documents are texts");
        let mut features = SparseMatrix::builder(tfidf.num_features());
        let mut waiting = WaitingTexts::default();
        let documents = read_validation(source, run, &set.space, |texts| {
            for row in tfidf.transform(texts).rows() {
                features.push(row);
            }
            encoder.wait(texts, &mut waiting);
            // Words are of no interest here.
            texts.iter().map(|_| []).collect()
        })?;
        Ok(Self {
            asked: Asked {
                features: features.finish(),
                vectors: encode(encoder, &waiting, run)?,
            },
            labels: documents.labels,
        })
    }
}

/// The vectors of texts, with progress.
fn encode(encoder: &TextVectors, waiting: &WaitingTexts, run: &RunContext<'_>) -> Result<Vectors> {
    run.progress.start("vectors", Some(waiting.len() as u64));
    let vectors = encoder.encode(waiting, |count| {
        run.progress.advance(count as u64);
        Ok(run.check_interrupt()?)
    })?;
    let width = vectors.width();
    let num_known = waiting.num_known();
    run.progress.finish(&format!(
        "{} documents as {width} numbers each, {num_known} of them from the cache",
        vectors.len()
    ));
    Ok(vectors)
}
