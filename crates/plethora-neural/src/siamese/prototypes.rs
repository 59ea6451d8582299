//! One vector per label, of all that is known of it.
//!
//! With the vector t of a label's names, its free vector f and the mean c of its documents' vectors, all but
//! f of unit length, a label is known by the direction of
//! `(t + f) / |t + f| + w n / (n + s) c`, for n documents, the weight w and the shrinkage s. What is kept
//! beside t is `r = f + |t + f| w n / (n + s) c`, as `t + r` has the same direction: so a label can get
//! other names later.

use std::path::Path;

use half::f16;
use plethora_core::artifact::{ArrayFileWriter, Dtype, MappedArrays};
use plethora_core::{Error, IndexRows, Result};

use super::config::PrototypeConfig;
use crate::systems::vectors::{Vectors, unit_halves};

/// Name of what was learnt of labels in a model folder.
pub(super) const LEARNT_FILE: &str = "learnt.safetensors";

/// What was learnt of labels beside their names.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Learnt {
    /// The labels that something was learnt of, rising.
    pub(super) labels: Vec<u32>,
    /// A vector of each, of any length.
    pub(super) rows: Vec<f32>,
}

/// What labels are made of, before the weight of the means is known.
pub(super) struct Parts<'a> {
    /// Of the names of all labels.
    pub(super) names: &'a Vectors,
    pub(super) is_named: &'a [bool],
    /// Labels with free vectors, rising, and these one behind the other.
    pub(super) free: Option<(&'a [u32], &'a [f32])>,
    /// Mean vectors of documents.
    pub(super) means: &'a Means,
}

/// Mean vectors of the documents of labels.
#[derive(Debug)]
pub(super) struct Means {
    /// The labels that documents have, rising, and of how many.
    labels: Vec<(u32, u32)>,
    /// The mean of each, of unit length.
    rows: Vec<f32>,
}

impl Means {
    /// Of some documents, by their numbers.
    pub(super) fn new(
        vectors: &Vectors,
        labels_of_documents: &IndexRows,
        documents: &[u32],
        num_labels: usize,
    ) -> Self {
        let width = vectors.width();
        let mut counts = vec![0_u32; num_labels];
        for &document in documents {
            for &label in labels_of_documents.row(document as usize) {
                counts[label as usize] += 1;
            }
        }
        let labels: Vec<(u32, u32)> = (0..).zip(counts).filter(|&(_, count)| count > 0).collect();
        let mut rows = vec![0.0_f32; labels.len() * width];
        for &document in documents {
            let vector = vectors.row(document as usize);
            for &label in labels_of_documents.row(document as usize) {
                let place = labels.binary_search_by_key(&label, |&(label, _)| label);
                let place = place.expect("labels of documents were counted");
                let row = &mut rows[place * width..(place + 1) * width];
                for (sum, &bits) in row.iter_mut().zip(vector) {
                    *sum += f16::from_bits(bits).to_f32();
                }
            }
        }
        for row in rows.chunks_mut(width.max(1)) {
            let length = length(row);
            if length > 0.0 {
                for value in row {
                    *value /= length;
                }
            }
        }
        Self { labels, rows }
    }
}

impl Parts<'_> {
    /// What is kept of labels, with means that count so much.
    pub(super) fn learnt(&self, weight: f32, shrinkage: f32) -> Learnt {
        let width = self.names.width();
        let mut learnt = Learnt::default();
        let no_labels = &[][..];
        let (free_labels, free) = self.free.unwrap_or((no_labels, &[]));
        let mut labels: Vec<u32> = self.means.labels.iter().map(|&(label, _)| label).collect();
        labels.extend_from_slice(free_labels);
        labels.sort_unstable();
        labels.dedup();
        for label in labels {
            let mut row = match free_labels.binary_search(&label) {
                Ok(place) => free[place * width..(place + 1) * width].to_vec(),
                Err(_) => vec![0.0; width],
            };
            let found = (self.means.labels).binary_search_by_key(&label, |&(label, _)| label);
            if let Ok(place) = found {
                let name = name_of(self.names, self.is_named, label as usize);
                let together: Vec<f32> = name.iter().zip(&row).map(|(n, f)| n + f).collect();
                let scale = match length(&together) {
                    0.0 => 1.0,
                    length => length,
                };
                let (_, count) = self.means.labels[place];
                let factor = scale * share(weight, shrinkage, count);
                let mean = &self.means.rows[place * width..(place + 1) * width];
                for (value, mean) in row.iter_mut().zip(mean) {
                    *value += factor * mean;
                }
            }
            learnt.labels.push(label);
            // In the precision that is kept, so that a vector made anew is the same.
            let kept = row.iter().map(|&value| f16::from_f32(value).to_f32());
            learnt.rows.extend(kept);
        }
        learnt
    }
}

/// How much the mean of so many documents counts.
fn share(weight: f32, shrinkage: f32, count: u32) -> f32 {
    weight * count as f32 / (count as f32 + shrinkage)
}

fn name_of(names: &Vectors, is_named: &[bool], label: usize) -> Vec<f32> {
    if !is_named[label] {
        return vec![0.0; names.width()];
    }
    let bits = names.row(label).iter();
    bits.map(|&bits| f16::from_bits(bits).to_f32()).collect()
}

fn length(vector: &[f32]) -> f32 {
    vector.iter().map(|value| value * value).sum::<f32>().sqrt()
}

/// The vectors of labels in training: names and free vectors, of which each label has one.
pub(super) fn with_free(names: &Vectors, is_named: &[bool], free: Option<&[f32]>) -> Vectors {
    let width = names.width();
    let mut vectors = Vectors::new(width);
    for label in 0..names.len() {
        let mut vector = name_of(names, is_named, label);
        if let Some(free) = free {
            let row = &free[label * width..(label + 1) * width];
            vector.iter_mut().zip(row).for_each(|(v, f)| *v += f);
        }
        vectors.push(&unit_halves(&vector));
    }
    vectors
}

impl Learnt {
    /// What documents alone say of a new label: the mean of their vectors.
    pub(super) fn of_mean(mean: &[f32], count: u32, config: &PrototypeConfig) -> Vec<f32> {
        let factor = share(config.centroid, config.shrinkage, count);
        let length = length(mean).max(f32::MIN_POSITIVE);
        mean.iter().map(|value| factor * value / length).collect()
    }

    /// What was learnt of a label.
    pub(super) fn row(&self, label: u32, width: usize) -> Option<&[f32]> {
        let place = self.labels.binary_search(&label).ok()?;
        Some(&self.rows[place * width..(place + 1) * width])
    }

    /// The vector of a label with a name vector, of unit length.
    pub(super) fn vector(&self, label: u32, name: &[f32]) -> Vec<u16> {
        match self.row(label, name.len()) {
            Some(row) => {
                let sum: Vec<f32> = name.iter().zip(row).map(|(n, r)| n + r).collect();
                unit_halves(&sum)
            }
            None => unit_halves(name),
        }
    }

    /// The vectors of all labels.
    pub(super) fn vectors(&self, names: &Vectors, is_named: &[bool]) -> Vectors {
        let mut vectors = Vectors::new(names.width());
        for label in 0..names.len() {
            let name = name_of(names, is_named, label);
            vectors.push(&self.vector(label as u32, &name));
        }
        vectors
    }

    /// Writes it, in half precision.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let mut file = ArrayFileWriter::create(path)?;
        let labels = file.begin("labels", Dtype::U32)?;
        file.append(labels, &self.labels)?;
        let rows = file.begin("rows", Dtype::F16)?;
        let bits: Vec<u16> = (self.rows.iter())
            .map(|&value| f16::from_f32(value).to_bits())
            .collect();
        file.append(rows, &bits)?;
        file.finish()
    }

    /// Reads what was learnt of `num_labels` labels, in vectors of `width` numbers.
    pub(super) fn read(path: &Path, num_labels: usize, width: usize) -> Result<Self> {
        let arrays = MappedArrays::open(path)?;
        let labels: &[u32] = arrays.array("labels")?;
        let rows: &[u16] = arrays.array("rows")?;
        let is_rising = labels.windows(2).all(|pair| pair[0] < pair[1]);
        let is_known = labels
            .last()
            .is_none_or(|&last| (last as usize) < num_labels);
        if !is_rising || !is_known || rows.len() != labels.len() * width {
            let message = "what was learnt is of other labels than those of the model";
            return Err(Error::model(path, message));
        }
        Ok(Self {
            labels: labels.to_vec(),
            rows: rows
                .iter()
                .map(|&bits| f16::from_bits(bits).to_f32())
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::FRAC_1_SQRT_2;

    use super::*;

    fn close(bits: &[u16], expected: &[f32]) {
        for (&bits, expected) in bits.iter().zip(expected) {
            let found = f16::from_bits(bits).to_f32();
            assert!((found - expected).abs() < 1e-3, "{found} {expected}");
        }
    }

    /// The formula at the head of the file, by hand.
    #[test]
    fn names_free_vectors_and_means_make_one_vector() {
        let mut names = Vectors::new(2);
        for name in [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]] {
            names.push(&unit_halves(&name));
        }
        let is_named = [true, true, false];
        let mut documents = Vectors::new(2);
        documents.push(&unit_halves(&[0.0, 1.0]));
        documents.push(&unit_halves(&[1.0, 0.0]));
        let labels: IndexRows = [vec![0, 2], vec![2]].into_iter().collect();
        let means = Means::new(&documents, &labels, &[0, 1], 3);
        let parts = Parts {
            names: &names,
            is_named: &is_named,
            free: Some((&[0], &[1.0, 0.0])),
            means: &means,
        };
        // Label 0: (1, 0) + (1, 0) has length 2, and one document counts 2 x 1 / (1 + 1) = 1.
        let learnt = parts.learnt(2.0, 1.0);
        assert_eq!(learnt.labels, [0, 2]);
        let vectors = learnt.vectors(&names, &is_named);
        close(vectors.row(0), &[FRAC_1_SQRT_2; 2]);
        close(vectors.row(1), &[0.0, 1.0]);
        // Label 2 has no name, and two documents.
        close(vectors.row(2), &[FRAC_1_SQRT_2; 2]);

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LEARNT_FILE);
        learnt.write(&path).unwrap();
        assert_eq!(Learnt::read(&path, 3, 2).unwrap(), learnt);
        assert!(Learnt::read(&path, 2, 2).is_err());
        assert!(Learnt::read(&path, 3, 3).is_err());
    }

    #[test]
    fn without_anything_learnt_names_are_all() {
        let mut names = Vectors::new(2);
        names.push(&unit_halves(&[3.0, 4.0]));
        let vectors = Learnt::default().vectors(&names, &[true]);
        close(vectors.row(0), &[0.6, 0.8]);
        let training = with_free(&names, &[true], Some(&[0.4, -0.8]));
        close(training.row(0), &[1.0, 0.0]);
    }
}
