//! Which members are worth keeping, and how their scores become one.

use plethora_core::metrics::Evaluation;
use plethora_core::{Result, ScoredLabel};
use plethora_system::Fusion;

use super::held_back::HeldBack;
use super::rankings::{Labels, MemberRankings, fitter, measure};
use super::report::HeldBackFigures;

/// A member that adds less to nDCG@5 is not worth its time at prediction.
const MIN_GAIN: f64 = 0.0005;

/// How the members become one model.
pub(super) struct Consensus {
    /// Places of the members that are kept.
    pub(super) kept: Vec<usize>,
    /// The forest, where there was enough to fit one to.
    pub(super) fusion: Option<Fusion>,
    /// What it ranks for held-back documents, unseen.
    pub(super) rankings: Vec<Vec<ScoredLabel>>,
    pub(super) evaluation: Evaluation,
    pub(super) figures: HeldBackFigures,
}

impl Consensus {
    /// Drops the member that is missed least, again and again, as long as next to nothing is lost by it;
    /// of equal ones the dearest.
    pub(super) fn find(
        members: &[MemberRankings],
        held_back: &HeldBack,
        labels: &Labels,
        num_documents: u64,
    ) -> Result<Self> {
        let mut kept: Vec<usize> = (0..members.len()).collect();
        let mut best = Candidate::of(&kept, members, held_back, labels)?;
        while kept.len() > 1 {
            let mut found: Option<(Vec<usize>, Candidate)> = None;
            for place in (0..kept.len()).rev() {
                let mut others = kept.clone();
                others.remove(place);
                let without = Candidate::of(&others, members, held_back, labels)?;
                if found
                    .as_ref()
                    .is_none_or(|(_, best)| without.ndcg > best.ndcg)
                {
                    found = Some((others, without));
                }
            }
            match found {
                Some((others, without)) if without.ndcg + MIN_GAIN >= best.ndcg => {
                    (kept, best) = (others, without);
                }
                _ => break,
            }
        }
        let (evaluation, figures) = measure(&best.rankings, labels, num_documents)?;
        Ok(Self {
            kept,
            fusion: best.fusion,
            rankings: best.rankings,
            evaluation,
            figures,
        })
    }
}

/// Some of the members, together.
struct Candidate {
    fusion: Option<Fusion>,
    rankings: Vec<Vec<ScoredLabel>>,
    ndcg: f64,
}

impl Candidate {
    fn of(
        kept: &[usize],
        members: &[MemberRankings],
        held_back: &HeldBack,
        labels: &Labels,
    ) -> Result<Self> {
        let rankings: Vec<&MemberRankings> = kept.iter().map(|&place| &members[place]).collect();
        let fitter = fitter(&rankings, held_back, labels);
        if kept.len() > 1 && fitter.can_fit() {
            let fitted = fitter.fit()?;
            if fitted.fusion.ndcg_after > fitted.fusion.ndcg_before {
                return Ok(Self {
                    ndcg: fitted.fusion.ndcg_after,
                    rankings: fitted.rankings,
                    fusion: Some(fitted.fusion),
                });
            }
        }
        Ok(Self {
            ndcg: fitter.mean_ndcg(),
            rankings: fitter.mean_rankings(),
            fusion: None,
        })
    }
}
