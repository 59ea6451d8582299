//! Takes in the rankings of one model for a report.

use std::hash::{Hash, Hasher};

use plethora_core::corpus::{Content, Document, LabelSpace};
use plethora_core::metrics::{DetailedEvaluator, TopLabels, Worst};
use plethora_core::{LabelId, ScoredLabel, shortened};
use rustc_hash::FxHasher;

use super::content::{PredictedLabel, WorstDocument};
use crate::evaluation::Judge;

/// Characters of a text that are shown.
const SNIPPET: usize = 300;
/// True labels of a document that are named.
const MAX_TRUE_LABELS: usize = 20;
/// Predictions of a document that are named, if not fewer are measured.
const MAX_PREDICTIONS: usize = 10;
/// Characters of a label's name that are shown.
const MAX_NAME: usize = 120;
/// Places in which models are compared: those of table 4 of You et al. 2019.
const OVERLAP_DEPTH: usize = 5;
/// What a missed label adds to how bad a document is: enough to order documents of equal nDCG and
/// too little to change the order of others.
const MISSED_WEIGHT: f64 = 1e-9;

/// A detailed evaluation that also remembers the worst documents and which documents it saw.
pub(super) struct ReportJudge<'a> {
    pub(super) detailed: DetailedEvaluator,
    pub(super) top: TopLabels,
    pub(super) worst: Worst<WorstDocument>,
    pub(super) documents: DocumentsSeen,
    pub(super) length_unit: &'static str,
    largest_k: usize,
    labels: &'a LabelSpace,
    label_hashes: Vec<u64>,
}

/// Tells whether two models have seen the same documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct DocumentsSeen {
    pub(super) count: u64,
    hash: u64,
}

impl DocumentsSeen {
    fn add(&mut self, document: &Document) {
        self.count += 1;
        let mut hasher = FxHasher::default();
        (self.hash, &document.id, &document.labels).hash(&mut hasher);
        self.hash = hasher.finish();
    }
}

impl<'a> ReportJudge<'a> {
    pub(super) fn new(
        detailed: DetailedEvaluator,
        labels: &'a LabelSpace,
        largest_k: usize,
        num_worst: usize,
    ) -> Self {
        let hashes = labels.labels().iter().map(|label| hash_of(&label.key));
        Self {
            detailed,
            top: TopLabels::new(OVERLAP_DEPTH),
            worst: Worst::new(num_worst),
            documents: DocumentsSeen::default(),
            length_unit: "words",
            largest_k,
            label_hashes: hashes.collect(),
            labels,
        }
    }

    fn length(&mut self, document: &Document) -> u32 {
        match &document.content {
            Content::Text(text) => text.split_whitespace().count() as u32,
            Content::Features(features) => {
                self.length_unit = "features";
                features.columns.len() as u32
            }
        }
    }
}

impl Judge for ReportJudge<'_> {
    fn add(&mut self, document: &Document, truth: &[LabelId], ranking: &[ScoredLabel]) {
        self.documents.add(document);
        let length = self.length(document);
        let outcome = self.detailed.add(truth, ranking, length);
        let places = ranking.iter();
        self.top
            .add(places.map(|place| self.label_hashes[place.label.index()]));
        if truth.is_empty() {
            return;
        }
        let Self {
            labels,
            largest_k,
            worst,
            ..
        } = self;
        let badness = outcome.ndcg - MISSED_WEIGHT * outcome.num_missed as f64;
        worst.offer(badness, || {
            let shown = ranking.iter().take((*largest_k).min(MAX_PREDICTIONS));
            let name_of = |key: &String| match labels.id(key) {
                Some(id) => shortened(&labels.label(id).name, MAX_NAME),
                None => shortened(key, MAX_NAME),
            };
            WorstDocument {
                id: shortened(&document.id, MAX_NAME),
                ndcg: outcome.ndcg,
                text: shortened(document.text().unwrap_or_default(), SNIPPET),
                num_true_labels: truth.len(),
                true_labels: document
                    .labels
                    .iter()
                    .take(MAX_TRUE_LABELS)
                    .map(name_of)
                    .collect(),
                predictions: shown
                    .map(|place| PredictedLabel {
                        name: shortened(&labels.label(place.label).name, MAX_NAME),
                        score: place.score,
                        is_true: truth.contains(&place.label),
                    })
                    .collect(),
            }
        });
    }
}

/// A number that stands for a label's key in all models, and is not 0.
fn hash_of(key: &str) -> u64 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    hasher.finish().max(1)
}
