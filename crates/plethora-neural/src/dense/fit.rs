//! How much neighbours count, chosen by documents that the classifiers were not trained on.

use plethora_core::neighbours::KnownDocuments;
use plethora_core::{LabelId, Result};
use plethora_system::RunContext;
use rayon::prelude::*;

use super::blend::{Blend, Said, Voice};
use super::config::OpenDenseConfig;
use crate::systems::validation::{DEPTH, validation};

/// Powers to choose from.
const POWERS: [f32; 9] = [0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0];

/// Weights to choose from.
const WEIGHTS: [f32; 12] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0];

/// What neighbours by vectors and by terms count where there are too few documents to choose by.
const USUAL: [Voice; 2] = [
    Voice {
        power: 8.0,
        weight: 0.5,
    },
    Voice {
        power: 2.0,
        weight: 0.5,
    },
];

/// Rounds after which a choice stands, whether another would be better or not.
const MAX_ROUNDS: usize = 4;

/// Documents with what is said of them, and what is true.
pub(super) struct Judged<'a> {
    pub(super) said: Vec<Said>,
    pub(super) truths: Vec<Vec<LabelId>>,
    pub(super) documents: &'a KnownDocuments,
    pub(super) num_labels: usize,
}

/// What was chosen, and how well it ranks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chosen {
    pub(super) blend: Blend,
    pub(super) score: f64,
}

/// The blend that the settings have, with the usual numbers where they leave some open.
pub(super) fn usual(config: &OpenDenseConfig) -> Blend {
    let mut blend = Blend(USUAL);
    for (voice, config) in blend.0.iter_mut().zip(config.voices()) {
        voice.power = config.power.unwrap_or_else(|| voice.power);
        voice.weight = match config.num_neighbours {
            0 => 0.0,
            _ => config.weight.unwrap_or_else(|| voice.weight),
        };
    }
    blend
}

impl Judged<'_> {
    /// The best blend of those that the settings leave open, one number after the other.
    pub(super) fn choose(&self, config: &OpenDenseConfig, run: &RunContext<'_>) -> Result<Chosen> {
        let blend = usual(config);
        let score = self.quality(&blend)?;
        let mut best = Chosen { blend, score };
        for _ in 0..MAX_ROUNDS {
            let before = best.score;
            for (place, voice) in config.voices().into_iter().enumerate() {
                if voice.num_neighbours == 0 {
                    continue;
                }
                if voice.weight.is_auto() {
                    best = self.better(best, run, &WEIGHTS, |blend, weight| {
                        blend.0[place].weight = weight;
                    })?;
                }
                if voice.power.is_auto() {
                    best = self.better(best, run, &POWERS, |blend, power| {
                        blend.0[place].power = power;
                    })?;
                }
            }
            if best.score <= before {
                break;
            }
        }
        Ok(best)
    }

    /// The best of the best so far and those with one number changed.
    fn better(
        &self,
        mut best: Chosen,
        run: &RunContext<'_>,
        values: &[f32],
        change: impl Fn(&mut Blend, f32),
    ) -> Result<Chosen> {
        let start = best.blend;
        for &value in values {
            run.check_interrupt()?;
            let mut blend = start;
            change(&mut blend, value);
            let score = self.quality(&blend)?;
            if score > best.score {
                best = Chosen { blend, score };
            }
        }
        Ok(best)
    }

    fn quality(&self, blend: &Blend) -> Result<f64> {
        let rankings: Vec<_> = (self.said.par_iter())
            .map(|said| blend.rank(said, self.documents, DEPTH))
            .collect();
        let documents = self.truths.iter().cloned().zip(rankings);
        Ok(validation(self.num_labels, documents)?.score)
    }
}
