//! A ranking compared with the truth: everything the formulas of metrics are made of.

use super::{Propensities, ScoredLabel};
use crate::LabelId;

/// One place of a ranking, judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub(super) label: LabelId,
    /// True where the label is a true one and comes for the first time.
    pub(super) is_hit: bool,
    /// True where the label came before.
    pub(super) is_repeat: bool,
    /// True where the label comes for the first time and its score reaches the threshold.
    pub(super) is_assigned: bool,
    /// The label's inverse propensity at a hit, else 0.
    pub(super) gain: f64,
}

/// A document's ranking, judged. Kept and refilled, so that judging does not allocate.
#[derive(Debug, Clone, Default)]
pub(super) struct JudgedDocument {
    /// The true labels, each once, rising.
    pub(super) truth: Vec<LabelId>,
    pub(super) places: Vec<Place>,
    /// Inverse propensities of the true labels, falling: the gains of the best ranking.
    pub(super) best_gains: Vec<f64>,
    by_label: Vec<u32>,
}

impl JudgedDocument {
    /// Judges `ranking`, best label first, by `truth`.
    pub(super) fn fill(
        &mut self,
        truth: &[LabelId],
        ranking: &[ScoredLabel],
        propensities: &Propensities,
        threshold: impl Fn(LabelId) -> f32,
    ) {
        self.truth.clear();
        self.truth.extend_from_slice(truth);
        self.truth.sort_unstable();
        self.truth.dedup();
        self.best_gains.clear();
        self.best_gains
            .extend(self.truth.iter().map(|&label| propensities.inverse(label)));
        self.best_gains
            .sort_unstable_by(|left, right| right.total_cmp(left));
        self.places.clear();
        self.places.extend(ranking.iter().map(|scored| {
            let is_hit = self.truth.binary_search(&scored.label).is_ok();
            Place {
                label: scored.label,
                is_hit,
                is_repeat: false,
                is_assigned: scored.score >= threshold(scored.label),
                gain: if is_hit {
                    propensities.inverse(scored.label)
                } else {
                    0.0
                },
            }
        }));
        self.void_repeats();
    }

    /// Turns places whose label came before into misses.
    fn void_repeats(&mut self) {
        let Self {
            places, by_label, ..
        } = self;
        by_label.clear();
        by_label.extend(0..places.len() as u32);
        by_label.sort_unstable_by_key(|&rank| (places[rank as usize].label, rank));
        for pair in by_label.windows(2) {
            if places[pair[0] as usize].label == places[pair[1] as usize].label {
                let repeat = &mut places[pair[1] as usize];
                (repeat.is_hit, repeat.is_assigned, repeat.gain) = (false, false, 0.0);
                repeat.is_repeat = true;
            }
        }
    }

    /// The first `k` places, or fewer where the ranking is shorter.
    pub(super) fn top(&self, k: usize) -> &[Place] {
        &self.places[..k.min(self.places.len())]
    }

    /// Number of hits in the first `k` places.
    pub(super) fn num_hits(&self, k: usize) -> f64 {
        self.top(k).iter().filter(|place| place.is_hit).count() as f64
    }

    /// Number of true labels.
    pub(super) fn num_true(&self) -> f64 {
        self.truth.len() as f64
    }

    /// Number of labels whose score reaches the threshold.
    pub(super) fn num_assigned(&self) -> f64 {
        self.places.iter().filter(|place| place.is_assigned).count() as f64
    }

    /// Number of true labels whose score reaches the threshold.
    pub(super) fn num_assigned_hits(&self) -> f64 {
        self.places
            .iter()
            .filter(|place| place.is_assigned && place.is_hit)
            .count() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_in_truth_and_ranking_count_once() {
        let scored = |label, score| ScoredLabel {
            label: LabelId(label),
            score,
        };
        let mut document = JudgedDocument::default();
        let propensities = Propensities::new(&[5; 9], 100, 0.55, 1.5);
        let truth = [7, 2, 7].map(LabelId);
        let ranking = [
            scored(7, 0.9),
            scored(7, 0.8),
            scored(1, 0.7),
            scored(1, 0.6),
        ];
        document.fill(&truth, &ranking, &propensities, |_| 0.5);
        assert_eq!(document.num_true(), 2.0);
        assert_eq!(document.num_hits(4), 1.0);
        assert_eq!(document.num_assigned(), 2.0);
        assert_eq!(document.num_assigned_hits(), 1.0);
        assert_eq!(document.best_gains.len(), 2);
    }
}
