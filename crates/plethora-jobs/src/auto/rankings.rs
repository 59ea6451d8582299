//! What members rank for held-back documents.

use plethora_core::corpus::Document;
use plethora_core::metrics::{Evaluation, EvaluationConfig, Evaluator};
use plethora_core::{LabelId, Result, ScoredLabel};
use plethora_system::{Candidates, FUSION_RANKS, Predictor, RankOptions};
use rustc_hash::FxHashMap;

use super::held_back::HeldBack;
use super::report::HeldBackFigures;

/// Labels of all members by keys, as their ids differ from member to member, and the truth.
pub(super) struct Labels {
    ids: FxHashMap<String, LabelId>,
    /// Training documents with each label, over all documents.
    counts: Vec<u32>,
    /// How many of them each part of the held-back documents has.
    counts_of_parts: Vec<Vec<u32>>,
    /// The true labels of each held-back document.
    pub(super) truth: Vec<Vec<LabelId>>,
}

impl Labels {
    /// Labels with the numbers of documents of the whole corpus.
    pub(super) fn new<'a>(
        counted: impl Iterator<Item = (&'a str, u32)>,
        held_back: &HeldBack,
    ) -> Self {
        let mut labels = Self {
            ids: FxHashMap::default(),
            counts: Vec::new(),
            counts_of_parts: Vec::new(),
            truth: Vec::new(),
        };
        for (key, count) in counted {
            let id = labels.id(key);
            labels.counts[id.index()] = count;
        }
        let truth = held_back
            .documents
            .iter()
            .map(|document| labels.true_labels(document));
        let truth: Vec<Vec<LabelId>> = truth.collect();
        let mut parts = vec![vec![0; labels.counts.len()]; held_back.train.len()];
        if held_back.returns() {
            for (part, truth) in held_back.parts.iter().zip(&truth) {
                for label in truth {
                    parts[*part][label.index()] += 1;
                }
            }
        }
        labels.counts_of_parts = parts;
        labels.truth = truth;
        labels
    }

    fn id(&mut self, key: &str) -> LabelId {
        if let Some(&id) = self.ids.get(key) {
            return id;
        }
        let id = LabelId(self.ids.len() as u32);
        self.ids.insert(key.to_owned(), id);
        self.counts.push(0);
        id
    }

    fn true_labels(&mut self, document: &Document) -> Vec<LabelId> {
        let mut labels: Vec<LabelId> = document.labels.iter().map(|key| self.id(key)).collect();
        labels.sort_unstable();
        labels.dedup();
        labels
    }

    /// Documents with a label that members judged by a part have learnt from.
    fn train_count(&self, part: usize, label: LabelId) -> u32 {
        let own = self.counts_of_parts[part].get(label.index()).unwrap_or(&0);
        self.counts[label.index()].saturating_sub(*own)
    }

    pub(super) fn counts(&self) -> &[u32] {
        &self.counts
    }
}

/// The rankings of one member, in the order of the held-back documents.
pub(super) type MemberRankings = Vec<Vec<ScoredLabel>>;

/// Ranks the held-back documents at `places` with a model, into `rankings`.
pub(super) fn rank(
    predictor: &Predictor,
    held_back: &HeldBack,
    places: &[usize],
    labels: &mut Labels,
    rankings: &mut MemberRankings,
) -> Result<()> {
    let keys = predictor.labels().labels().iter();
    let ids: Vec<LabelId> = keys.map(|label| labels.id(&label.key)).collect();
    let options = RankOptions {
        top_k: FUSION_RANKS,
        beam: None,
    };
    for places in places.chunks(predictor.documents_per_batch()) {
        let documents = places
            .iter()
            .map(|&place| held_back.documents[place].clone());
        let found = predictor.rank(&documents.collect::<Vec<_>>(), options)?;
        for (&place, ranking) in places.iter().zip(found) {
            let ranking = ranking.into_iter().map(|scored| ScoredLabel {
                label: ids[scored.label.index()],
                ..scored
            });
            rankings[place] = ranking.collect();
        }
    }
    Ok(())
}

/// What these members rank, to fit how their scores become one.
pub(super) fn candidates(
    members: &[&MemberRankings],
    held_back: &HeldBack,
    labels: &Labels,
) -> Candidates {
    let mut candidates = Candidates::new(members.len());
    for (place, truth) in labels.truth.iter().enumerate() {
        let part = held_back.parts[place];
        let rankings: Vec<&[ScoredLabel]> = members
            .iter()
            .map(|rankings| &rankings[place][..])
            .collect();
        candidates.add(&rankings, truth, truth.len(), |label| {
            labels.train_count(part, label)
        });
    }
    candidates
}

/// How good rankings of the held-back documents are.
pub(super) fn measure(
    rankings: &MemberRankings,
    labels: &Labels,
    num_train_documents: u64,
) -> Result<(Evaluation, HeldBackFigures)> {
    let config = EvaluationConfig::default();
    let evaluator = Evaluator::new(config, labels.counts(), num_train_documents)?;
    let mut all = evaluator.fork();
    let mut ndcgs = Vec::with_capacity(rankings.len());
    for (truth, ranking) in labels.truth.iter().zip(rankings) {
        all.add(truth, ranking);
        ndcgs.push(ndcg(truth, ranking));
    }
    let evaluation = all.finish();
    let get = |key| evaluation.get(key).unwrap_or_default();
    let figures = HeldBackFigures {
        precision_at_1: get("P@1"),
        precision_at_5: get("P@5"),
        ndcg_at_5: get("nDCG@5"),
        ndcg_interval: 1.96 * standard_error(&ndcgs),
        psp_at_5: get("PSP@5"),
    };
    Ok((evaluation, figures))
}

fn ndcg(truth: &[LabelId], ranking: &[ScoredLabel]) -> f64 {
    let discount = |place: usize| 1.0 / ((place + 2) as f64).log2();
    let hits = ranking.iter().take(5).enumerate();
    let hits = hits.filter(|(_, scored)| truth.contains(&scored.label));
    let ideal: f64 = (0..truth.len().min(5)).map(discount).sum();
    hits.map(|(place, _)| discount(place)).sum::<f64>() / ideal.max(1e-9)
}

/// Of the mean of values.
fn standard_error(values: &[f64]) -> f64 {
    let count = values.len().max(2) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean).powi(2));
    (squares.sum::<f64>() / (count - 1.0) / count).sqrt()
}
