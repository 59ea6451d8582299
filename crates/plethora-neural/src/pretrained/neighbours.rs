//! The training documents of a model, found by the vectors that its network has learnt to make.

use std::path::PathBuf;

use plethora_core::artifact::WorkFolder;
use plethora_core::neighbours::{DenseIndex, KnownDocuments, Neighbour, Queries};
use plethora_core::{Error, IndexRows, ScoredLabel};
use plethora_system::settings::Auto;
use plethora_system::{ExplainingNeighbour, Explanation, Method, RankOptions};
use rayon::prelude::*;

use super::model::{PieceMember, PieceModel};
use super::ranker::{PieceRanker, SaidOfDocument};
use super::run::{PieceRun, cut};
use super::votes::{CANDIDATES, Judged, Mix, SaidOf};
use crate::Result;
use crate::systems::rankings::{combine, depth};
use crate::systems::validation::truths;
use crate::systems::vectors::Vectors;

/// Name of the vectors of the training documents in a model folder.
pub(super) const VECTORS_FILE: &str = "vectors.safetensors";

/// Name of what is remembered of them.
pub(super) const DOCUMENTS_FILE: &str = "documents.safetensors";

/// Training documents whose vectors are made between two times that the work can be stopped.
const DOCUMENTS_AT_ONCE: usize = 4096;

/// Training documents that can be asked for.
#[derive(Debug)]
pub(super) struct TrainedNeighbours {
    vectors: DenseIndex,
    documents: KnownDocuments,
}

impl TrainedNeighbours {
    /// Opens the files at the paths that `path_of` gives, of vectors of `width` numbers and so many labels.
    pub(super) fn open(
        path_of: impl Fn(&str) -> plethora_core::Result<PathBuf>,
        width: usize,
        num_labels: usize,
    ) -> plethora_core::Result<Self> {
        let path = path_of(DOCUMENTS_FILE)?;
        let neighbours = Self {
            vectors: DenseIndex::open(&path_of(VECTORS_FILE)?)?,
            documents: KnownDocuments::open(&path, num_labels)?,
        };
        let fits = neighbours.vectors.width() == width
            && neighbours.vectors.num_documents() == neighbours.documents.len();
        if fits {
            Ok(neighbours)
        } else {
            let message = "the documents are others than those of the vectors";
            Err(Error::model(&path, message))
        }
    }

    /// The nearest training documents of each that asks.
    fn nearest(&self, asked: &Vectors, limit: usize) -> Vec<Vec<Neighbour>> {
        (self.vectors).nearest(&asked.to_f32(), &Queries::of_others(limit))
    }
}

impl PieceRun<'_> {
    /// Keeps the vectors that the trained networks make of the training documents, and chooses how much
    /// neighbours count; nothing where the settings ask for none.
    pub(super) fn keep_neighbours(
        &self,
        members: &[PieceMember],
    ) -> Result<Option<(TrainedNeighbours, Mix)>> {
        let config = &self.config.neighbours;
        if !config.vote() {
            return Ok(None);
        }
        let names = &self.set.texts.names;
        let labels = &self.set.labels_of_documents;
        let all = 0..labels.num_rows();
        let vectors = self.vectors(members)?;
        KnownDocuments::write(&self.work.path(DOCUMENTS_FILE), names, labels, all)?;
        let path = self.work.path(VECTORS_FILE);
        DenseIndex::write_halves(vectors.bits(), vectors.width(), &path)?;
        let path_of = |name: &str| Ok(self.work.path(name));
        let num_labels = self.set.space.len();
        let known = TrainedNeighbours::open(path_of, vectors.width(), num_labels)?;
        let leaves_choices = config.weight == Auto::Auto || config.temperature == Auto::Auto;
        if self.valid.is_empty() || !leaves_choices {
            return Ok(Some((known, Mix::from(config))));
        }
        self.progress.start("weight of neighbours", None);
        let (network, asked) = self.said(members, &self.valid.sequences)?;
        let neighbours = known.nearest(&asked, config.num_neighbours);
        let said = network.into_iter().zip(neighbours);
        let judged = Judged {
            said: said
                .map(|(network, neighbours)| SaidOf {
                    network,
                    neighbours,
                })
                .collect(),
            truths: truths(&self.valid.labels).collect(),
            documents: &known.documents,
            num_labels,
        };
        let (mix, score) = judged.choose(config)?;
        self.progress.finish(&format!(
            "{mix} for {} documents: nDCG@5 {score:.4}",
            judged.truths.len()
        ));
        Ok(Some((known, mix)))
    }

    /// The vectors of all training documents.
    fn vectors(&self, members: &[PieceMember]) -> Result<Vectors> {
        let rows = &self.set.texts.rows;
        let network = &members[0].network;
        let mut vectors = Vectors::new(network.vector_width());
        self.progress.start("vectors", Some(rows.num_rows() as u64));
        let ranker = PieceRanker {
            network,
            cut: cut(self.config, &self.set.texts.reader, network.device()),
            beam: 0,
            keep: 0,
        };
        let numbers: Vec<usize> = (0..rows.num_rows()).collect();
        for numbers in numbers.chunks(DOCUMENTS_AT_ONCE) {
            let sequences: IndexRows = (numbers.iter())
                .map(|&document| rows.row(document).iter().copied())
                .collect();
            for said in ranker.said(&sequences)? {
                vectors.push(&said.vector);
            }
            self.progress.advance(numbers.len() as u64);
            if self.progress.is_cancelled() {
                return Err(Error::Interrupted.into());
            }
        }
        let (count, width) = (vectors.len(), vectors.width());
        let summary = format!("{count} documents as {width} numbers each");
        self.progress.finish(&summary);
        Ok(vectors)
    }

    /// What the networks say of documents, and their vectors.
    fn said(
        &self,
        members: &[PieceMember],
        sequences: &IndexRows,
    ) -> Result<(Vec<Vec<ScoredLabel>>, Vectors)> {
        let options = RankOptions {
            top_k: CANDIDATES,
            beam: None,
        };
        let reader = &self.set.texts.reader;
        let cut =
            |network: &super::network::PieceNetwork| cut(self.config, reader, network.device());
        let beam = self.config.clusters.predict_beam();
        said_by(members, sequences, (beam, options.top_k), cut)
    }
}

/// What networks say of documents, the mean of them, and the vectors of the first.
fn said_by(
    members: &[PieceMember],
    sequences: &IndexRows,
    (beam, top_k): (usize, usize),
    cut: impl Fn(&super::network::PieceNetwork) -> super::batch::Cut,
) -> Result<(Vec<Vec<ScoredLabel>>, Vectors)> {
    let mut vectors = Vectors::new(members[0].network.vector_width());
    let mut of_networks = Vec::new();
    for (number, PieceMember { network, .. }) in members.iter().enumerate() {
        let ranker = PieceRanker {
            network,
            cut: cut(network),
            beam,
            keep: depth(members.len(), top_k),
        };
        let mut rankings = Vec::with_capacity(sequences.num_rows());
        for SaidOfDocument { ranking, vector } in ranker.said(sequences)? {
            if number == 0 {
                vectors.push(&vector);
            }
            rankings.push(ranking);
        }
        of_networks.push(rankings);
    }
    let rankings = combine(of_networks, sequences.num_rows(), top_k);
    Ok((rankings, vectors))
}

impl PieceModel {
    /// What is said of texts, for at least so many labels.
    fn said_of(
        &self,
        known: &TrainedNeighbours,
        sequences: &IndexRows,
        options: RankOptions,
    ) -> Result<Vec<SaidOf>> {
        let beam = (options.beam).unwrap_or_else(|| self.config.clusters.predict_beam());
        let top_k = options.top_k.max(CANDIDATES);
        let cut = |network: &super::network::PieceNetwork| {
            cut(&self.config, &self.reader, network.device())
        };
        let (rankings, vectors) = said_by(&self.members, sequences, (beam, top_k), cut)?;
        let neighbours = known.nearest(&vectors, self.config.neighbours.num_neighbours);
        let both = rankings.into_iter().zip(neighbours);
        Ok(both
            .map(|(network, neighbours)| SaidOf {
                network,
                neighbours,
            })
            .collect())
    }

    /// The best labels of each text by network and neighbours.
    pub(super) fn rank_with_neighbours(
        &self,
        known: &TrainedNeighbours,
        sequences: &IndexRows,
        options: RankOptions,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        let mix = Mix::from(&self.config.neighbours);
        let said = self.said_of(known, sequences, options)?;
        let rank = |said: &SaidOf| mix.rank(said, &known.documents, options.top_k);
        Ok(said.par_iter().map(rank).collect())
    }

    /// The score of a label with the documents that vote, each with its share of the score.
    pub(super) fn explain_by_neighbours(
        &self,
        known: &TrainedNeighbours,
        text: &str,
        label: plethora_core::LabelId,
    ) -> Result<Explanation> {
        let mix = Mix::from(&self.config.neighbours);
        let every_label = RankOptions {
            // Tensors count in 64 bits with a sign.
            top_k: i64::MAX as usize,
            beam: None,
        };
        let sequences = self.reader.sequences(&[text]);
        let said = self.said_of(known, &sequences, every_label)?.remove(0);
        let score_in = |ranking: &[ScoredLabel]| {
            let found = ranking.iter().find(|one| one.label == label);
            found.map_or(0.0, |one| one.score)
        };
        let ranking = mix.rank(&said, &known.documents, usize::MAX);
        let shares = mix.shares(&said.neighbours);
        let votes = said.neighbours.iter().zip(shares);
        Ok(Explanation {
            network_score: Some(score_in(&said.network)),
            neighbours: votes
                .map(|(&neighbour, share)| {
                    ExplainingNeighbour::new(neighbour, mix.weight * share, &known.documents)
                })
                .collect(),
            ..Explanation::new(label, score_in(&ranking), Method::Neighbours)
        })
    }

    /// Gives the files of neighbours to the model that is being written.
    pub(super) fn save_neighbours(
        &self,
        work: &WorkFolder,
        writer: &plethora_core::artifact::ModelWriter,
    ) -> Result<()> {
        if self.neighbours.is_some() {
            for name in [VECTORS_FILE, DOCUMENTS_FILE] {
                work.give(name, writer)?;
            }
        }
        Ok(())
    }
}
