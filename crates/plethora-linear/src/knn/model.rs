//! The index of the training documents, ready to be asked.

use std::path::PathBuf;

use plethora_core::artifact::{ModelReader, WorkFolder};
use plethora_core::neighbours::{
    KnownDocuments, Neighbour, Queries, TermIndex, TermVote, shares, votes,
};
use plethora_core::{Error, LabelId, Result, ScoredLabel, SparseMatrix, SparseRow};
use plethora_system::RankOptions;
use rayon::prelude::*;

use super::config::KnnConfig;
use crate::ranking::{by_rank, keep_best};

/// Name of the index in a model folder.
pub(super) const INDEX_FILE: &str = "index.safetensors";

/// Name of what is remembered of the training documents in a model folder.
pub(super) const DOCUMENTS_FILE: &str = "documents.safetensors";

/// Training documents that vote for their labels.
#[derive(Debug)]
pub struct KnnModel {
    config: KnnConfig,
    index: TermIndex,
    documents: KnownDocuments,
    /// Share of the training documents that have a label, of all labels.
    frequencies: Vec<f32>,
    /// The labels, the most frequent first.
    frequent: Vec<LabelId>,
}

/// Why a label has its score.
#[derive(Debug, Clone, PartialEq)]
pub struct KnnExplanation {
    /// The score that ranking gives.
    pub score: f32,
    /// The part of it that does not come from neighbours.
    pub prior: f32,
    /// All neighbours of the text, the nearest first.
    pub neighbours: Vec<KnnVote>,
    /// What the terms of the text add to the votes for the label.
    pub terms: Vec<TermVote>,
}

/// What a neighbour says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KnnVote {
    /// Which training document, and how near.
    pub neighbour: Neighbour,
    /// Its share of the score of each of its labels.
    pub share: f32,
}

impl KnnModel {
    /// The names of the files that hold the index.
    pub fn file_names() -> [&'static str; 2] {
        [INDEX_FILE, DOCUMENTS_FILE]
    }

    /// Opens the index of a model folder for `num_features` features and `num_labels` labels.
    ///
    /// # Errors
    /// [`Error::Model`] if the files do not fit each other or these numbers.
    pub fn open(
        folder: &ModelReader,
        config: KnnConfig,
        num_features: usize,
        num_labels: usize,
    ) -> Result<Self> {
        let paths = [folder.path(INDEX_FILE)?, folder.path(DOCUMENTS_FILE)?];
        Self::open_files(&paths, config, num_features, num_labels)
    }

    /// Opens the index of a training run that is complete but not saved yet.
    pub fn open_unsaved(
        work: &WorkFolder,
        config: KnnConfig,
        num_features: usize,
        num_labels: usize,
    ) -> Result<Self> {
        let paths = [work.path(INDEX_FILE), work.path(DOCUMENTS_FILE)];
        Self::open_files(&paths, config, num_features, num_labels)
    }

    fn open_files(
        [index_path, documents_path]: &[PathBuf; 2],
        config: KnnConfig,
        num_features: usize,
        num_labels: usize,
    ) -> Result<Self> {
        config.validate()?;
        let index = TermIndex::open(index_path)?;
        let documents = KnownDocuments::open(documents_path, num_labels)?;
        if index.num_terms() != num_features || index.num_documents() != documents.len() {
            let message = "the index is of other terms or documents than the model";
            return Err(Error::model(index_path, message));
        }
        let frequencies = frequencies(&documents, num_labels);
        let mut frequent: Vec<LabelId> = (0..num_labels as u32).map(LabelId).collect();
        // Stable: of equally frequent labels the first comes first.
        frequent.sort_by(|left, right| {
            frequencies[right.index()].total_cmp(&frequencies[left.index()])
        });
        Ok(Self {
            config,
            index,
            documents,
            frequencies,
            frequent,
        })
    }

    /// The settings.
    pub fn config(&self) -> &KnnConfig {
        &self.config
    }

    /// What is remembered of the training documents.
    pub fn documents(&self) -> &KnownDocuments {
        &self.documents
    }

    /// Number of features of a document.
    pub fn num_features(&self) -> usize {
        self.index.num_terms()
    }

    /// Number of labels.
    pub(super) fn num_labels(&self) -> usize {
        self.frequencies.len()
    }

    pub(super) fn index(&self) -> &TermIndex {
        &self.index
    }

    /// The best labels of each row, best first: those of its neighbours, then frequent ones where the
    /// settings have a prior. Rows are ranked in parallel and independently.
    pub fn rank(&self, rows: &SparseMatrix, options: RankOptions) -> Vec<Vec<ScoredLabel>> {
        let found = self.nearest(rows);
        let rank = |neighbours: &Vec<Neighbour>| {
            self.rank_one(neighbours, self.config.power, options.top_k)
        };
        found.par_iter().map(rank).collect()
    }

    /// Why `label` has its score for a document.
    pub fn explain(&self, row: SparseRow<'_>, label: LabelId) -> KnnExplanation {
        let mut rows = SparseMatrix::builder(self.num_features());
        rows.push(row);
        let neighbours = self.nearest(&rows.finish()).remove(0);
        let (of_votes, of_prior) = self.parts(!neighbours.is_empty());
        let has_label = |document: u32| self.documents.labels(document).contains(&label.0);
        let shares = shares(&neighbours, self.config.power);
        let mut terms = self
            .index
            .term_votes(row, &neighbours, self.config.power, has_label);
        for term in &mut terms {
            term.contribution *= of_votes;
        }
        let prior = of_prior * self.frequencies[label.index()];
        let ranked = self.rank_one(&neighbours, self.config.power, self.num_labels());
        let scored = ranked.iter().find(|scored| scored.label == label);
        KnnExplanation {
            score: scored.map_or(0.0, |scored| scored.score),
            prior,
            neighbours: (neighbours.into_iter().zip(shares))
                .map(|(neighbour, share)| KnnVote {
                    neighbour,
                    share: share * of_votes,
                })
                .collect(),
            terms,
        }
    }

    fn nearest(&self, rows: &SparseMatrix) -> Vec<Vec<Neighbour>> {
        let queries = Queries::of_others(self.config.num_neighbours);
        self.index.nearest(rows, &queries)
    }

    /// How much the votes of neighbours count in a score, and how much frequencies do.
    fn parts(&self, has_neighbours: bool) -> (f32, f32) {
        let votes = if has_neighbours { 1.0 } else { 0.0 };
        let all = votes + self.config.prior;
        if all > 0.0 {
            (votes / all, self.config.prior / all)
        } else {
            (0.0, 0.0)
        }
    }

    /// The best labels by the votes of neighbours, whose similarities count to a power.
    pub(super) fn rank_one(
        &self,
        neighbours: &[Neighbour],
        power: f32,
        top_k: usize,
    ) -> Vec<ScoredLabel> {
        let (of_votes, of_prior) = self.parts(!neighbours.is_empty());
        let labels_of = |document| self.documents.labels(document).iter().copied();
        let mut scored = votes(neighbours, power, labels_of);
        let voted = scored.clone();
        let prior = |label: LabelId| of_prior * self.frequencies[label.index()];
        for one in &mut scored {
            one.score = of_votes * one.score + prior(one.label);
        }
        if of_prior > 0.0 {
            let is_voted = |label: &LabelId| voted.binary_search_by_key(label, |one| one.label);
            let others = self
                .frequent
                .iter()
                .filter(|label| is_voted(label).is_err());
            scored.extend(others.take(top_k).map(|&label| ScoredLabel {
                label,
                score: prior(label),
            }));
        }
        keep_best(&mut scored, top_k);
        scored.sort_unstable_by(by_rank);
        scored
    }
}

fn frequencies(documents: &KnownDocuments, num_labels: usize) -> Vec<f32> {
    let mut counts = vec![0_u32; num_labels];
    for document in 0..documents.len() as u32 {
        for &label in documents.labels(document) {
            counts[label as usize] += 1;
        }
    }
    let total = documents.len().max(1) as f32;
    counts.iter().map(|&count| count as f32 / total).collect()
}

#[cfg(test)]
mod tests {
    use plethora_core::corpus::{Content, Document};
    use plethora_core::{NoProgress, SparseVector};

    use super::super::{KnnSetBuilder, KnnTrainer, OpenKnnConfig};
    use super::*;

    fn config() -> OpenKnnConfig {
        OpenKnnConfig {
            num_neighbours: 2,
            power: 1.0.into(),
            prior: 0.25,
            ..crate::knn::recipe()
        }
    }

    /// Four documents of three features and labels 0 to 3.
    fn model(config: &OpenKnnConfig) -> KnnModel {
        let rows = [
            (vec![(0, 1.0)], vec!["a", "b"]),
            (vec![(0, 1.0), (1, 1.0)], vec!["b"]),
            (vec![(1, 1.0)], vec!["c"]),
            (vec![(2, 1.0)], vec!["b", "d"]),
        ];
        let mut builder = KnnSetBuilder::new(config.text.clone()).unwrap();
        for (number, (entries, labels)) in rows.into_iter().enumerate() {
            builder
                .add(Document {
                    id: format!("document-{number}"),
                    content: Content::Features(SparseVector::from_entries(entries)),
                    labels: labels.into_iter().map(Into::into).collect(),
                })
                .unwrap();
        }
        let set = builder.finish(&[], None).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let work = WorkFolder::open(&folder.path().join("model"), "x", false).unwrap();
        let trainer = KnnTrainer { set: &set, config };
        let settled = trainer.run(&work, &NoProgress).unwrap();
        KnnModel::open_unsaved(&work, settled, 3, 4).unwrap()
    }

    fn row(entries: &[(u32, f32)]) -> SparseMatrix {
        let mut rows = SparseMatrix::builder(3);
        let mut vector = SparseVector::from_entries(entries.to_vec());
        vector.normalize();
        rows.push(vector.as_row());
        rows.finish()
    }

    fn rank(model: &KnnModel, entries: &[(u32, f32)], top_k: usize) -> Vec<(u32, f32)> {
        let options = RankOptions { top_k, beam: None };
        let ranking = model.rank(&row(entries), options).remove(0);
        ranking.iter().map(|one| (one.label.0, one.score)).collect()
    }

    fn assert_close(found: &[(u32, f32)], expected: &[(u32, f32)]) {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.0, expected.0);
            assert!(
                (found.1 - expected.1).abs() < 1e-6,
                "{found:?} {expected:?}"
            );
        }
    }

    #[test]
    fn neighbours_vote_and_frequent_labels_come_behind() {
        let model = model(&config());
        // Similarities 1 and 0.7071; b is in three of four documents, the others in one.
        let (near, far) = (0.585_786_4, 0.414_213_6);
        let prior = |frequency: f32| 0.2 * frequency;
        let vote = |share: f32| 0.8 * share;
        assert_close(
            &rank(&model, &[(0, 2.0)], 4),
            &[
                (1, vote(near + far) + prior(0.75)),
                (0, vote(near) + prior(0.25)),
                (2, prior(0.25)),
                (3, prior(0.25)),
            ],
        );
        assert_eq!(rank(&model, &[(0, 2.0)], 1).len(), 1);
        assert!(rank(&model, &[(0, 2.0)], 0).is_empty());
    }

    #[test]
    fn a_text_without_neighbours_gets_the_frequent_labels_or_none() {
        let frequent = [(1, 0.75), (0, 0.25), (2, 0.25), (3, 0.25)];
        assert_close(&rank(&model(&config()), &[], 4), &frequent);
        let alone = OpenKnnConfig {
            prior: 0.0,
            ..config()
        };
        assert!(rank(&model(&alone), &[], 4).is_empty());
        assert_close(&rank(&model(&alone), &[(2, 1.0)], 4), &[(1, 1.0), (3, 1.0)]);
    }

    #[test]
    fn explanations_add_up_to_the_score() {
        let model = model(&config());
        let query = row(&[(0, 1.0), (1, 0.5)]);
        for (label, score) in rank(&model, &[(0, 1.0), (1, 0.5)], 4) {
            let found = model.explain(query.row(0), LabelId(label));
            assert!((found.score - score).abs() < 1e-6);
            let of_terms: f32 = found.terms.iter().map(|term| term.contribution).sum();
            let speaks = |vote: &&KnnVote| {
                let labels = model.documents().labels(vote.neighbour.document);
                labels.contains(&label)
            };
            let of_votes: f32 = (found.neighbours.iter().filter(speaks))
                .map(|vote| vote.share)
                .sum();
            assert!((of_terms - of_votes).abs() < 1e-6, "{found:?}");
            assert!((of_votes + found.prior - score).abs() < 1e-6, "{found:?}");
        }
    }
}
