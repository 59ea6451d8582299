//! Settings of the adaptive form that follow from the labels.

use plethora_core::{Error, IndexRows, grouped};

use super::choices::Facts;
use super::word_run::counts;
use crate::Result;
use crate::head::choose_cut_offs;
use crate::piece_config::PieceConfig;

/// Width of the layer before the labels up to [`MAX_WIDE_LABELS`], as on the paper's smaller data sets.
/// With it even a small encoder's labels take less than half the numbers that one layer over
/// the states of its last layers would, this layer and all.
const WIDE: usize = 768;

/// ... and beyond, where the labels' vectors are most of a model.
const NARROW: usize = 512;

/// Labels whose vectors are still small beside a base-size encoder.
const MAX_WIDE_LABELS: usize = 100_000;

impl Facts<'_> {
    /// Makes the choices that the adaptive form leaves, by how often labels occur.
    pub(super) fn choose_adaptive(
        &self,
        config: &mut PieceConfig,
        labels_of_documents: &IndexRows,
    ) -> Result<()> {
        if config.adaptive().is_none() {
            return Ok(());
        }
        let Some(adaptive) = &mut config.adaptive else {
            return Ok(());
        };
        if adaptive.hidden == 0 {
            adaptive.hidden = if self.num_labels <= MAX_WIDE_LABELS {
                WIDE
            } else {
                NARROW
            };
        }
        if adaptive.leaves_clusters_open() {
            choose_cut_offs(adaptive, &counts(labels_of_documents, self.num_labels));
        }
        adaptive.check_labels(self.num_labels)?;
        Ok(())
    }
}

/// Which labels are scored how, for users to see.
pub(super) fn adaptive_summary(config: &PieceConfig, num_labels: usize) -> String {
    let Some(adaptive) = config.adaptive() else {
        return String::new();
    };
    let clusters: Vec<String> = adaptive
        .cluster_sizes(num_labels)
        .into_iter()
        .enumerate()
        .map(|(cluster, size)| {
            let size = grouped(size as u64);
            format!("{size} by {}", adaptive.width(cluster))
        })
        .collect();
    match clusters.split_first() {
        Some((head, tails)) if !tails.is_empty() => {
            format!("a head of {head} and tails of {} of", tails.join(", "))
        }
        _ => format!("a head by {} of all", adaptive.width(0)),
    }
}

impl PieceConfig {
    /// Refuses settings of the adaptive form that still leave a choice.
    pub(super) fn check_adaptive_settled(&self) -> plethora_core::Result<()> {
        let Some(adaptive) = self.adaptive() else {
            return Ok(());
        };
        for (is_open, key) in [
            (adaptive.hidden == 0, "adaptive.hidden"),
            (adaptive.leaves_clusters_open(), "adaptive.cut_offs"),
        ] {
            if is_open {
                return Err(Error::config(key, "is left open"));
            }
        }
        Ok(())
    }
}
