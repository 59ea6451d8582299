//! From a stream of documents to their features, vectors and labels.

use std::time::Instant;

use plethora_core::neighbours::DocumentNames;
use plethora_core::{IndexRows, Result, SparseMatrix};
use plethora_linear::{TrainingSet, TrainingSetBuilder};
use plethora_system::{DocumentSource, DocumentStream, RunContext, Stages};

use super::config::OpenDenseConfig;
use super::indexes::Asked;
use super::vectors::Vectors;
use crate::systems::ValidationDocuments;
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

/// Training documents before their vectors are made.
#[derive(Debug)]
pub(super) struct ReadDocuments {
    pub(super) set: TrainingSet,
    pub(super) names: DocumentNames,
}

impl ReadDocuments {
    /// Reads the documents; `take` gets their texts.
    pub(super) fn read(
        documents: &mut dyn DocumentStream,
        run: &RunContext<'_>,
        config: &OpenDenseConfig,
        mut take: impl FnMut(&[String]),
    ) -> Result<(Self, Stages)> {
        let started = Instant::now();
        run.progress.start("reading", documents.limit());
        let mut builder = TrainingSetBuilder::new(config.text.clone())?;
        let mut names = DocumentNames::default();
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
                take(&texts);
                texts.clear();
            }
        }
        take(&texts);
        let set = builder.finish(documents.labels(), None)?;
        run.progress.finish(&format!(
            "{} documents, {} labels, {} features",
            set.labels_of_documents.num_rows() as u64 + set.num_without_labels,
            set.space.len(),
            set.features.num_columns()
        ));
        let mut stages = Stages::default();
        stages.end("reading", started);
        Ok((Self { set, names }, stages))
    }

    /// The documents with these vectors.
    pub(super) fn with_vectors(self, vectors: Vectors) -> DenseSet {
        let Self { set, names } = self;
        DenseSet {
            set,
            names,
            vectors,
        }
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

/// The same before their vectors are made.
#[derive(Debug)]
pub(super) struct ReadValidation {
    pub(super) features: SparseMatrix,
    /// Their labels, and the sequences that were made of them.
    pub(super) documents: ValidationDocuments,
}

impl ReadValidation {
    /// Reads the documents of `source`; `take` gets their texts and may make sequences of them.
    pub(super) fn read(
        source: &dyn DocumentSource,
        run: &RunContext<'_>,
        set: &TrainingSet,
        mut take: impl FnMut(&[String]) -> IndexRows,
    ) -> Result<Self> {
        let tfidf = set.tfidf.as_ref().expect("documents are texts");
        let mut features = SparseMatrix::builder(tfidf.num_features());
        let documents = read_validation(source, run, &set.space, |texts| {
            for row in tfidf.transform(texts).rows() {
                features.push(row);
            }
            take(texts)
        })?;
        Ok(Self {
            features: features.finish(),
            documents,
        })
    }

    /// The documents with these vectors.
    pub(super) fn with_vectors(self, vectors: Vectors) -> DenseValidation {
        DenseValidation {
            asked: Asked {
                features: self.features,
                vectors,
            },
            labels: self.documents.labels,
        }
    }
}

/// Makes vectors of so many documents, with progress; the text behind the summary may say more of them.
pub(super) fn encode(
    run: &RunContext<'_>,
    (total, more): (usize, &str),
    encode: impl FnOnce(&mut dyn FnMut(usize) -> crate::Result<()>) -> crate::Result<Vectors>,
) -> Result<Vectors> {
    run.progress.start("vectors", Some(total as u64));
    let vectors = encode(&mut |count| {
        run.progress.advance(count as u64);
        Ok(run.check_interrupt()?)
    })?;
    let width = vectors.width();
    run.progress.finish(&format!(
        "{} documents as {width} numbers each{more}",
        vectors.len()
    ));
    Ok(vectors)
}
