//! TReaderXML, trained: from texts to their best labels.

use plethora_core::artifact::ModelReader;
use plethora_core::text::{TfIdf, Words};
use plethora_core::{IndexRows, LabelId, ScoredLabel};
use tch::{Device, Kind, Tensor};

use super::network_file;
use super::piece_ranker::to_rankings;
use super::ranked_batches::{BatchLimits, RankedBatches};
use super::retriever::{NeighbourVotes, Retriever};
use crate::Result;
use crate::head::LabelFacts;
use crate::start::Start;
use crate::train::Network as _;
use crate::treader::{
    DocumentWords, MIXED_DEPTH, NeighbourVectors, TReaderBatch, TReaderConfig, TReaderNetwork,
    TReaderSetup, Teacher, TeacherRow, ToMix,
};

/// Name of the weights in a model folder.
pub(super) const NETWORK_FILE: &str = "network.safetensors";

/// Documents that are read together on a GPU.
const ON_GPU: BatchLimits = BatchLimits {
    places: 1 << 16,
    documents: 256,
    is_recurrent: false,
};

/// As [`ON_GPU`], on a processor, whose caches hold fewer.
const ON_CPU: BatchLimits = BatchLimits {
    places: 1 << 13,
    documents: 256,
    is_recurrent: false,
};

/// The network, and where it looks neighbours up.
#[derive(Debug)]
pub(crate) struct TReaderPart {
    pub(crate) network: TReaderNetwork,
    /// Absent without a teacher.
    pub(crate) retriever: Option<Retriever>,
}

impl TReaderPart {
    /// Opens the network of a model folder on a device.
    pub(super) fn open(
        folder: &ModelReader,
        config: &TReaderConfig,
        words: &Words,
        num_labels: usize,
        device: Device,
    ) -> Result<Self> {
        let retriever = if config.teacher.used {
            let tfidf = match config.neighbours.by {
                NeighbourVectors::TfIdf => Some(TfIdf::load_from(folder.folder())?),
                NeighbourVectors::Mean => None,
            };
            let reading = (words, tfidf);
            let path_of = |name: &str| folder.path(name);
            Some(Retriever::open(reading, num_labels, path_of)?)
        } else {
            None
        };
        let shape = [words.num_rows() as i64, config.vectors.width as i64];
        let known = retriever.as_ref();
        let mut network = TReaderNetwork::new(&TReaderSetup {
            config,
            word_vectors: &Tensor::zeros(shape, (Kind::Float, Device::Cpu)),
            labels: LabelFacts {
                train_counts: &vec![0; num_labels],
                num_documents: 1,
            },
            num_known: known.map_or(0, |retriever| retriever.teacher().num_known()),
            device,
            start: Start::blank(),
        });
        let arrays = folder.map(NETWORK_FILE)?;
        network_file::load(network.parameters(), &arrays, &folder.path(NETWORK_FILE)?)?;
        network.end_training();
        Ok(Self { network, retriever })
    }

    /// The best labels of each text, best first.
    pub(super) fn rank(
        &self,
        texts: &[impl AsRef<str> + Sync],
        sequences: &IndexRows,
        config: &TReaderConfig,
        keep: usize,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        let retriever = self.retriever.as_ref();
        let rows = retriever.map(|retriever| retriever.rows_of_texts(texts, sequences, config));
        let mixture = self.network.mixture();
        let ranker = TReaderRanker {
            network: &self.network,
            teacher: retriever.map(Retriever::teacher),
            keep: mixture.as_ref().map_or(keep, |_| keep.max(MIXED_DEPTH)),
        };
        let rankings = ranker.rank(sequences, rows.as_deref())?;
        let (Some(mixture), Some(rows), Some(retriever)) = (mixture, rows, retriever) else {
            return Ok(rankings);
        };
        let documents = rankings.iter().zip(&rows);
        let mixed = documents.map(|(ranking, row)| {
            mixture.ranked(ToMix { ranking, row }, retriever.teacher(), keep)
        });
        Ok(mixed.collect())
    }

    /// Why a label has its score; absent without a teacher.
    pub(super) fn explain(
        &self,
        text: &str,
        sequences: &IndexRows,
        label: LabelId,
        config: &TReaderConfig,
    ) -> Result<Option<ReaderExplanation<'_>>> {
        let Some(retriever) = &self.retriever else {
            return Ok(None);
        };
        let teacher = retriever.teacher();
        // All labels are among those that the teacher knows.
        let keep = teacher.num_known();
        let ranker = TReaderRanker {
            network: &self.network,
            teacher: Some(teacher),
            keep,
        };
        let rows = retriever.rows_of_texts(&[text], sequences, config);
        let ranking = ranker.rank(sequences, Some(&rows))?.remove(0);
        let score_in = |ranking: &[ScoredLabel]| {
            let found = ranking.iter().find(|scored| scored.label == label);
            found.map_or(0.0, |scored| scored.score)
        };
        let own = score_in(&ranking);
        let mixed = self.network.mixture().map(|mixture| {
            let document = ToMix {
                ranking: &ranking,
                row: &rows[0],
            };
            score_in(&mixture.ranked(document, teacher, keep))
        });
        Ok(Some(ReaderExplanation {
            votes: retriever.votes_of_text(text, sequences, label, config),
            score: mixed.unwrap_or(own),
            network_score: mixed.map(|_| own),
        }))
    }
}

/// Why a label has its score for a text.
#[derive(Debug)]
pub struct ReaderExplanation<'a> {
    /// What the neighbours say.
    pub votes: NeighbourVotes<'a>,
    /// The score that ranking gives to the label.
    pub score: f32,
    /// The score that the network gives to it before votes are mixed in; absent where none are.
    pub network_score: Option<f32>,
}

/// A network, ready to rank by itself.
pub(super) struct TReaderRanker<'a> {
    pub(super) network: &'a TReaderNetwork,
    pub(super) teacher: Option<&'a Teacher>,
    /// Labels kept a document.
    pub(super) keep: usize,
}

impl TReaderRanker<'_> {
    /// The best labels of each document, best first; `rows` is what their neighbours bring.
    pub(super) fn rank(
        &self,
        sequences: &IndexRows,
        rows: Option<&[TeacherRow]>,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        let is_read = self.network.reads_neighbours();
        let (rows, teacher) = (rows.filter(|_| is_read), self.teacher.filter(|_| is_read));
        let rank = |documents: &[u32]| {
            let parts: Vec<DocumentWords<'_>> = documents
                .iter()
                .map(|&document| DocumentWords {
                    words: sequences.row(document as usize),
                    row: rows.map(|rows| &rows[document as usize]),
                })
                .collect();
            let batch = TReaderBatch::new(&parts, teacher);
            let ranked = self.network.rank(&batch, self.keep)?;
            Ok(to_rankings(&ranked))
        };
        RankedBatches {
            sequences,
            device: self.network.device(),
            on_gpu: ON_GPU,
            on_cpu: ON_CPU,
        }
        .rank(rank, |_| Ok(()))
    }
}
