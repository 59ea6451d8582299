//! Settings of the adaptive form that follow from the labels.

use plethora_core::{IndexRows, Result, grouped};

use super::config::{AdaptiveConfig, OpenAdaptiveConfig};
use super::frequency::choose_cut_offs;
use crate::systems::label_clusters::counts;

/// Width of the layer before the labels up to [`MAX_WIDE_LABELS`], as on the paper's smaller data sets.
/// With it even a small encoder's labels take less than half the numbers that one layer over
/// the states of its last layers would, this layer and all.
const WIDE: usize = 768;

/// ... and beyond, where the labels' vectors are most of a model.
const NARROW: usize = 512;

/// Labels whose vectors are still small beside a base-size encoder.
const MAX_WIDE_LABELS: usize = 100_000;

/// Makes the choices that the adaptive form leaves, by how often labels occur.
pub(crate) fn choose_adaptive(
    open: &OpenAdaptiveConfig,
    labels_of_documents: &IndexRows,
    num_labels: usize,
) -> Result<AdaptiveConfig> {
    let hidden = open.hidden.unwrap_or_else(|| {
        if num_labels <= MAX_WIDE_LABELS {
            WIDE
        } else {
            NARROW
        }
    });
    let cut_offs = choose_cut_offs(open, &counts(labels_of_documents, num_labels));
    let settled = open.settled(hidden, cut_offs);
    settled.check_labels(num_labels)?;
    Ok(settled)
}

/// Which labels are scored how, for users to see.
pub(crate) fn adaptive_summary(config: &AdaptiveConfig, num_labels: usize) -> String {
    let clusters: Vec<String> = config
        .cluster_sizes(num_labels)
        .into_iter()
        .enumerate()
        .map(|(cluster, size)| {
            let size = grouped(size as u64);
            format!("{size} by {}", config.width(cluster))
        })
        .collect();
    match clusters.split_first() {
        Some((head, tails)) if !tails.is_empty() => {
            format!("a head of {head} and tails of {} of", tails.join(", "))
        }
        _ => format!("a head by {} of all", config.width(0)),
    }
}
