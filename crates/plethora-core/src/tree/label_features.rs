//! What a label looks like in feature space: the sum of its documents, and its own words.

use rayon::prelude::*;

use crate::corpus::LabelSpace;
use crate::{IndexRows, SparseMatrix, SparseVector};

/// Labels handled by one task; each task owns a dense accumulator, so tasks should not be tiny.
const LABELS_PER_TASK: usize = 256;

/// The L2-normalised sum of the feature rows of each label's documents, cut to the `max_features`
/// largest entries so that frequent labels do not fill the memory.
pub fn label_features(
    documents: &SparseMatrix,
    documents_of_labels: &IndexRows,
    max_features: usize,
) -> SparseMatrix {
    let num_labels = documents_of_labels.num_rows();
    let tasks = num_labels.div_ceil(LABELS_PER_TASK);
    let parts: Vec<Vec<SparseVector>> = (0..tasks)
        .into_par_iter()
        .map(|task| {
            let mut accumulator = Accumulator::new(documents.num_columns());
            let end = num_labels.min((task + 1) * LABELS_PER_TASK);
            (task * LABELS_PER_TASK..end)
                .map(|label| {
                    for &document in documents_of_labels.row(label) {
                        accumulator.add(documents.row(document as usize));
                    }
                    let mut features = keep_largest(accumulator.take(), max_features);
                    features.normalize();
                    features
                })
                .collect()
        })
        .collect();
    let mut builder = SparseMatrix::builder(documents.num_columns());
    parts
        .iter()
        .flatten()
        .for_each(|features| builder.push(features.as_row()));
    builder.finish()
}

/// A text of each label: all its names.
pub fn label_texts(space: &LabelSpace) -> Vec<String> {
    let labels = space.labels().iter();
    labels
        .map(|label| format!("{} {}", label.name, label.alternatives.join(" ")))
        .collect()
}

/// Mixes the features of the labels' own names into their document features; both sides are rows
/// of unit length, `weight` is the share of the names.
pub fn add_label_text(features: &SparseMatrix, names: &SparseMatrix, weight: f32) -> SparseMatrix {
    let mut builder = SparseMatrix::builder(features.num_columns());
    for (documents, name) in features.rows().zip(names.rows()) {
        let scaled = |row: crate::SparseRow<'_>, scale: f32| {
            row.iter()
                .map(|(column, value)| (column as u32, scale * value))
                .collect::<Vec<_>>()
        };
        let mut entries = scaled(documents, 1.0 - weight);
        entries.extend(scaled(name, weight));
        let mut mixed = SparseVector::from_entries(entries);
        mixed.normalize();
        builder.push(mixed.as_row());
    }
    builder.finish()
}

/// Keeps the entries with the largest values; equal values keep the lower column.
fn keep_largest(vector: SparseVector, limit: usize) -> SparseVector {
    if vector.columns.len() <= limit {
        return vector;
    }
    let mut entries: Vec<(u32, f32)> = vector.columns.into_iter().zip(vector.values).collect();
    entries.select_nth_unstable_by(limit, |left, right| {
        right.1.total_cmp(&left.1).then(left.0.cmp(&right.0))
    });
    entries.truncate(limit);
    SparseVector::from_entries(entries)
}

/// Dense sums with a list of the columns that were touched.
struct Accumulator {
    sums: Vec<f32>,
    touched: Vec<u32>,
}

impl Accumulator {
    fn new(num_columns: usize) -> Self {
        Self {
            sums: vec![0.0; num_columns],
            touched: Vec::new(),
        }
    }

    fn add(&mut self, row: crate::SparseRow<'_>) {
        for (column, value) in row.iter() {
            if self.sums[column] == 0.0 {
                self.touched.push(column as u32);
            }
            self.sums[column] += value;
        }
    }

    /// The sums so far; leaves the accumulator empty.
    fn take(&mut self) -> SparseVector {
        self.touched.sort_unstable();
        self.touched.dedup();
        let values = self
            .touched
            .iter()
            .map(|&column| self.sums[column as usize])
            .collect();
        for &column in &self.touched {
            self.sums[column as usize] = 0.0;
        }
        SparseVector {
            columns: std::mem::take(&mut self.touched),
            values,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SparseRow;

    fn matrix(rows: &[&[(u32, f32)]]) -> SparseMatrix {
        let mut builder = SparseMatrix::builder(4);
        for row in rows {
            let (columns, values): (Vec<u32>, Vec<f32>) = row.iter().copied().unzip();
            builder.push(SparseRow {
                columns: &columns,
                values: &values,
            });
        }
        builder.finish()
    }

    #[test]
    fn a_label_is_the_normalised_sum_of_its_documents() {
        let documents = matrix(&[&[(0, 3.0)], &[(0, 0.0), (2, 4.0)], &[(1, 1.0)]]);
        let features = label_features(
            &documents,
            &[vec![0, 1], vec![2], vec![]].into_iter().collect(),
            10,
        );
        assert_eq!(features.row(0).columns, [0, 2]);
        assert_eq!(features.row(0).values, [0.6, 0.8]);
        assert_eq!(features.row(1).values, [1.0]);
        assert!(features.row(2).is_empty());
    }

    #[test]
    fn only_the_largest_features_stay() {
        let documents = matrix(&[&[(0, 1.0), (1, 3.0), (3, 4.0)]]);
        let features = label_features(&documents, &[vec![0]].into_iter().collect(), 2);
        assert_eq!(features.row(0).columns, [1, 3]);
        assert_eq!(features.row(0).values, [0.6, 0.8]);
    }

    #[test]
    fn label_text_is_mixed_in_by_weight() {
        let mixed = add_label_text(&matrix(&[&[(0, 1.0)]]), &matrix(&[&[(1, 1.0)]]), 0.5);
        assert_eq!(mixed.row(0).columns, [0, 1]);
        assert!((mixed.row(0).values[0] - mixed.row(0).values[1]).abs() < 1e-6);
    }
}
