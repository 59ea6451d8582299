//! Which labels of a ranking a document gets.

use std::sync::Arc;

use plethora_core::corpus::Document;
use plethora_core::{Result, ScoredLabel};

use crate::{Predictor, RankOptions, ScoreKind};

/// Labels per document where neither a number nor a score limits them.
pub const USUAL_TOP_K: usize = 10;

/// Labels that are ranked at first where a score limits them: nearly always enough.
const FIRST_DEPTH: usize = 100;

/// The labels that a document gets: so many, or all down to a score, or both.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// At most so many labels; where absent, [`USUAL_TOP_K`] without a score to reach, and else as
    /// many as reach it.
    pub top_k: Option<usize>,
    /// The score that labels have to reach.
    pub cutoff: Option<Cutoff>,
}

/// The score from which on a label is assigned.
#[derive(Debug, Clone, PartialEq)]
pub enum Cutoff {
    /// The same for all labels.
    Score(f32),
    /// One of each label, in the order of their ids.
    PerLabel(Arc<[f32]>),
}

/// How deep to rank, without knowing what labels there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Depth {
    /// Labels per document to begin with.
    pub first: usize,
    /// Labels per document at most.
    pub most: usize,
    /// Documents whose last label still has this score are ranked deeper.
    pub least: f32,
}

impl Cutoff {
    /// Whether a label is assigned.
    pub fn admits(&self, scored: &ScoredLabel) -> bool {
        match self {
            Self::Score(least) => scored.score >= *least,
            Self::PerLabel(least) => scored.score >= least[scored.label.index()],
        }
    }

    /// The score below which no label is assigned.
    fn least(&self) -> f32 {
        match self {
            Self::Score(least) => *least,
            Self::PerLabel(least) => least.iter().copied().fold(f32::INFINITY, f32::min),
        }
    }
}

impl Selection {
    /// How deep to rank where at most `most` labels may be given.
    pub fn depth(&self, most: usize) -> Depth {
        match (self.top_k, &self.cutoff) {
            (None, Some(cutoff)) => Depth {
                first: FIRST_DEPTH.min(most),
                most,
                least: cutoff.least(),
            },
            (top_k, _) => Depth::fixed(top_k.unwrap_or(USUAL_TOP_K).min(most)),
        }
    }

    /// Leaves in a ranking what is wanted of it.
    pub fn apply(&self, ranking: &mut Vec<ScoredLabel>) {
        if let Some(top_k) = self.top_k {
            ranking.truncate(top_k);
        }
        if let Some(cutoff) = &self.cutoff {
            ranking.retain(|scored| cutoff.admits(scored));
        }
    }
}

impl Depth {
    /// So many labels, whatever their scores.
    pub fn fixed(top_k: usize) -> Self {
        Self {
            first: top_k,
            most: top_k,
            least: f32::INFINITY,
        }
    }
}

impl Predictor {
    /// The labels that each document gets, best first.
    ///
    /// # Errors
    /// As those of [`rank`](Self::rank).
    pub fn select(
        &self,
        documents: &[Document],
        selection: &Selection,
        beam: Option<usize>,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        let depth = selection.depth(self.labels().len());
        let mut rankings = self.rank_down(documents, depth, beam, ScoreKind::Prob)?;
        for ranking in &mut rankings {
            selection.apply(ranking);
        }
        Ok(rankings)
    }

    /// Ranks as deep as scores reach: documents whose last label is still good enough are ranked
    /// again, twice as deep.
    ///
    /// # Errors
    /// As those of [`rank`](Self::rank).
    pub fn rank_down(
        &self,
        documents: &[Document],
        depth: Depth,
        beam: Option<usize>,
        scores: ScoreKind,
    ) -> Result<Vec<Vec<ScoredLabel>>> {
        deepen(documents, depth, |documents, top_k| {
            let options = RankOptions { top_k, beam };
            match scores {
                ScoreKind::Prob => self.rank(documents, options),
                ScoreKind::Raw => Ok(self.rank_raw(documents, options)?.labels),
            }
        })
    }
}

fn deepen(
    documents: &[Document],
    depth: Depth,
    rank: impl Fn(&[Document], usize) -> Result<Vec<Vec<ScoredLabel>>>,
) -> Result<Vec<Vec<ScoredLabel>>> {
    let mut top_k = depth.first;
    let mut rankings = rank(documents, top_k)?;
    let is_cut = |ranking: &Vec<ScoredLabel>, top_k: usize| {
        ranking.len() >= top_k && ranking.last().is_some_and(|one| one.score >= depth.least)
    };
    let mut open: Vec<usize> = (0..documents.len()).collect();
    loop {
        open.retain(|&number| is_cut(&rankings[number], top_k));
        if open.is_empty() || top_k >= depth.most {
            return Ok(rankings);
        }
        top_k = top_k.saturating_mul(2).min(depth.most);
        let again: Vec<Document> = open
            .iter()
            .map(|&number| documents[number].clone())
            .collect();
        for (&number, deeper) in open.iter().zip(rank(&again, top_k)?) {
            rankings[number] = deeper;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use plethora_core::LabelId;
    use plethora_core::corpus::Content;

    use super::*;

    /// Documents whose text is the number of labels with the score 0.5; the others have 0.1.
    fn documents(good: &[usize]) -> Vec<Document> {
        let document = |number: &usize| Document {
            id: number.to_string(),
            content: Content::Text(number.to_string()),
            labels: Vec::new(),
        };
        good.iter().map(document).collect()
    }

    const NUM_LABELS: usize = 1000;

    fn rank(documents: &[Document], top_k: usize) -> Vec<Vec<ScoredLabel>> {
        let one = |document: &Document| {
            let good: usize = document.id.parse().unwrap();
            let scored = |label: usize| ScoredLabel {
                label: LabelId(label as u32),
                score: if label < good { 0.5 } else { 0.1 },
            };
            (0..top_k.min(NUM_LABELS)).map(scored).collect()
        };
        documents.iter().map(one).collect()
    }

    #[expect(clippy::needless_for_each, reason = "one line")]
    fn counts(selection: &Selection, good: &[usize]) -> (Vec<usize>, Vec<(usize, usize)>) {
        let calls = RefCell::new(Vec::new());
        let depth = selection.depth(NUM_LABELS);
        let mut rankings = deepen(&documents(good), depth, |documents, top_k| {
            calls.borrow_mut().push((documents.len(), top_k));
            Ok(rank(documents, top_k))
        })
        .unwrap();
        rankings
            .iter_mut()
            .for_each(|ranking| selection.apply(ranking));
        (rankings.iter().map(Vec::len).collect(), calls.into_inner())
    }

    #[expect(clippy::unnecessary_wraps, reason = "as the field has it")]
    fn from(score: f32) -> Option<Cutoff> {
        Some(Cutoff::Score(score))
    }

    #[test]
    fn a_score_gives_all_labels_that_reach_it_and_ranks_deeper_only_where_it_must() {
        let selection = Selection {
            top_k: None,
            cutoff: from(0.3),
        };
        let (found, calls) = counts(&selection, &[3, 99, 100, 250, 1000]);
        assert_eq!(found, [3, 99, 100, 250, 1000]);
        assert_eq!(calls, [(5, 100), (3, 200), (2, 400), (1, 800), (1, 1000)]);
    }

    #[test]
    fn a_number_of_labels_still_limits_them() {
        let limited = |top_k, cutoff| Selection { top_k, cutoff };
        assert_eq!(counts(&limited(None, None), &[3, 500]).0, [10, 10]);
        assert_eq!(counts(&limited(Some(20), None), &[3, 500]).0, [20, 20]);
        let (found, calls) = counts(&limited(Some(20), from(0.3)), &[3, 500]);
        assert_eq!(found, [3, 20]);
        assert_eq!(calls, [(2, 20)]);
    }

    #[test]
    fn the_lowest_threshold_of_all_labels_says_how_deep() {
        let mut thresholds = vec![0.6; NUM_LABELS];
        thresholds[150] = 0.1;
        let selection = Selection {
            top_k: None,
            cutoff: Some(Cutoff::PerLabel(thresholds.into())),
        };
        assert_eq!(counts(&selection, &[0]).0, [1]);
    }
}
