//! Fits the forest of a fused ensemble, and tells what each member is worth to it.

use plethora_core::corpus::{Document, LabelSpace};
use plethora_core::forest::{FeatureRows, Forest, ForestConfig};
use plethora_core::{Error, LabelId, Result, ScoredLabel};

use super::combiner::Vote;
use super::fusion::{Fusion, FusionRows};
use super::model::EnsembleModel;

/// Places of a ranking that count.
const TOP: usize = 5;

/// Labels of each member's ranking that a forest learns from.
pub const FUSION_RANKS: usize = 30;

/// Parts of the documents, each of which is ranked by a forest fitted to the others.
const PARTS: usize = 5;

/// True labels among the candidates below which a forest would learn them by heart.
const MIN_TRUE: usize = 200;

/// Chosen by crossing parts of the dev documents of gnd-tib and cve-lib; twice or half of each number
/// changes nDCG@5 by less than 0.1.
const FOREST: ForestConfig = ForestConfig {
    num_trees: 100,
    num_leaves: 8,
    learning_rate: 0.1,
    min_rows: 50,
    ridge: 1.0,
};

/// A rougher one, to compare members by.
const SMALL_FOREST: ForestConfig = ForestConfig {
    num_trees: 40,
    learning_rate: 0.25,
    ..FOREST
};

/// Collects what members rank for held-back documents.
#[derive(Debug)]
pub struct FusionFitter {
    num_members: usize,
    rows: FusionRows,
    /// Label of each row, and whether it is true.
    labels: Vec<LabelId>,
    truth: Vec<bool>,
    documents: Vec<FitDocument>,
}

#[derive(Debug)]
struct FitDocument {
    /// Where its rows end.
    end: usize,
    /// Best possible DCG.
    ideal: f64,
}

/// What came out of fitting.
#[derive(Debug)]
pub struct FittedFusion {
    /// The forest, fitted to all documents.
    pub fusion: Fusion,
    /// Rankings of the documents by forests that had not seen them, in their order.
    pub rankings: Vec<Vec<ScoredLabel>>,
}

impl FusionFitter {
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

    /// True where there is enough to fit a forest to; else the plain mean is the better choice.
    pub fn can_fit(&self) -> bool {
        let num_true = self.truth.iter().filter(|&&is_true| is_true).count();
        num_true >= MIN_TRUE && self.documents.len() >= PARTS
    }

    /// Fits a forest, and one for each part of the documents to the others.
    ///
    /// # Errors
    /// [`Error::Data`] if there are too few true labels.
    pub fn fit(&self) -> Result<FittedFusion> {
        if !self.can_fit() {
            return Err(Error::data(format!(
                "too few of the labels that the models rank are true: fitting a forest needs at least \
                 {MIN_TRUE}"
            )));
        }
        let probabilities = self.crossed(&FOREST);
        let means: Vec<f32> = self.rows.means().collect();
        let fusion = Fusion {
            forest: self.forest(&FOREST, |_| true),
            propensity_documents: None,
            num_documents: self.num_documents(),
            ndcg_before: self.ndcg(&means),
            ndcg_after: self.ndcg(&probabilities),
        };
        Ok(FittedFusion {
            fusion,
            rankings: self.rankings(&probabilities),
        })
    }

    /// nDCG@5 of smaller forests on documents that they have not seen: enough to compare some members
    /// with others, in a third of the time.
    pub fn quick_ndcg(&self) -> f64 {
        self.ndcg(&self.crossed(&SMALL_FOREST))
    }

    /// What forests give the rows of each part of the documents that were fitted to the others.
    fn crossed(&self, config: &ForestConfig) -> Vec<f32> {
        let mut probabilities = vec![0.0; self.labels.len()];
        for part in 0..PARTS {
            let forest = self.forest(config, |document| document % PARTS != part);
            for (document, rows) in self.document_rows().enumerate() {
                if document % PARTS == part {
                    let values = self.values(&rows);
                    let own = forest.probabilities(values, self.rows.num_features);
                    probabilities[rows].copy_from_slice(&own);
                }
            }
        }
        probabilities
    }

    /// Rankings of the documents by the mean score of the members.
    pub fn mean_rankings(&self) -> Vec<Vec<ScoredLabel>> {
        self.rankings(&self.rows.means().collect::<Vec<_>>())
    }

    /// nDCG@5 of the mean of all members' scores.
    pub fn mean_ndcg(&self) -> f64 {
        self.ndcg(&self.rows.means().collect::<Vec<_>>())
    }

    fn forest(&self, config: &ForestConfig, is_meant: impl Fn(usize) -> bool) -> Forest {
        let (mut values, mut truth) = (Vec::new(), Vec::new());
        for (document, rows) in self.document_rows().enumerate() {
            if is_meant(document) {
                values.extend_from_slice(self.values(&rows));
                truth.extend_from_slice(&self.truth[rows]);
            }
        }
        let rows = FeatureRows::new(&values, self.rows.num_features);
        Forest::fit(&rows, &truth, config)
    }

    /// The rows of each document.
    fn document_rows(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let starts = std::iter::once(0).chain(self.documents.iter().map(|document| document.end));
        let ends = self.documents.iter().map(|document| document.end);
        starts.zip(ends).map(|(start, end)| start..end)
    }

    fn values(&self, rows: &std::ops::Range<usize>) -> &[f32] {
        let width = self.rows.num_features;
        &self.rows.values[rows.start * width..rows.end * width]
    }

    fn rankings(&self, scores: &[f32]) -> Vec<Vec<ScoredLabel>> {
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
    fn ndcg(&self, scores: &[f32]) -> f64 {
        let mut sum = 0.0;
        for (document, rows) in self.documents.iter().zip(self.document_rows()) {
            let mut order: Vec<usize> = rows.collect();
            order.sort_by(|&left, &right| scores[right].total_cmp(&scores[left]));
            let hits = order.iter().take(TOP).enumerate();
            let hits = hits.filter(|(_, row)| self.truth[**row]);
            sum += hits.map(|(place, _)| discount(place)).sum::<f64>() / document.ideal.max(1e-9);
        }
        sum / self.documents.len().max(1) as f64
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two members that are right about different labels, which only their scores together tell.
    fn fitter(num_documents: u32) -> FusionFitter {
        let mut fitter = FusionFitter::new(2);
        for number in 0..num_documents {
            let scored = |label: u32, score| ScoredLabel {
                label: LabelId(label),
                score,
            };
            // The first member is sure of a wrong label wherever the second does not know it.
            let wrong: Vec<ScoredLabel> = (10..14).map(|label| scored(label, 0.9)).collect();
            let first = [&wrong[..], &[scored(number % 7, 0.3)]].concat();
            let second = [scored(number % 7, 0.2), scored(8, 0.4)];
            fitter.add(&[&first, &second], &[LabelId(number % 7)], 1, |_| 5);
        }
        fitter
    }

    #[test]
    fn a_forest_finds_what_the_mean_cannot() {
        let fitter = fitter(300);
        let fitted = fitter.fit().unwrap();
        assert!(
            fitted.fusion.ndcg_before < 0.5,
            "{:?}",
            fitted.fusion.ndcg_before
        );
        assert!(
            fitted.fusion.ndcg_after > 0.99,
            "{:?}",
            fitted.fusion.ndcg_after
        );
        assert_eq!(fitted.rankings.len(), 300);
        assert_eq!(fitted.rankings[9][0].label, LabelId(2));
        assert!(fitted.fusion.validate(2).is_ok());
        assert!(fitted.fusion.validate(0).is_err());
        assert_eq!(fitter.fit().unwrap().fusion, fitted.fusion);
    }

    #[test]
    fn too_few_true_labels_are_refused() {
        assert!(!fitter(100).can_fit());
        let error = fitter(100).fit().unwrap_err().to_string();
        assert!(error.starts_with("too few of the labels"), "{error}");
    }
}
