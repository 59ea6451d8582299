//! Which members are worth keeping, and how their scores become one.

use plethora_core::metrics::Evaluation;
use plethora_core::{Result, ScoredLabel};
use plethora_system::{Candidates, Fusion};

use super::held_back::HeldBack;
use super::rankings::{Labels, MemberRankings, candidates, measure};
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
        let worth = |kept: &[usize]| worth(&chosen(kept, members, held_back, labels));
        let mut best = worth(&kept);
        while kept.len() > 1 {
            let mut found: Option<(Vec<usize>, f64)> = None;
            for place in (0..kept.len()).rev() {
                let mut others = kept.clone();
                others.remove(place);
                let without = worth(&others);
                if found.as_ref().is_none_or(|(_, best)| without > *best) {
                    found = Some((others, without));
                }
            }
            match found {
                Some((others, without)) if without + MIN_GAIN >= best => {
                    (kept, best) = (others, without);
                }
                _ => break,
            }
        }
        // Where there is little to fit a forest to, one member may be better than all.
        for place in 0..members.len() {
            let alone = worth(&[place]);
            if alone > best {
                (kept, best) = (vec![place], alone);
            }
        }
        let best = Fused::of(&chosen(&kept, members, held_back, labels))?;
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

/// What some of the members say.
fn chosen(
    kept: &[usize],
    members: &[MemberRankings],
    held_back: &HeldBack,
    labels: &Labels,
) -> Candidates {
    let rankings: Vec<&MemberRankings> = kept.iter().map(|&place| &members[place]).collect();
    candidates(&rankings, held_back, labels)
}

/// nDCG@5 of members together, fused or by their mean, whichever is better.
fn worth(members: &Candidates) -> f64 {
    if members.num_members() > 1 && members.can_fit() {
        Fusion::quick_ndcg(members).max(members.mean_ndcg())
    } else {
        members.mean_ndcg()
    }
}

/// Members together.
struct Fused {
    fusion: Option<Fusion>,
    rankings: Vec<Vec<ScoredLabel>>,
}

impl Fused {
    fn of(members: &Candidates) -> Result<Self> {
        if members.num_members() > 1 && members.can_fit() {
            let fitted = Fusion::fit(members)?;
            if fitted.fusion.ndcg_after > fitted.fusion.ndcg_before {
                return Ok(Self {
                    rankings: fitted.rankings,
                    fusion: Some(fitted.fusion),
                });
            }
        }
        Ok(Self {
            rankings: members.mean_rankings(),
            fusion: None,
        })
    }
}
