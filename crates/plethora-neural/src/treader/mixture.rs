//! What the network says of labels and what the neighbours say, mixed.

use plethora_core::ScoredLabel;

/// Labels of the network that a mixture looks at. Labels behind them are as good as impossible to it, and
/// have what the neighbours say alone.
pub(crate) const MIXED_DEPTH: usize = 100;

/// The best `keep` labels by score, of which `share` is that of their votes and the rest that of the network's
/// `ranking`. `votes` are by label.
pub(crate) fn mixed(
    ranking: &[ScoredLabel],
    votes: &[ScoredLabel],
    share: f32,
    keep: usize,
) -> Vec<ScoredLabel> {
    let mut of_votes: Vec<f32> = votes.iter().map(|vote| share * vote.score).collect();
    let mut labels: Vec<ScoredLabel> = Vec::with_capacity(ranking.len() + votes.len());
    for one in ranking {
        let vote = votes.binary_search_by_key(&one.label, |vote| vote.label);
        let voted = vote.map_or(0.0, |place| std::mem::take(&mut of_votes[place]));
        labels.push(ScoredLabel {
            label: one.label,
            score: (1.0 - share) * one.score + voted,
        });
    }
    let others = votes.iter().zip(of_votes);
    labels.extend(
        others
            .filter(|(_, score)| *score > 0.0)
            .map(|(vote, score)| ScoredLabel {
                label: vote.label,
                score,
            }),
    );
    // Stable: of equal scores the network's first label comes first.
    labels.sort_by(|left, right| right.score.total_cmp(&left.score));
    labels.truncate(keep);
    labels
}

#[cfg(test)]
mod tests {
    use plethora_core::LabelId;

    use super::*;

    fn labels(scores: &[(u32, f32)]) -> Vec<ScoredLabel> {
        let labels = scores.iter().map(|&(label, score)| ScoredLabel {
            label: LabelId(label),
            score,
        });
        labels.collect()
    }

    #[test]
    fn scores_are_those_of_the_network_and_of_votes_by_their_share() {
        let ranking = labels(&[(4, 0.8), (1, 0.4), (7, 0.2)]);
        let votes = labels(&[(1, 1.0), (5, 0.6), (7, 0.0)]);
        let half = labels(&[(1, 0.7), (4, 0.4), (5, 0.3), (7, 0.1)]);
        assert_eq!(mixed(&ranking, &votes, 0.5, 9), half);
        assert_eq!(mixed(&ranking, &votes, 0.5, 2), half[..2]);
        assert_eq!(mixed(&ranking, &votes, 0.0, 9), ranking);
        let votes_alone = labels(&[(1, 1.0), (5, 0.6), (4, 0.0), (7, 0.0)]);
        assert_eq!(mixed(&ranking, &votes, 1.0, 9), votes_alone);
        assert_eq!(mixed(&ranking, &[], 0.5, 1), labels(&[(4, 0.4)]));
    }
}
