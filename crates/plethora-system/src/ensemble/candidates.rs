//! What members rank for held-back documents, and how good scores made of it are.

use std::ops::Range;

use plethora_core::corpus::{Document, LabelSpace};
use plethora_core::{Error, LabelId, Result, ScoredLabel};
use rayon::prelude::*;

use super::combiner::Vote;
use super::fusion::FusionRows;
use super::model::EnsembleModel;

/// Places of a ranking that count.
const TOP: usize = 5;

/// Labels of each member's ranking that are learnt from.
pub const FUSION_RANKS: usize = 30;

/// Parts of the documents, each of which is ranked by what was fitted to the others.
pub(super) const PARTS: usize = 5;

/// True labels among the candidates below which nothing but single weights can be learnt.
pub(super) const MIN_TRUE: usize = 200;

/// The labels that members rank for held-back documents, one row per document and label.
#[derive(Debug)]
pub struct Candidates {
    num_members: usize,
    pub(super) rows: FusionRows,
    /// Label of each row, and whether it is true.
    pub(super) labels: Vec<LabelId>,
    pub(super) truth: Vec<bool>,
    documents: Vec<FitDocument>,
}

#[derive(Debug)]
struct FitDocument {
    /// Where its rows end.
    end: usize,
    /// Best possible DCG.
    ideal: f64,
}

impl Candidates {
    /// A fitter without documents.
    pub fn new(num_members: usize) -> Self {
        Self {
            num_members,
            rows: FusionRows::new(num_members),
            labels: Vec::new(),
            truth: Vec::new(),
            documents: Vec::new(),
        }
    }

    /// Takes in a document with the rankings that members gave it, by label ids that they share.
    /// `truth` are its true labels that have an id, and `num_true` how many it has.
    pub fn add(
        &mut self,
        rankings: &[&[ScoredLabel]],
        truth: &[LabelId],
        num_true: usize,
        train_count: impl Fn(LabelId) -> u32,
    ) {
        let votes = rankings.iter().enumerate().flat_map(|(member, ranking)| {
            let ranked = ranking.iter().take(FUSION_RANKS).enumerate();
            ranked.map(move |(place, scored)| Vote {
                label: scored.label,
                member,
                rank: place + 1,
                score: scored.score,
            })
        });
        self.add_votes(votes.collect(), truth, num_true, train_count);
    }

    /// Ranks documents with the members of an ensemble that has `labels`, and takes in those that have
    /// labels.
    pub fn add_documents(
        &mut self,
        ensemble: &EnsembleModel,
        labels: &LabelSpace,
        documents: &[Document],
    ) -> Result<()> {
        let votes = ensemble.votes(documents)?;
        for (document, votes) in documents.iter().zip(votes) {
            let mut keys: Vec<&str> = document.labels.iter().map(String::as_str).collect();
            keys.sort_unstable();
            keys.dedup();
            if keys.is_empty() {
                continue;
            }
            let truth: Vec<LabelId> = keys.iter().filter_map(|key| labels.id(key)).collect();
            let train_counts = labels.train_counts();
            self.add_votes(votes, &truth, keys.len(), |label| {
                train_counts[label.index()]
            });
        }
        Ok(())
    }

    fn add_votes(
        &mut self,
        mut votes: Vec<Vote>,
        truth: &[LabelId],
        num_true: usize,
        train_count: impl Fn(LabelId) -> u32,
    ) {
        votes.retain(|vote| vote.rank <= FUSION_RANKS);
        votes.sort_by_key(|vote| vote.label);
        self.rows.add(&votes, |vote| train_count(vote.label));
        for votes in votes.chunk_by(|left, right| left.label == right.label) {
            self.labels.push(votes[0].label);
            self.truth.push(truth.contains(&votes[0].label));
        }
        self.documents.push(FitDocument {
            end: self.labels.len(),
            ideal: (0..num_true.min(TOP)).map(discount).sum(),
        });
    }

    /// Documents so far.
    pub fn num_documents(&self) -> u64 {
        self.documents.len() as u64
    }

    /// True where there is enough to learn more than the plain mean from.
    pub fn can_fit(&self) -> bool {
        let num_true = self.truth.iter().filter(|&&is_true| is_true).count();
        num_true >= MIN_TRUE && self.documents.len() >= PARTS
    }

    /// Refuses too few true labels.
    pub(super) fn check(&self) -> Result<()> {
        if self.can_fit() {
            return Ok(());
        }
        Err(Error::data(format!(
            "too few of the labels that the models rank are true: fitting how their scores become one \
             needs at least {MIN_TRUE}"
        )))
    }

    /// What is fitted to the other parts gives the rows of each part of the documents: `fit` gets the
    /// rows that are meant, `score` those that it has not seen.
    pub(super) fn crossed<T>(
        &self,
        fit: impl Fn(&[usize]) -> T,
        score: impl Fn(&T, Range<usize>) -> Vec<f32>,
    ) -> Vec<f32> {
        let mut scores = vec![0.0; self.labels.len()];
        for part in 0..PARTS {
            let fitted = fit(&self.rows_of(|document| document % PARTS != part));
            for (document, rows) in self.document_rows().enumerate() {
                if document % PARTS == part {
                    scores[rows.clone()].copy_from_slice(&score(&fitted, rows));
                }
            }
        }
        scores
    }

    /// Rows of the documents that are meant.
    pub(super) fn rows_of(&self, is_meant: impl Fn(usize) -> bool) -> Vec<usize> {
        let documents = self.document_rows().enumerate();
        let meant = documents.filter(|(document, _)| is_meant(*document));
        meant.flat_map(|(_, rows)| rows).collect()
    }

    /// All rows.
    pub(super) fn all_rows(&self) -> Vec<usize> {
        (0..self.labels.len()).collect()
    }

    /// The rows of each document.
    pub(super) fn document_rows(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.documents.iter().map(|document| document.end));
        let ends = self.documents.iter().map(|document| document.end);
        starts.zip(ends).map(|(start, end)| start..end)
    }

    /// Rankings of the documents by the mean score of the members.
    pub fn mean_rankings(&self) -> Vec<Vec<ScoredLabel>> {
        self.rankings(&self.rows.means().collect::<Vec<_>>())
    }

    /// nDCG@5 of the mean of all members' scores.
    pub fn mean_ndcg(&self) -> f64 {
        self.ndcg(&self.rows.means().collect::<Vec<_>>())
    }

    /// Rankings of the documents by a score per row.
    pub(super) fn rankings(&self, scores: &[f32]) -> Vec<Vec<ScoredLabel>> {
        let ranked = self.document_rows().map(|rows| {
            let labels = self.labels[rows.clone()].iter().zip(&scores[rows]);
            let mut ranking: Vec<ScoredLabel> = labels
                .map(|(&label, &score)| ScoredLabel { label, score })
                .collect();
            ranking.sort_by(|left, right| right.score.total_cmp(&left.score));
            ranking
        });
        ranked.collect()
    }

    /// Mean nDCG@5 of the documents, ranked by a score per row.
    pub(super) fn ndcg(&self, scores: &[f32]) -> f64 {
        let ranges: Vec<Range<usize>> = self.document_rows().collect();
        let each: Vec<f64> = (self.documents.par_iter().zip(ranges))
            .map(|(document, rows)| {
                Self::gain(&scores[rows.clone()], &self.truth[rows]) / document.ideal.max(1e-9)
            })
            .collect();
        each.iter().sum::<f64>() / self.documents.len().max(1) as f64
    }

    /// DCG@5 of a document; of equal scores the first row comes first.
    fn gain(scores: &[f32], truth: &[bool]) -> f64 {
        let mut top = [(f32::NEG_INFINITY, false); TOP];
        for (&score, &is_true) in scores.iter().zip(truth) {
            let mut next = (score, is_true);
            if next.0 <= top[TOP - 1].0 {
                continue;
            }
            for place in &mut top {
                if next.0 > place.0 {
                    std::mem::swap(place, &mut next);
                }
            }
        }
        let hits = top.iter().enumerate().filter(|(_, (_, is_true))| *is_true);
        hits.map(|(place, _)| discount(place)).sum()
    }

    /// Number of members.
    pub fn num_members(&self) -> usize {
        self.num_members
    }
}

/// Weight of a place, counted from 0.
fn discount(place: usize) -> f64 {
    1.0 / ((place + 2) as f64).log2()
}
