//! One score from classifiers and neighbours.

use std::fmt;

use plethora_core::ScoredLabel;
use plethora_core::neighbours::{KnownDocuments, Neighbour, votes};
use plethora_linear::{by_rank, keep_best};

use super::config::DenseConfig;

/// Labels that the classifiers bring where no more are asked for: a constant, so that a ranking of five is
/// the start of a ranking of ten.
pub(super) const CANDIDATES: usize = 200;

/// What is said of a document before it becomes one score per label.
#[derive(Debug, Clone)]
pub(super) struct Said {
    /// The best labels of the classifiers.
    pub(super) classifiers: Vec<ScoredLabel>,
    /// The nearest documents by vectors and by terms.
    pub(super) neighbours: [Vec<Neighbour>; 2],
}

/// How much neighbours count, and how much the nearest of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Voice {
    pub(super) power: f32,
    pub(super) weight: f32,
}

/// How what is said becomes one score: that of the classifiers, plus the votes of neighbours by vectors and
/// by terms with their weights, divided by all weights, so that it lies between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Blend(pub(super) [Voice; 2]);

impl From<&DenseConfig> for Blend {
    fn from(config: &DenseConfig) -> Self {
        Self(config.voices().map(|voice| Voice {
            power: voice.power,
            weight: voice.weight,
        }))
    }
}

impl fmt::Display for Blend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [by_vectors, by_terms] = self.0;
        write!(
            formatter,
            "{} x neighbours by vectors (power {}), {} x by terms (power {})",
            by_vectors.weight, by_vectors.power, by_terms.weight, by_terms.power
        )
    }
}

impl Blend {
    /// Shares of a score: what the votes of all neighbours by vectors and by terms count at most.
    pub(super) fn shares(&self) -> [f32; 2] {
        self.0.map(|voice| voice.weight / self.sum())
    }

    fn sum(&self) -> f32 {
        1.0 + self.0.iter().map(|voice| voice.weight).sum::<f32>()
    }

    /// The best labels, best first.
    pub(super) fn rank(
        &self,
        said: &Said,
        documents: &KnownDocuments,
        top_k: usize,
    ) -> Vec<ScoredLabel> {
        let mut parts: Vec<ScoredLabel> = Vec::new();
        let mut add = |scored: &[ScoredLabel], share: f32| {
            parts.extend(scored.iter().map(|one| ScoredLabel {
                label: one.label,
                score: share * one.score,
            }));
        };
        add(&said.classifiers, 1.0 / self.sum());
        let labels_of = |document| documents.labels(document).iter().copied();
        let voices = self.0.iter().zip(self.shares());
        for (neighbours, (voice, share)) in said.neighbours.iter().zip(voices) {
            if share > 0.0 {
                add(&votes(neighbours, voice.power, labels_of), share);
            }
        }
        // Stable: the parts of a score add up in one order.
        parts.sort_by_key(|one| one.label);
        let mut ranking: Vec<ScoredLabel> = parts
            .chunk_by(|left, right| left.label == right.label)
            .map(|parts| ScoredLabel {
                label: parts[0].label,
                score: parts.iter().map(|part| part.score).sum(),
            })
            .collect();
        keep_best(&mut ranking, top_k);
        ranking.sort_unstable_by(by_rank);
        ranking
    }
}

#[cfg(test)]
mod tests {
    use plethora_core::neighbours::DocumentNames;
    use plethora_core::{IndexRows, LabelId};

    use super::*;

    /// Two documents, with the labels 0 and 1, and 1 alone.
    fn documents() -> KnownDocuments {
        let mut names = DocumentNames::default();
        names.push("first", None);
        names.push("second", None);
        let labels: IndexRows = [vec![0, 1], vec![1]].into_iter().collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("documents.safetensors");
        KnownDocuments::write(&path, &names, &labels, 0..2).unwrap();
        KnownDocuments::open(&path, 3).unwrap()
    }

    fn ranked(blend: Blend) -> Vec<(u32, f32)> {
        let near = |document| Neighbour {
            document,
            similarity: 0.5,
        };
        let said = Said {
            classifiers: vec![ScoredLabel {
                label: LabelId(2),
                score: 0.6,
            }],
            neighbours: [vec![near(0), near(1)], vec![near(1)]],
        };
        let ranking = blend.rank(&said, &documents(), 9);
        ranking.iter().map(|one| (one.label.0, one.score)).collect()
    }

    fn voice(weight: f32) -> Voice {
        Voice { power: 1.0, weight }
    }

    #[test]
    fn classifiers_and_votes_add_up_by_their_weights() {
        let found = ranked(Blend([voice(1.0), voice(2.0)]));
        let expected = [(1, 0.75), (2, 0.15), (0, 0.125)];
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.0, expected.0);
            assert!((found.1 - expected.1).abs() < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn votes_without_weight_bring_no_labels() {
        assert_eq!(ranked(Blend([voice(0.0); 2])), [(2, 0.6)]);
    }
}
