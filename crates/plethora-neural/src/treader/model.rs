//! TReaderXML, trained: from texts to their best labels, and to the documents that voted for one.

use std::ops::Range;

use plethora_core::artifact::{ModelReader, ModelWriter, WorkFolder};
use plethora_core::text::{TfIdf, Words};
use plethora_core::{IndexRows, LabelId, ScoredLabel};
use plethora_system::{
    ExplainingNeighbour, Explanation, FeatureContribution, Method, RankOptions, SpanWeight,
    spans_of, terms_of,
};

use super::batch::{DocumentWords, TReaderBatch};
use super::config::{NeighbourVectors, TReaderConfig};
use super::mixture::{MIXED_DEPTH, ToMix};
use super::neighbour_index::{MeanNeighbours, NeighbourIndex, TermNeighbours};
use super::network::{TReaderNetwork, TReaderSetup};
use super::ranker::TReaderRanker;
use super::retriever::{Known, NeighbourVotes, Retriever};
use crate::Result;
use crate::parameters::Parameters;
use crate::start::zeros;
use crate::systems::NeuralModel;
use crate::systems::label_clusters::blank;
use crate::systems::network_file::{self, folder_of};
use crate::train::Network as _;

/// Name of the weights in a model folder.
pub(super) const NETWORK_FILE: &str = "network.safetensors";

/// The network, and where it looks neighbours up.
#[derive(Debug)]
pub struct TReaderModel {
    pub(super) config: TReaderConfig,
    pub(super) words: Words,
    pub(super) network: TReaderNetwork,
    /// Absent without a teacher.
    pub(super) retriever: Option<Retriever>,
}

impl TReaderModel {
    fn rank_sequences(
        &self,
        texts: &[impl AsRef<str> + Sync],
        sequences: &IndexRows,
        keep: usize,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        let retriever = self.retriever.as_ref();
        let rows =
            retriever.map(|retriever| retriever.rows_of_texts(texts, sequences, &self.config));
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

    /// The score that ranking gives to a label of a text, and the one that the network gives to it
    /// before votes are mixed in; the latter is absent where none are.
    fn scores(
        &self,
        retriever: &Retriever,
        (text, sequences): (&str, &IndexRows),
        label: LabelId,
    ) -> Result<(f32, Option<f32>)> {
        let teacher = retriever.teacher();
        // All labels are among those that the teacher knows.
        let keep = teacher.num_known();
        let ranker = TReaderRanker {
            network: &self.network,
            teacher: Some(teacher),
            keep,
        };
        let rows = retriever.rows_of_texts(&[text], sequences, &self.config);
        let rankings = ranker.rank(sequences, Some(&rows))?;
        let score_in = |ranking: &[ScoredLabel]| {
            let found = ranking.iter().find(|scored| scored.label == label);
            found.map_or(0.0, |scored| scored.score)
        };
        let own = score_in(&rankings[0]);
        let mixed = self.network.mixture().map(|mixture| {
            let document = ToMix {
                ranking: &rankings[0],
                row: &rows[0],
            };
            score_in(&mixture.ranked(document, teacher, keep))
        });
        Ok((mixed.unwrap_or(own), mixed.map(|_| own)))
    }
}

impl TReaderModel {
    /// What each word adds to the log-odds of a label, where no neighbours are asked.
    fn explained_alone(&self, text: &str, label: LabelId) -> Result<Explanation> {
        let spans = self.words.spans(text);
        let words: Vec<u32> = spans.iter().map(|&(row, _)| row).collect();
        let document = DocumentWords {
            words: &words,
            row: None,
        };
        let batch = TReaderBatch::new(&[document], None);
        let weights = self.network.contributions(&batch, label.0);
        let every_label = RankOptions {
            top_k: u32::MAX as usize,
            beam: None,
        };
        let rankings = self.rank_texts(&[text], every_label)?;
        let mut ranked = rankings.iter().flatten();
        let scored = ranked.find(|scored| scored.label == label);
        // The one place of a text without words is empty.
        let places = spans.into_iter().map(|(_, range)| range).zip(weights);
        let places = places.filter(|(range, _)| !range.is_empty());
        Ok(Explanation {
            spans: places
                .map(|(Range { start, end }, weight)| SpanWeight { start, end, weight })
                .collect(),
            ..Explanation::new(label, scored.map_or(0.0, |one| one.score), Method::Gradient)
        })
    }
}

fn open_retriever(
    folder: &ModelReader,
    config: &TReaderConfig,
    words: &Words,
    num_labels: usize,
) -> Result<Retriever> {
    let path_of = |name: &str| folder.path(name);
    let index = match config.neighbours.by {
        NeighbourVectors::TfIdf => {
            let tfidf = TfIdf::load_from(folder.folder())?;
            NeighbourIndex::Terms(TermNeighbours::open(path_of, tfidf)?)
        }
        NeighbourVectors::Mean => {
            NeighbourIndex::Means(MeanNeighbours::open(path_of, words.num_rows())?)
        }
    };
    let known = Known::open(path_of, words, num_labels)?;
    Ok(Retriever::new(index, known, path_of)?)
}

impl NeuralModel for TReaderModel {
    type Config = TReaderConfig;

    fn config(&self) -> &TReaderConfig {
        &self.config
    }

    fn networks(&self) -> Vec<(String, &Parameters)> {
        vec![(NETWORK_FILE.to_owned(), self.network.parameters())]
    }

    fn open_networks(
        folder: &ModelReader,
        config: TReaderConfig,
        num_labels: usize,
        device: tch::Device,
    ) -> Result<Self> {
        let words = Words::load_from(folder.folder())?;
        let retriever = if config.teacher.used {
            Some(open_retriever(folder, &config, &words, num_labels)?)
        } else {
            None
        };
        let shape = [words.num_rows() as i64, config.vectors.width as i64];
        let known = retriever.as_ref();
        let mut network = TReaderNetwork::new(&TReaderSetup {
            config: &config,
            word_vectors: &zeros(&shape),
            labels: blank(&vec![0; num_labels]),
            num_known: known.map_or(0, |retriever| retriever.teacher().num_known()),
            device,
            start: network_file::start(folder, NETWORK_FILE)?,
        })?;
        network_file::load(network.parameters(), folder, NETWORK_FILE)?;
        network.end_training();
        Ok(Self {
            config,
            words,
            network,
            retriever,
        })
    }

    fn rank_texts<T: AsRef<str> + Sync>(
        &self,
        texts: &[T],
        options: RankOptions,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        let sequences = self.words.sequences(texts);
        self.rank_sequences(texts, &sequences, options.top_k)
    }

    /// The votes of neighbours for a label, by the documents that cast them and by the terms that made
    /// these near. The score is what became of them and the network's word.
    fn explain_text(&self, text: &str, label: LabelId) -> Result<Explanation> {
        let Some(retriever) = &self.retriever else {
            return self.explained_alone(text, label);
        };
        let sequences = self.words.sequences(&[text]);
        let (score, network_score) = self.scores(retriever, (text, &sequences), label)?;
        let votes = retriever.votes_of_text(text, &sequences, label, &self.config);
        Ok(Explanation {
            network_score,
            ..explained(
                &votes,
                text,
                Explanation::new(label, score, Method::Neighbours),
            )
        })
    }

    fn fitted(&self) -> Vec<u64> {
        self.network
            .mixture()
            .map_or_else(Vec::new, |mixture| mixture.bits())
    }

    fn save_others(&self, work: &WorkFolder, writer: &ModelWriter) -> Result<()> {
        if let Some(retriever) = &self.retriever {
            retriever.save(|name| work.path(name), writer)?;
        }
        self.words.save_to(&folder_of(writer))?;
        Ok(())
    }
}

/// The explanation with what neighbours say.
fn explained(votes: &NeighbourVotes<'_>, text: &str, explanation: Explanation) -> Explanation {
    let (terms, spans) = match &votes.terms {
        Some((terms, tfidf)) => {
            let features: Vec<FeatureContribution> = terms.iter().map(Into::into).collect();
            (terms_of(&features, tfidf), spans_of(&features, tfidf, text))
        }
        None => (Vec::new(), Vec::new()),
    };
    let neighbours = votes.neighbours.iter();
    Explanation {
        spans,
        terms,
        neighbours: neighbours
            .map(|&(neighbour, share)| ExplainingNeighbour::new(neighbour, share, votes.documents))
            .collect(),
        ..explanation
    }
}
