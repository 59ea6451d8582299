//! All pairs of models.

use plethora_core::metrics::{BootstrapConfig, Comparison, Draws, TopLabels};

use super::content::{ModelReport, PairReport};

/// What a model leaves behind for comparisons.
pub(super) struct Comparable {
    pub(super) draws: Draws,
    pub(super) top: TopLabels,
}

/// Compares each model with each later one.
pub(super) fn pairs(
    models: &[ModelReport],
    comparables: &[Comparable],
    config: &BootstrapConfig,
) -> Vec<PairReport> {
    let all: Vec<(&ModelReport, &Comparable)> = models.iter().zip(comparables).collect();
    let mut pairs = Vec::new();
    for (place, (first, one)) in all.iter().enumerate() {
        for (second, other) in &all[place + 1..] {
            let values = |key: &str| {
                let (one, other) = (first.metrics.get(key)?, second.metrics.get(key)?);
                Some((one.value, other.value))
            };
            let comparison = Comparison::new(&one.draws, &other.draws, config, values);
            pairs.push(PairReport {
                first: first.name.clone(),
                second: second.name.clone(),
                overlap: one.top.overlaps(&other.top),
                differences: comparison.differences,
            });
        }
    }
    pairs
}
