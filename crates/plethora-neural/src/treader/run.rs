//! Training TReaderXML: the index of the training documents, the neighbours of all of them, then the
//! network.

use std::path::PathBuf;

use plethora_core::neighbours::{
    DenseIndex, KnownDocuments, MeanVectors, Neighbour, NeighbourRows, Queries, TermIndex,
};
use plethora_core::{Error as CoreError, SeedStream, SparseVector};
use tch::Tensor;

use super::batches::TReaderBatches;
use super::config::TReaderConfig;
use super::descriptions::{DescribingDocuments, descriptions};
use super::memory::memory_need;
use super::mixture::Mixture;
use super::model::TReaderModel;
use super::neighbour_index::{
    INDEX_FILE, MeanNeighbours, NeighbourIndex, TermNeighbours, WORDS_FILE, matrix_of,
};
use super::network::{TReaderNetwork, TReaderSetup};
use super::retriever::{DOCUMENTS_FILE, Known, Retriever, TEACHER_FILE};
use super::teacher::Teacher;
use super::teacher_rows::TeacherRow;
use super::training_set::{Compared, KnownTexts, TReaderTexts};
use super::validator::TReaderValidator;
use crate::Result;
use crate::device::open_device;
use crate::head::LabelFacts;
use crate::start::Start;
use crate::systems::label_clusters::counts;
use crate::systems::rankings::flat;
use crate::systems::word_vectors::first_vectors;
use crate::systems::{NetworkRun, Texts as _, Trains};
use crate::train::TrainConfig;

/// Documents whose neighbours are looked for between two signs of life.
const DOCUMENTS_PER_BLOCK: usize = 1024;

/// Name of the stage and of its files.
pub(super) const STAGE: &str = "network";

/// Name of the neighbours of the training documents in the work folder.
const NEIGHBOURS_FILE: &str = "train.neighbours.safetensors";

/// A run under way. The documents that are trained on are alone in the index.
pub(super) type TReaderRun<'a> = NetworkRun<'a, TReaderConfig>;

/// What the neighbours of the documents bring.
struct Rows {
    /// Absent where training reads none.
    train: Option<Vec<TeacherRow>>,
    valid: Vec<TeacherRow>,
}

impl Rows {
    /// Labels that any document reads at most.
    fn most_read(&self) -> usize {
        let all = self.train.iter().flatten().chain(&self.valid);
        all.map(|row| row.tokens.len()).max().unwrap_or(0)
    }
}

impl Trains for TReaderConfig {
    type Texts = TReaderTexts;
    type Model = TReaderModel;

    fn validate(&self) -> plethora_core::Result<()> {
        Self::validate(self)
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn train(&self) -> &TrainConfig {
        &self.train
    }

    fn train_mut(&mut self) -> &mut TrainConfig {
        &mut self.train
    }

    fn train_networks(run: &mut TReaderRun<'_>, seed: SeedStream) -> Result<TReaderModel> {
        let texts = &run.set.texts;
        let read = (&texts.words, &texts.sequences);
        let word_vectors = first_vectors(read, &run.config.vectors, seed, run.progress)?;
        let mut config = run.config.clone();
        let indexed = match &texts.known {
            Some(known) => Some(run.index(known, &word_vectors)?),
            None => None,
        };
        if let Some((known, index)) = &indexed
            && config.neighbours.power.is_auto()
        {
            config.neighbours.power = run.choose_power(known, index)?.into();
        }
        let (retriever, rows) = match indexed {
            Some((known, index)) => {
                let rows = run.rows(&config, &known, &index)?;
                let path_of = |name: &str| Ok(run.work.path(name));
                (Some(Retriever::new(index, known, path_of)?), Some(rows))
            }
            None => (None, None),
        };
        let read = (retriever.as_ref(), rows.as_ref());
        let mut network = run.network(&config, read, &word_vectors, seed)?;
        if let Some(mixture) = run.fitted.and_then(Mixture::from_bits) {
            network.set_mixture(&mixture);
        }
        run.train_reader(&network, retriever.as_ref(), rows.as_ref(), seed)?;
        network.end_training();
        Ok(TReaderModel {
            config,
            words: run.set.texts.words.clone(),
            network,
            retriever,
        })
    }
}

impl TReaderRun<'_> {
    /// Writes what the work folder does not hold yet, and opens it.
    fn index(&self, texts: &KnownTexts, word_vectors: &Tensor) -> Result<(Known, NeighbourIndex)> {
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
            let documents = DescribingDocuments {
                sequences: &set.texts.sequences,
                labels: &set.labels_of_documents,
                documents: self.documents,
            };
            let words = descriptions(&self.config.teacher, &set.space, words, &documents);
            let teacher = Teacher::new(space, words);
            teacher.write(&work.path(TEACHER_FILE))?;
        }
        if !work.contains(INDEX_FILE) {
            self.write_index(&texts.by, word_vectors)?;
        }
        self.progress
            .finish(&format!("{} documents", self.documents.len()));
        let path_of = |name: &str| -> plethora_core::Result<PathBuf> { Ok(work.path(name)) };
        let known = Known::open(path_of, words, set.space.len())?;
        let index = match &texts.by {
            Compared::Terms(terms) => {
                NeighbourIndex::Terms(TermNeighbours::open(path_of, terms.tfidf.clone())?)
            }
            Compared::Means => {
                NeighbourIndex::Means(MeanNeighbours::open(path_of, words.num_rows())?)
            }
        };
        Ok((known, index))
    }

    fn write_index(&self, by: &Compared, word_vectors: &Tensor) -> Result<()> {
        let path = self.work.path(INDEX_FILE);
        let documents = self.documents.iter().map(|&document| document as usize);
        match by {
            Compared::Terms(terms) => {
                let rows = documents.map(|document| terms.features.row(document));
                TermIndex::write(&matrix_of(rows, terms.features.num_columns()), &path)?;
            }
            Compared::Means => {
                let vectors: Vec<f32> = flat(word_vectors);
                MeanNeighbours::write_words(&vectors, &self.work.path(WORDS_FILE))?;
                let means = MeanVectors {
                    words: &vectors,
                    width: self.config.vectors.width,
                };
                let sequences = &self.set.texts.sequences;
                let rows = documents.map(|document| sequences.row(document).iter().copied());
                DenseIndex::write(&means.of_all(&rows.collect()), means.width, &path)?;
            }
        }
        Ok(())
    }

    /// What the neighbours of training and validation documents bring. A training document is left out
    /// of its own neighbours; validation documents are not in the index at all.
    fn rows(&self, config: &TReaderConfig, known: &Known, index: &NeighbourIndex) -> Result<Rows> {
        let is_read = self.config.teacher.is_read();
        let num_read = if is_read { self.documents.len() } else { 0 };
        let valid_count = self.valid.labels.num_rows();
        let total = (num_read + valid_count) as u64;
        self.progress.start("neighbours", Some(total));
        let train = is_read
            .then(|| self.rows_to_train(config, known, index))
            .transpose()?;
        let makes = known.rows_to_rank(config);
        let queries = Queries::of_others(self.config.neighbours.limit);
        let mut valid = Vec::with_capacity(valid_count);
        let mut features = self.valid.features.iter().map(SparseVector::as_row);
        let mut words = self.valid.sequences.rows();
        while valid.len() < valid_count {
            let count = DOCUMENTS_PER_BLOCK.min(valid_count - valid.len());
            let some = (features.by_ref().take(count), words.by_ref().take(count));
            let found = index.nearest(some.0, some.1, &queries);
            self.tell(count)?;
            valid.extend(makes.all(found.len(), |place| found[place].clone()));
        }
        self.progress.finish(&format!("of {total} documents"));
        Ok(Rows { train, valid })
    }

    fn rows_to_train(
        &self,
        config: &TReaderConfig,
        known: &Known,
        index: &NeighbourIndex,
    ) -> Result<Vec<TeacherRow>> {
        let (count, path) = (self.documents.len(), self.work.path(NEIGHBOURS_FILE));
        if self.work.contains(NEIGHBOURS_FILE) {
            self.progress.advance(count as u64);
        } else {
            let blocks = self.documents.chunks(DOCUMENTS_PER_BLOCK).enumerate();
            let blocks = blocks.map(|(block, documents)| {
                let first = (block * DOCUMENTS_PER_BLOCK) as u32;
                self.train_neighbours(index, documents, first)
            });
            NeighbourRows::write(&path, blocks)?;
        }
        let found = NeighbourRows::open(&path, count, known.num_documents())?;
        let makes = known.rows(config);
        Ok(makes.all(count, |document| found.row(document)))
    }

    fn train_neighbours(
        &self,
        index: &NeighbourIndex,
        documents: &[u32],
        first: u32,
    ) -> plethora_core::Result<Vec<Vec<Neighbour>>> {
        let queries = Queries {
            limit: self.config.neighbours.limit,
            own_from: Some(first),
            skips_copies: self.config.neighbours.skips_copies,
        };
        let found = self.nearest(index, documents, &queries);
        self.tell(documents.len())?;
        Ok(found)
    }

    /// The neighbours of some training documents.
    pub(super) fn nearest(
        &self,
        index: &NeighbourIndex,
        documents: &[u32],
        queries: &Queries,
    ) -> Vec<Vec<Neighbour>> {
        let texts = &self.set.texts;
        let numbers = documents.iter().map(|&document| document as usize);
        let features = numbers.clone().filter_map(|document| {
            let features = texts.features()?;
            Some(features.row(document))
        });
        let words = numbers.map(|document| texts.sequences.row(document));
        index.nearest(features, words, queries)
    }

    /// So many documents have their neighbours.
    fn tell(&self, count: usize) -> plethora_core::Result<()> {
        self.progress.advance(count as u64);
        if self.progress.is_cancelled() {
            return Err(CoreError::Interrupted);
        }
        Ok(())
    }

    fn network(
        &self,
        config: &TReaderConfig,
        (retriever, rows): (Option<&Retriever>, Option<&Rows>),
        word_vectors: &Tensor,
        seed: SeedStream,
    ) -> Result<TReaderNetwork> {
        let labels = &self.set.labels_of_documents;
        let counts = counts(labels, self.set.space.len());
        let network = TReaderNetwork::new(&TReaderSetup {
            config,
            word_vectors,
            labels: LabelFacts {
                train_counts: &counts,
                num_documents: labels.num_rows() as u64,
            },
            num_known: retriever.map_or(0, |retriever| retriever.teacher().num_known()),
            device: open_device(self.device)?,
            start: Start::seeded(seed.named("network")),
        })?;
        let num_read = rows.map_or(0, Rows::most_read);
        let sizes = (counts.len(), num_read);
        let need = memory_need(&network, config, sizes, self.device);
        self.check_memory(need, &["train.batch_size", "words.max_length"])?;
        Ok(network)
    }

    fn train_reader(
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
        let validator = TReaderValidator {
            sequences: &self.valid.sequences,
            labels: &self.valid.labels,
            rows: rows.map(|rows| rows.valid.as_slice()),
            teacher,
            num_labels: self.set.space.len(),
        };
        self.train_in_rounds(network, &batches, validator, seed)
    }
}

#[cfg(test)]
mod tests;
