//! One score from a network and the labels of the nearest training documents.
//!
//! With similarities `s_i` of the k nearest and temperature T, neighbour i has the share `exp(s_i / T)` of all such
//! numbers of the votes; a label's votes are the shares of the neighbours that have it. Weight w leaves 1 - w
//! to the network's probability.

use std::fmt;

use plethora_core::neighbours::{KnownDocuments, Neighbour, shares, votes};
use plethora_core::{LabelId, Result, ScoredLabel};
use plethora_linear::{by_rank, keep_best};
use plethora_system::settings::Auto;
use rayon::prelude::*;

use super::neighbours_config::VectorNeighboursConfig;
use crate::systems::validation::{DEPTH, validation};

/// Labels that the network brings where no more are asked for: a constant, so that a ranking of five is the
/// start of a ranking of ten.
pub(super) const CANDIDATES: usize = 200;

/// Weights to choose from.
const WEIGHTS: [f32; 10] = [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7];

/// Temperatures to choose from.
const TEMPERATURES: [f32; 7] = [0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5];

/// What neighbours count where there are no documents to choose by.
const USUAL: Mix = Mix {
    weight: 0.2,
    temperature: 0.05,
};

/// How much neighbours count, and how much the nearest of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mix {
    pub(super) weight: f32,
    pub(super) temperature: f32,
}

/// What is said of a document before it becomes one score per label.
#[derive(Debug, Clone, Default)]
pub(super) struct SaidOf {
    /// The best labels of the network.
    pub(super) network: Vec<ScoredLabel>,
    /// The nearest training documents.
    pub(super) neighbours: Vec<Neighbour>,
}

impl From<&VectorNeighboursConfig> for Mix {
    fn from(config: &VectorNeighboursConfig) -> Self {
        let or = |value: Auto<f64>, usual: f32| value.set().map_or(usual, |value| value as f32);
        Self {
            weight: or(config.weight, USUAL.weight),
            temperature: or(config.temperature, USUAL.temperature),
        }
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            weight,
            temperature,
        } = self;
        write!(
            formatter,
            "{weight} for neighbours at temperature {temperature}"
        )
    }
}

impl Mix {
    /// Each neighbour's share of the votes.
    pub(super) fn shares(self, neighbours: &[Neighbour]) -> Vec<f32> {
        shares(&self.warmed(neighbours), 1.0)
    }

    /// The best labels, best first.
    pub(super) fn rank(
        self,
        said: &SaidOf,
        documents: &KnownDocuments,
        top_k: usize,
    ) -> Vec<ScoredLabel> {
        let labels_of = |document| documents.labels(document).iter().copied();
        let voted = match self.weight {
            0.0 => Vec::new(),
            _ => votes(&self.warmed(&said.neighbours), 1.0, labels_of),
        };
        // Without a neighbour the network alone is left.
        let weight = if voted.is_empty() { 0.0 } else { self.weight };
        let part = |scored: &[ScoredLabel], share: f32| -> Vec<ScoredLabel> {
            let scored = scored.iter().map(|one| ScoredLabel {
                label: one.label,
                score: share * one.score,
            });
            scored.collect()
        };
        let mut parts = part(&said.network, 1.0 - weight);
        parts.extend(part(&voted, weight));
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

    /// Similarities as the softmax weighs them, counted from the nearest, which comes first.
    fn warmed(self, neighbours: &[Neighbour]) -> Vec<Neighbour> {
        let nearest = neighbours.first().map_or(0.0, |one| one.similarity);
        let warmed = neighbours.iter().map(|one| Neighbour {
            similarity: ((one.similarity - nearest) / self.temperature).exp(),
            ..*one
        });
        warmed.collect()
    }
}

/// Documents that the network was not trained on, with what is said of them and what is true.
pub(super) struct Judged<'a> {
    pub(super) said: Vec<SaidOf>,
    pub(super) truths: Vec<Vec<LabelId>>,
    pub(super) documents: &'a KnownDocuments,
    pub(super) num_labels: usize,
}

impl Judged<'_> {
    /// The mix that ranks best of those that the settings leave, and its nDCG@5; among equals the one that
    /// leaves most to the network.
    pub(super) fn choose(&self, config: &VectorNeighboursConfig) -> Result<(Mix, f64)> {
        let given = Mix::from(config);
        let choices = |value: Auto<f64>, given: f32, all: &'static [f32]| match value {
            Auto::Auto => all.to_vec(),
            Auto::Set(_) => vec![given],
        };
        let mut best = None;
        for weight in choices(config.weight, given.weight, &WEIGHTS) {
            for temperature in choices(config.temperature, given.temperature, &TEMPERATURES) {
                let mix = Mix {
                    weight,
                    temperature,
                };
                let score = self.quality(mix)?;
                if best.is_none_or(|(_, highest)| score > highest) {
                    best = Some((mix, score));
                }
                // Without a weight the temperature is of no matter.
                if weight == 0.0 {
                    break;
                }
            }
        }
        Ok(best.expect("there is always a choice"))
    }

    fn quality(&self, mix: Mix) -> Result<f64> {
        let rankings: Vec<_> = (self.said.par_iter())
            .map(|said| mix.rank(said, self.documents, DEPTH))
            .collect();
        let documents = self.truths.iter().cloned().zip(rankings);
        Ok(validation(self.num_labels, documents)?.score)
    }
}

#[cfg(test)]
mod tests {
    use plethora_core::IndexRows;
    use plethora_core::neighbours::DocumentNames;

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

    fn said() -> SaidOf {
        let near = |document, similarity| Neighbour {
            document,
            similarity,
        };
        SaidOf {
            network: vec![ScoredLabel {
                label: LabelId(2),
                score: 0.6,
            }],
            neighbours: vec![near(1, 0.9), near(0, 0.8)],
        }
    }

    fn ranked(mix: Mix, said: &SaidOf) -> Vec<(u32, f32)> {
        let ranking = mix.rank(said, &documents(), 9);
        ranking.iter().map(|one| (one.label.0, one.score)).collect()
    }

    #[test]
    fn votes_are_a_softmax_of_similarities() {
        let mix = Mix {
            weight: 0.5,
            temperature: 0.1,
        };
        // exp(9) and exp(8), divided by their sum.
        let share = 1.0 / (1.0 + 1.0_f32.exp());
        let expected = [(1, 0.5), (2, 0.3), (0, 0.5 * share)];
        let found = ranked(mix, &said());
        assert_eq!(found.len(), 3);
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.0, expected.0);
            assert!((found.1 - expected.1).abs() < 1e-6, "{found:?}");
        }
        let shares = mix.shares(&said().neighbours);
        assert!((shares[1] - share).abs() < 1e-6);
    }

    #[test]
    fn no_weight_and_no_neighbours_leave_the_network_alone() {
        let nothing = Mix {
            weight: 0.0,
            temperature: 0.1,
        };
        assert_eq!(ranked(nothing, &said()), [(2, 0.6)]);
        let alone = SaidOf {
            neighbours: Vec::new(),
            ..said()
        };
        assert_eq!(ranked(USUAL, &alone), [(2, 0.6)]);
    }

    #[test]
    fn the_mix_is_chosen_by_what_is_true() {
        let known = documents();
        let chosen = |truth: u32, config: &VectorNeighboursConfig| {
            let judged = Judged {
                said: vec![said()],
                truths: vec![vec![LabelId(truth)]],
                documents: &known,
                num_labels: 3,
            };
            judged.choose(config).unwrap()
        };
        let open = VectorNeighboursConfig {
            num_neighbours: 2,
            ..VectorNeighboursConfig::default()
        };
        assert_eq!(chosen(2, &open).0.weight, 0.0);
        let (mix, score) = chosen(1, &open);
        assert!(mix.weight >= 0.4, "{mix}");
        assert_eq!(score, 1.0);
        let set = VectorNeighboursConfig {
            weight: 0.1.into(),
            ..open
        };
        assert_eq!(chosen(1, &set).0.weight, 0.1);
    }
}
