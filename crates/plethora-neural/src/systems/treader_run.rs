//! Training TReaderXML: the index of the training documents, the neighbours of all of them, then the
//! network.

use plethora_core::artifact::WorkFolder;
use plethora_core::neighbours::{
    DenseIndex, KnownDocuments, MeanVectors, Neighbour, NeighbourRows, Queries, TermIndex,
};
use plethora_core::text::Words;
use plethora_core::{Error as CoreError, IndexRows, Progress, SeedStream, SparseMatrix};
use tch::Tensor;

use super::beam::flat;
use super::journal::Journal;
use super::retriever::{Asking, DOCUMENTS_FILE, INDEX_FILE, Retriever, TEACHER_FILE, WORDS_FILE};
use super::training_set::NeuralSet;
use super::treader_batches::TReaderBatches;
use super::treader_memory::memory_need;
use super::treader_model::TReaderPart;
use super::treader_validator::TReaderValidator;
use super::validation_documents::ValidationDocuments;
use super::word_run::counts;
use crate::head::LabelFacts;
use crate::start::Start;
use crate::train::{Trainer, Validator, memory};
use crate::treader::{
    NeighbourVectors, TReaderConfig, TReaderNetwork, TReaderSetup, Teacher, TeacherRow,
};
use crate::{Device, Result};

/// Documents whose neighbours are looked for between two signs of life.
const DOCUMENTS_PER_BLOCK: usize = 1024;

/// Name of the stage and of its files.
const STAGE: &str = "network";

/// Name of the neighbours of the training documents in the work folder.
const NEIGHBOURS_FILE: &str = "train.neighbours.safetensors";

/// A run under way.
pub(super) struct TReaderRun<'a> {
    pub(super) config: &'a TReaderConfig,
    pub(super) set: &'a NeuralSet,
    pub(super) words: &'a Words,
    pub(super) sequences: &'a IndexRows,
    pub(super) device: Device,
    pub(super) valid: &'a ValidationDocuments,
    /// Numbers of the documents that are trained on. They alone are in the index.
    pub(super) documents: &'a [u32],
    /// rows x width.
    pub(super) word_vectors: &'a Tensor,
    pub(super) work: &'a WorkFolder,
    pub(super) progress: &'a dyn Progress,
    pub(super) journal: Journal<'a>,
}

/// What the neighbours of the documents bring.
struct Rows {
    /// Absent where training reads none.
    train: Option<Vec<TeacherRow>>,
    valid: Vec<TeacherRow>,
}

impl TReaderRun<'_> {
    pub(super) fn train(mut self, seed: SeedStream) -> Result<TReaderPart> {
        let (retriever, rows) = if self.config.teacher.used {
            let retriever = self.retriever()?;
            let rows = self.rows(&retriever)?;
            (Some(retriever), Some(rows))
        } else {
            (None, None)
        };
        let mut network = self.network(retriever.as_ref(), seed)?;
        self.train_network(&network, retriever.as_ref(), rows.as_ref(), seed)?;
        network.end_training();
        Ok(TReaderPart { network, retriever })
    }

    /// Writes what the work folder does not hold yet, and opens it.
    fn retriever(&self) -> Result<Retriever> {
        let (set, work) = (self.set, self.work);
        self.progress.start("index", None);
        if !work.contains(DOCUMENTS_FILE) {
            let documents = self.documents.iter().map(|&document| document as usize);
            let path = work.path(DOCUMENTS_FILE);
            KnownDocuments::write(&path, &set.names, &set.labels_of_documents, documents)?;
        }
        if !work.contains(TEACHER_FILE) {
            let space = (&set.space, set.labels_of_documents.num_rows());
            let teacher = Teacher::new(space, self.words, self.config.teacher.label_words);
            teacher.write(&work.path(TEACHER_FILE))?;
        }
        if !work.contains(INDEX_FILE) {
            self.write_index()?;
        }
        self.progress
            .finish(&format!("{} documents", self.documents.len()));
        let reading = (self.words, set.tfidf.clone());
        Retriever::open(reading, set.space.len(), |name| Ok(work.path(name)))
    }

    fn write_index(&self) -> Result<()> {
        let path = self.work.path(INDEX_FILE);
        match self.config.neighbours.by {
            NeighbourVectors::TfIdf => TermIndex::write(&self.train_rows(self.documents), &path)?,
            NeighbourVectors::Mean => {
                let vectors: Vec<f32> = flat(self.word_vectors);
                Retriever::write_words(&vectors, &self.work.path(WORDS_FILE))?;
                let means = MeanVectors {
                    words: &vectors,
                    width: self.config.vectors.width,
                };
                let of_documents = means.of_all(&self.train_sequences(self.documents));
                DenseIndex::write(&of_documents, means.width, &path)?;
            }
        }
        Ok(())
    }

    /// The features of some training documents.
    fn train_rows(&self, documents: &[u32]) -> SparseMatrix {
        let features = (self.set.features.as_ref()).expect("systems of terms have their features");
        let mut rows = SparseMatrix::builder(features.num_columns());
        for &document in documents {
            rows.push(features.row(document as usize));
        }
        rows.finish()
    }

    /// The words of some training documents.
    fn train_sequences(&self, documents: &[u32]) -> IndexRows {
        let rows = documents.iter();
        rows.map(|&document| self.sequences.row(document as usize).iter().copied())
            .collect()
    }

    /// What the neighbours of training and validation documents bring. A training document is left out
    /// of its own neighbours; validation documents are not in the index at all.
    fn rows(&self, retriever: &Retriever) -> Result<Rows> {
        let is_read = self.config.teacher.is_read();
        let num_read = if is_read { self.documents.len() } else { 0 };
        let valid_count = self.valid.labels.num_rows();
        let total = (num_read + valid_count) as u64;
        self.progress.start("neighbours", Some(total));
        let train = is_read.then(|| self.rows_to_train(retriever)).transpose()?;
        let makes = retriever.rows_to_rank(self.config);
        let mut valid = Vec::with_capacity(valid_count);
        for start in (0..valid_count).step_by(DOCUMENTS_PER_BLOCK) {
            let end = valid_count.min(start + DOCUMENTS_PER_BLOCK);
            let found = self.valid_neighbours(retriever, start..end)?;
            valid.extend(makes.all(found.len(), |place| found[place].clone()));
        }
        self.progress.finish(&format!("of {total} documents"));
        Ok(Rows { train, valid })
    }

    fn rows_to_train(&self, retriever: &Retriever) -> Result<Vec<TeacherRow>> {
        let (count, path) = (self.documents.len(), self.work.path(NEIGHBOURS_FILE));
        if self.work.contains(NEIGHBOURS_FILE) {
            self.progress.advance(count as u64);
        } else {
            let blocks = self.documents.chunks(DOCUMENTS_PER_BLOCK).enumerate();
            let blocks = blocks.map(|(block, documents)| {
                let first = (block * DOCUMENTS_PER_BLOCK) as u32;
                self.train_neighbours(retriever, documents, first)
            });
            NeighbourRows::write(&path, blocks)?;
        }
        let found = NeighbourRows::open(&path, count, retriever.num_documents())?;
        let makes = retriever.rows(self.config);
        Ok(makes.all(count, |document| found.row(document)))
    }

    fn train_neighbours(
        &self,
        retriever: &Retriever,
        documents: &[u32],
        first: u32,
    ) -> plethora_core::Result<Vec<Vec<Neighbour>>> {
        let queries = Queries {
            limit: self.config.neighbours.limit,
            own_from: Some(first),
            skips_copies: self.config.neighbours.skips_copies,
        };
        let found = match self.config.neighbours.by {
            NeighbourVectors::TfIdf => {
                retriever.nearest(Asking::Rows(&self.train_rows(documents)), &queries)
            }
            NeighbourVectors::Mean => {
                let sequences = self.train_sequences(documents);
                retriever.nearest(Asking::Sequences(&sequences), &queries)
            }
        };
        self.tell(documents.len())?;
        Ok(found)
    }

    fn valid_neighbours(
        &self,
        retriever: &Retriever,
        documents: std::ops::Range<usize>,
    ) -> plethora_core::Result<Vec<Vec<Neighbour>>> {
        let queries = Queries::of_others(self.config.neighbours.limit);
        let count = documents.len();
        let found = match self.config.neighbours.by {
            NeighbourVectors::TfIdf => {
                let num_terms = self
                    .set
                    .features
                    .as_ref()
                    .map_or(0, SparseMatrix::num_columns);
                let mut rows = SparseMatrix::builder(num_terms);
                for row in &self.valid.features[documents] {
                    rows.push(row.as_row());
                }
                retriever.nearest(Asking::Rows(&rows.finish()), &queries)
            }
            NeighbourVectors::Mean => {
                let rows = documents.map(|document| self.valid.sequences.row(document));
                let sequences: IndexRows = rows.map(|row| row.iter().copied()).collect();
                retriever.nearest(Asking::Sequences(&sequences), &queries)
            }
        };
        self.tell(count)?;
        Ok(found)
    }

    /// So many documents have their neighbours.
    fn tell(&self, count: usize) -> plethora_core::Result<()> {
        self.progress.advance(count as u64);
        if self.progress.is_cancelled() {
            return Err(CoreError::Interrupted);
        }
        Ok(())
    }

    fn network(&self, retriever: Option<&Retriever>, seed: SeedStream) -> Result<TReaderNetwork> {
        let labels = &self.set.labels_of_documents;
        let counts = counts(labels, self.set.space.len());
        let network = TReaderNetwork::new(&TReaderSetup {
            config: self.config,
            word_vectors: self.word_vectors,
            labels: LabelFacts {
                train_counts: &counts,
                num_documents: labels.num_rows() as u64,
            },
            num_known: retriever.map_or(0, |retriever| retriever.teacher().num_known()),
            device: self.device.open()?,
            start: Start::seeded(seed.named("network")),
        });
        let need = memory_need(&network, self.config, counts.len(), self.device);
        memory::check(self.device, need, &["train.batch_size", "words.max_length"])?;
        Ok(network)
    }

    fn train_network(
        &mut self,
        network: &TReaderNetwork,
        retriever: Option<&Retriever>,
        rows: Option<&Rows>,
        seed: SeedStream,
    ) -> Result<()> {
        let teacher = retriever.map(Retriever::teacher);
        let batches = TReaderBatches {
            sequences: self.sequences,
            documents: self.documents,
            labels: &self.set.labels_of_documents,
            rows: rows.and_then(|rows| rows.train.as_deref()),
            teacher: teacher.filter(|_| network.reads_neighbours()),
        };
        let mut own_validator = TReaderValidator {
            sequences: &self.valid.sequences,
            labels: &self.valid.labels,
            rows: rows.map(|rows| rows.valid.as_slice()),
            teacher,
            num_labels: self.set.space.len(),
        };
        let validator: Option<&mut dyn Validator<TReaderNetwork>> = if self.valid.is_empty() {
            None
        } else {
            Some(&mut own_validator)
        };
        self.journal.begin(String::new());
        let outcome = Trainer {
            config: &self.config.train,
            seed: seed.named("training"),
            work: self.work,
            name: STAGE,
            progress: self.progress,
            journal: &mut self.journal,
        }
        .run(network, &batches, validator)?;
        self.journal.end(outcome.steps, outcome.epochs);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
