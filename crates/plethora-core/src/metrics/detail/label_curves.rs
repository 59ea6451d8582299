//! AUC and AUPR of each label, from rankings that hold a few labels of each document.

use rayon::prelude::*;

use crate::{LabelId, ScoredLabel};

/// Places of a ranking that count; what lies deeper is tied with what is not ranked.
const MAX_PLACES: usize = 100;

/// Collects the scores that documents give to labels: eight bytes per place of a ranking.
#[derive(Debug, Clone, Default)]
pub(super) struct LabelCurves {
    num_documents: u64,
    /// Label above, score below, of documents for which the label is true, and of the others. Whole
    /// numbers that are ordered as scores are.
    hits: Vec<u64>,
    misses: Vec<u64>,
}

/// How well one label's documents stand before the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LabelCurve {
    pub(super) label: LabelId,
    pub(super) num_true: u64,
    /// Probability that a document with the label has a higher score than one without, ties as half.
    pub(super) auc: f64,
    /// Average precision: the precision at each distinct score, weighted by the recall it adds.
    pub(super) aupr: f64,
}

impl LabelCurves {
    /// Takes in a ranking; `is_hit` tells for each place whether it is a hit. Places that repeat a
    /// label are to be left out.
    pub(super) fn add<'a>(&mut self, places: impl Iterator<Item = (&'a ScoredLabel, bool)>) {
        self.num_documents += 1;
        for (scored, is_hit) in places.take(MAX_PLACES) {
            let entry = (u64::from(scored.label.0) << 32) | u64::from(ordered(scored.score));
            if is_hit {
                self.hits.push(entry);
            } else {
                self.misses.push(entry);
            }
        }
    }

    /// The curves of `labels`, which come with the number of documents for which they are true and
    /// in the order of their ids. A label that is true for no document or for all has none.
    pub(super) fn finish(mut self, labels: &[(LabelId, u64)]) -> Vec<LabelCurve> {
        self.hits.par_sort_unstable();
        self.misses.par_sort_unstable();
        let curve = |&(label, num_true): &(LabelId, u64)| {
            let num_false = self.num_documents.saturating_sub(num_true);
            if num_true == 0 || num_false == 0 {
                return None;
            }
            let hits = of_label(&self.hits, label);
            let misses = of_label(&self.misses, label);
            Some(LabelCurve {
                label,
                num_true,
                auc: auc(hits, misses, num_true as f64, num_false as f64),
                aupr: aupr(hits, misses, num_true as f64, num_false as f64),
            })
        };
        labels.par_iter().filter_map(curve).collect()
    }
}

/// A whole number that is ordered as scores are.
fn ordered(score: f32) -> u32 {
    // Zero has two signs and one value.
    let bits = (score + 0.0).to_bits();
    if bits >> 31 == 0 {
        bits | (1 << 31)
    } else {
        !bits
    }
}

fn of_label(entries: &[u64], label: LabelId) -> &[u64] {
    let start = u64::from(label.0) << 32;
    let entries = &entries[entries.partition_point(|&entry| entry < start)..];
    let end = entries.partition_point(|&entry| entry >> 32 == u64::from(label.0));
    &entries[..end]
}

fn auc(hits: &[u64], misses: &[u64], num_true: f64, num_false: f64) -> f64 {
    let num_unranked = num_false - misses.len() as f64;
    let mut wins = 0.0;
    for hit in hits {
        let below = misses.partition_point(|miss| miss < hit);
        let ties = misses[below..].partition_point(|miss| miss == hit);
        wins += num_unranked + below as f64 + 0.5 * ties as f64;
    }
    wins += 0.5 * (num_true - hits.len() as f64) * num_unranked;
    wins / (num_true * num_false)
}

fn aupr(hits: &[u64], misses: &[u64], num_true: f64, num_false: f64) -> f64 {
    let (mut seen_hits, mut seen_misses) = (hits.len(), misses.len());
    let (mut total, mut num_found, mut num_seen) = (0.0, 0.0, 0.0);
    while seen_hits > 0 {
        let score = hits[seen_hits - 1];
        let first_hit = hits[..seen_hits].partition_point(|&hit| hit < score);
        let first_miss = misses[..seen_misses].partition_point(|&miss| miss < score);
        let more = (seen_hits - first_hit) as f64;
        num_found += more;
        num_seen += more + (seen_misses - first_miss) as f64;
        total += more * num_found / num_seen;
        (seen_hits, seen_misses) = (first_hit, first_miss);
    }
    // All that is not ranked comes last and at once.
    total += (num_true - num_found) * num_true / (num_true + num_false);
    total / num_true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels with scores, and the true labels.
    type Ranked<'a> = (&'a [(u32, f32)], &'a [u32]);

    fn curves(documents: &[Ranked<'_>], label: u32) -> LabelCurve {
        let mut curves = LabelCurves::default();
        let mut num_true = 0;
        for (ranking, truth) in documents {
            let ranking: Vec<ScoredLabel> = ranking
                .iter()
                .map(|&(label, score)| ScoredLabel {
                    label: LabelId(label),
                    score,
                })
                .collect();
            curves.add(
                ranking
                    .iter()
                    .map(|place| (place, truth.contains(&place.label.0))),
            );
            num_true += u64::from(truth.contains(&label));
        }
        curves.finish(&[(LabelId(label), num_true)])[0]
    }

    #[test]
    fn a_perfect_ranking_has_one_and_an_empty_one_is_a_coin() {
        let perfect = curves(&[(&[(3, 0.9)], &[3]), (&[(3, 0.1)], &[]), (&[], &[])], 3);
        assert_eq!((perfect.auc, perfect.aupr), (1.0, 1.0));
        let empty = curves(
            &[(&[], &[3]), (&[(4, 0.3)], &[]), (&[], &[]), (&[], &[])],
            3,
        );
        assert_eq!((empty.auc, empty.aupr), (0.5, 0.25));
    }

    #[test]
    fn ties_count_as_half() {
        let tied = curves(&[(&[(1, 0.5)], &[1]), (&[(1, 0.5)], &[])], 1);
        assert_eq!((tied.auc, tied.aupr), (0.5, 0.5));
    }

    #[test]
    fn labels_of_all_documents_or_of_none_have_no_curve() {
        let mut curves = LabelCurves::default();
        curves.add(std::iter::empty());
        assert!(
            curves
                .finish(&[(LabelId(0), 1), (LabelId(1), 0)])
                .is_empty()
        );
    }

    #[test]
    fn scores_keep_their_order_as_whole_numbers() {
        let scores = [f32::NEG_INFINITY, -2.0, -0.5, 0.0, 1e-30, 0.5, 1.0, 7.0];
        assert!(scores.map(ordered).is_sorted());
        assert_eq!(ordered(-0.0), ordered(0.0));
    }
}
