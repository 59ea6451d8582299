//! Training TReaderXML: the index of the training documents, the neighbours of all of them, then the
//! network.

use std::path::PathBuf;

use plethora_core::artifact::WorkFolder;
use plethora_core::neighbours::{
    DenseIndex, KnownDocuments, MeanVectors, Neighbour, NeighbourRows, Queries, TermIndex,
};
use plethora_core::{Error as CoreError, Progress, SeedStream};
use plethora_system::Device;
use tch::Tensor;

use super::asking::{Asks, AsksWithMeans, AsksWithTerms, some_rows, some_sequences};
use super::batches::TReaderBatches;
use super::config::TReaderConfig;
use super::memory::memory_need;
use super::neighbour_index::{
    INDEX_FILE, MeanNeighbours, NeighbourIndex, TermNeighbours, WORDS_FILE,
};
use super::network::{TReaderNetwork, TReaderSetup};
use super::retriever::{DOCUMENTS_FILE, Known, Retriever, TEACHER_FILE};
use super::teacher::Teacher;
use super::teacher_rows::TeacherRow;
use super::training_set::{Compared, KnownTexts, TReaderSet, TReaderValidation};
use super::validator::TReaderValidator;
use crate::Result;
use crate::device::open_device;
use crate::head::LabelFacts;
use crate::start::Start;
use crate::systems::journal::Journal;
use crate::systems::label_clusters::counts;
use crate::systems::rankings::flat;
use crate::train::{Trainer, Validator, memory};

/// Documents whose neighbours are looked for between two signs of life.
const DOCUMENTS_PER_BLOCK: usize = 1024;

/// Name of the stage and of its files.
const STAGE: &str = "network";

/// Name of the neighbours of the training documents in the work folder.
const NEIGHBOURS_FILE: &str = "train.neighbours.safetensors";

/// A run under way.
pub(super) struct TReaderRun<'a> {
    pub(super) config: &'a TReaderConfig,
    pub(super) set: &'a TReaderSet,
    pub(super) device: Device,
    pub(super) valid: &'a TReaderValidation,
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
    /// The network, and where it looks neighbours up if it has a teacher.
    pub(super) fn train(mut self, seed: SeedStream) -> Result<(TReaderNetwork, Option<Retriever>)> {
        let (retriever, rows) = match &self.set.texts.known {
            Some(known) => {
                let (retriever, rows) = self.ask(known)?;
                (Some(retriever), Some(rows))
            }
            None => (None, None),
        };
        let mut network = self.network(retriever.as_ref(), seed)?;
        self.train_network(&network, retriever.as_ref(), rows.as_ref(), seed)?;
        network.end_training();
        Ok((network, retriever))
    }

    /// Writes what the work folder does not hold yet, opens it, and asks for the neighbours of all
    /// documents.
    fn ask(&self, texts: &KnownTexts) -> Result<(Retriever, Rows)> {
        let (set, work) = (self.set, self.work);
        self.progress.start("index", None);
        if !work.contains(DOCUMENTS_FILE) {
            let documents = self.documents.iter().map(|&document| document as usize);
            let path = work.path(DOCUMENTS_FILE);
            KnownDocuments::write(&path, &texts.names, &set.labels_of_documents, documents)?;
        }
        let words = &set.texts.words;
        if !work.contains(TEACHER_FILE) {
            let space = (&set.space, set.labels_of_documents.num_rows());
            let teacher = Teacher::new(space, words, self.config.teacher.label_words);
            teacher.write(&work.path(TEACHER_FILE))?;
        }
        if !work.contains(INDEX_FILE) {
            self.write_index(&texts.by)?;
        }
        self.progress
            .finish(&format!("{} documents", self.documents.len()));
        let path_of = |name: &str| -> plethora_core::Result<PathBuf> { Ok(work.path(name)) };
        let known = Known::open(path_of, words, set.space.len())?;
        let (index, rows) = match &texts.by {
            Compared::Terms(terms) => {
                let index = TermNeighbours::open(path_of, terms.tfidf.clone())?;
                let asks = AsksWithTerms {
                    index: &index,
                    training: &terms.features,
                    validation: &self.valid.features,
                };
                let rows = self.rows(&known, &asks)?;
                (NeighbourIndex::Terms(index), rows)
            }
            Compared::Means => {
                let index = MeanNeighbours::open(path_of, words.num_rows())?;
                let asks = AsksWithMeans {
                    index: &index,
                    training: &set.texts.sequences,
                    validation: &self.valid.documents.sequences,
                };
                let rows = self.rows(&known, &asks)?;
                (NeighbourIndex::Means(index), rows)
            }
        };
        Ok((Retriever::new(index, known, path_of)?, rows))
    }

    fn write_index(&self, by: &Compared) -> Result<()> {
        let path = self.work.path(INDEX_FILE);
        match by {
            Compared::Terms(terms) => {
                TermIndex::write(&some_rows(&terms.features, self.documents), &path)?;
            }
            Compared::Means => {
                let vectors: Vec<f32> = flat(self.word_vectors);
                MeanNeighbours::write_words(&vectors, &self.work.path(WORDS_FILE))?;
                let means = MeanVectors {
                    words: &vectors,
                    width: self.config.vectors.width,
                };
                let sequences = some_sequences(&self.set.texts.sequences, self.documents);
                DenseIndex::write(&means.of_all(&sequences), means.width, &path)?;
            }
        }
        Ok(())
    }

    /// What the neighbours of training and validation documents bring. A training document is left out
    /// of its own neighbours; validation documents are not in the index at all.
    fn rows(&self, known: &Known, asks: &dyn Asks) -> Result<Rows> {
        let is_read = self.config.teacher.is_read();
        let num_read = if is_read { self.documents.len() } else { 0 };
        let valid_count = self.valid.documents.labels.num_rows();
        let total = (num_read + valid_count) as u64;
        self.progress.start("neighbours", Some(total));
        let train = is_read
            .then(|| self.rows_to_train(known, asks))
            .transpose()?;
        let makes = known.rows_to_rank(self.config);
        let queries = Queries::of_others(self.config.neighbours.limit);
        let mut valid = Vec::with_capacity(valid_count);
        for start in (0..valid_count).step_by(DOCUMENTS_PER_BLOCK) {
            let end = valid_count.min(start + DOCUMENTS_PER_BLOCK);
            let found = asks.of_validation(start..end, &queries);
            self.tell(end - start)?;
            valid.extend(makes.all(found.len(), |place| found[place].clone()));
        }
        self.progress.finish(&format!("of {total} documents"));
        Ok(Rows { train, valid })
    }

    fn rows_to_train(&self, known: &Known, asks: &dyn Asks) -> Result<Vec<TeacherRow>> {
        let (count, path) = (self.documents.len(), self.work.path(NEIGHBOURS_FILE));
        if self.work.contains(NEIGHBOURS_FILE) {
            self.progress.advance(count as u64);
        } else {
            let blocks = self.documents.chunks(DOCUMENTS_PER_BLOCK).enumerate();
            let blocks = blocks.map(|(block, documents)| {
                let first = (block * DOCUMENTS_PER_BLOCK) as u32;
                self.train_neighbours(asks, documents, first)
            });
            NeighbourRows::write(&path, blocks)?;
        }
        let found = NeighbourRows::open(&path, count, known.num_documents())?;
        let makes = known.rows(self.config);
        Ok(makes.all(count, |document| found.row(document)))
    }

    fn train_neighbours(
        &self,
        asks: &dyn Asks,
        documents: &[u32],
        first: u32,
    ) -> plethora_core::Result<Vec<Vec<Neighbour>>> {
        let queries = Queries {
            limit: self.config.neighbours.limit,
            own_from: Some(first),
            skips_copies: self.config.neighbours.skips_copies,
        };
        let found = asks.of_training(documents, &queries);
        self.tell(documents.len())?;
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
            device: open_device(self.device)?,
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
            sequences: &self.set.texts.sequences,
            documents: self.documents,
            labels: &self.set.labels_of_documents,
            rows: rows.and_then(|rows| rows.train.as_deref()),
            teacher: teacher.filter(|_| network.reads_neighbours()),
        };
        let mut own_validator = TReaderValidator {
            sequences: &self.valid.documents.sequences,
            labels: &self.valid.documents.labels,
            rows: rows.map(|rows| rows.valid.as_slice()),
            teacher,
            num_labels: self.set.space.len(),
        };
        let validator: Option<&mut dyn Validator<TReaderNetwork>> =
            if self.valid.documents.is_empty() {
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
