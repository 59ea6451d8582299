//! Spherical k-means without size limits, for Bonsai's wide and unbalanced trees.

use rand::seq::index;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::balanced_kmeans::StopRule;
use crate::{SeedStream, SparseMatrix};

/// Labels whose similarities are computed by one task.
const LABELS_PER_TASK: usize = 64;

/// Splits `labels` into at most `k` clusters, none of them empty, in the order of their centres.
pub(crate) fn split(
    features: &SparseMatrix,
    labels: &[u32],
    k: usize,
    rule: StopRule,
    seed: SeedStream,
) -> Vec<Vec<u32>> {
    let k = k.min(labels.len());
    let rows = LocalRows::gather(features, labels);
    let mut centres = vec![0.0_f32; rows.num_columns * k];
    let mut first: Vec<usize> = index::sample(&mut seed.rng(), labels.len(), k).into_vec();
    first.sort_unstable();
    for (centre, &label) in first.iter().enumerate() {
        rows.add_to_centre(label, centre, k, &mut centres);
    }
    let mut assigned: Vec<u32> = Vec::new();
    let mut best_mean = f32::NEG_INFINITY;
    for _ in 0..rule.max_rounds {
        let nearest = rows.nearest(&centres, k);
        let mean = nearest
            .iter()
            .map(|near| f64::from(near.similarity))
            .sum::<f64>() as f32
            / labels.len() as f32;
        assigned = nearest.iter().map(|near| near.centre).collect();
        if mean - best_mean < rule.min_gain {
            break;
        }
        best_mean = mean;
        centres.fill(0.0);
        for (label, &centre) in assigned.iter().enumerate() {
            rows.add_to_centre(label, centre as usize, k, &mut centres);
        }
        normalize_centres(&mut centres, k);
    }
    let mut clusters = vec![Vec::new(); k];
    for (&label, &centre) in labels.iter().zip(&assigned) {
        clusters[centre as usize].push(label);
    }
    clusters.retain(|cluster| !cluster.is_empty());
    clusters
}

/// The feature rows of some labels with columns renumbered, so that centres have only the columns
/// that occur.
struct LocalRows {
    num_columns: usize,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

struct Nearest {
    centre: u32,
    similarity: f32,
}

impl LocalRows {
    fn gather(features: &SparseMatrix, labels: &[u32]) -> Self {
        let mut local_columns: FxHashMap<u32, u32> = FxHashMap::default();
        let mut rows = Self {
            num_columns: 0,
            starts: vec![0],
            columns: vec![],
            values: vec![],
        };
        for &label in labels {
            let row = features.row(label as usize);
            for &column in row.columns {
                let next = local_columns.len() as u32;
                rows.columns
                    .push(*local_columns.entry(column).or_insert(next));
            }
            rows.values.extend_from_slice(row.values);
            rows.starts.push(rows.columns.len());
        }
        rows.num_columns = local_columns.len();
        rows
    }

    fn row(&self, label: usize) -> impl Iterator<Item = (usize, f32)> {
        let range = self.starts[label]..self.starts[label + 1];
        let columns = self.columns[range.clone()]
            .iter()
            .map(|&column| column as usize);
        columns.zip(self.values[range].iter().copied())
    }

    fn add_to_centre(&self, label: usize, centre: usize, k: usize, centres: &mut [f32]) {
        for (column, value) in self.row(label) {
            centres[column * k + centre] += value;
        }
    }

    /// The most similar centre of each label; ties go to the first.
    fn nearest(&self, centres: &[f32], k: usize) -> Vec<Nearest> {
        (0..self.starts.len() - 1)
            .into_par_iter()
            .with_min_len(LABELS_PER_TASK)
            .map_init(
                || vec![0.0_f32; k],
                |similarities, label| {
                    similarities.fill(0.0);
                    for (column, value) in self.row(label) {
                        let centre_row = &centres[column * k..(column + 1) * k];
                        for (sum, weight) in similarities.iter_mut().zip(centre_row) {
                            *sum += value * weight;
                        }
                    }
                    let mut best = Nearest {
                        centre: 0,
                        similarity: f32::NEG_INFINITY,
                    };
                    for (centre, &similarity) in (0..).zip(similarities.iter()) {
                        if similarity > best.similarity {
                            best = Nearest { centre, similarity };
                        }
                    }
                    best
                },
            )
            .collect()
    }
}

fn normalize_centres(centres: &mut [f32], k: usize) {
    let mut squares = vec![0.0_f64; k];
    for row in centres.chunks_exact(k) {
        for (square, &value) in squares.iter_mut().zip(row) {
            *square += f64::from(value).powi(2);
        }
    }
    let scales: Vec<f32> = squares
        .iter()
        .map(|&square| {
            if square > 0.0 {
                (1.0 / square.sqrt()) as f32
            } else {
                0.0
            }
        })
        .collect();
    for row in centres.chunks_exact_mut(k) {
        for (value, scale) in row.iter_mut().zip(&scales) {
            *value *= scale;
        }
    }
}
