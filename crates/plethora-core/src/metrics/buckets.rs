//! The same evaluation for frequent, middling and rare labels.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::f1::mean_f1;
use super::judged_document::JudgedDocument;
use super::label_table::LabelTable;
use crate::LabelId;

/// Share of all training assignments that head labels carry together.
const HEAD_SHARE: f64 = 0.5;
/// Labels with at most so many training documents are the tail: too few to learn much from.
const MAX_TAIL_FREQUENCY: u32 = 5;

/// A group of labels by training frequency.
///
/// The tail are labels with one to five training documents, whatever the data. Of the others, the
/// most frequent are the head until half of all training assignments (pairs of document and label)
/// are covered, and the rest are the torso. Labels of equal frequency are in one bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BucketName {
    /// The most frequent labels, which carry half of the training assignments.
    Head,
    /// The labels between head and tail.
    Torso,
    /// The labels with one to five training documents.
    Tail,
    /// Labels without a training document.
    Unseen,
}

impl BucketName {
    /// All buckets, from frequent to rare.
    pub const ALL: [Self; 4] = [Self::Head, Self::Torso, Self::Tail, Self::Unseen];

    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Torso => "torso",
            Self::Tail => "tail",
            Self::Unseen => "unseen",
        }
    }
}

/// Which training frequencies belong to which bucket.
#[derive(Debug)]
pub(crate) struct Buckets {
    min_head_frequency: u32,
}

impl Buckets {
    pub(crate) fn new(train_counts: &[u32]) -> Self {
        let mut falling: Vec<u32> = train_counts.iter().copied().filter(|&n| n > 0).collect();
        falling.sort_unstable_by(|left, right| right.cmp(left));
        let total: u64 = falling.iter().map(|&count| u64::from(count)).sum();
        let mut covered = 0;
        let half = falling.iter().find(|&&count| {
            covered += u64::from(count);
            covered as f64 >= HEAD_SHARE * total as f64
        });
        Self {
            min_head_frequency: half.map_or(0, |&count| count).max(MAX_TAIL_FREQUENCY + 1),
        }
    }

    pub(super) fn of_frequency(&self, train_frequency: u32) -> BucketName {
        match train_frequency {
            0 => BucketName::Unseen,
            1..=MAX_TAIL_FREQUENCY => BucketName::Tail,
            count if count >= self.min_head_frequency => BucketName::Head,
            _ => BucketName::Torso,
        }
    }

    /// Lowest training frequency of a bucket.
    pub(crate) fn min_frequency(&self, bucket: BucketName) -> u32 {
        match bucket {
            BucketName::Head => self.min_head_frequency,
            BucketName::Torso => MAX_TAIL_FREQUENCY + 1,
            BucketName::Tail => 1,
            BucketName::Unseen => 0,
        }
    }

    /// Adds a document's hits to `hits[bucket][place of k in ks]`.
    pub(super) fn add(
        &self,
        document: &JudgedDocument,
        train_counts: &[u32],
        ks: &[usize],
        hits: &mut BucketHits,
    ) {
        for (rank, place) in document
            .places
            .iter()
            .enumerate()
            .filter(|(_, place)| place.is_hit)
        {
            let bucket = self.of_frequency(train_frequency(train_counts, place.label));
            for (&k, count) in ks.iter().zip(&mut hits.0[bucket as usize]) {
                *count += u64::from(rank < k);
            }
        }
    }

    /// The report of every bucket.
    pub(super) fn evaluate(
        &self,
        table: &LabelTable,
        train_counts: &[u32],
        hits: &BucketHits,
        depths: Depths<'_>,
    ) -> Vec<BucketEvaluation> {
        let report = |bucket: BucketName| {
            let labels = || {
                let entries = table.entries();
                entries.filter(move |&(label, _)| {
                    self.of_frequency(train_frequency(train_counts, label)) == bucket
                })
            };
            let num_assignments = labels()
                .map(|(_, counts)| u64::from(counts.num_true))
                .sum::<u64>();
            let mut values = Vec::new();
            for (&k, &hits) in depths.ks.iter().zip(&hits.0[bucket as usize]) {
                // In floating point: the product with a depth of everything leaves 64 bits.
                let places = (k as f64 * depths.num_documents as f64).max(1.0);
                values.push((format!("P@{k}"), hits as f64 / places));
            }
            for (&k, &hits) in depths.ks.iter().zip(&hits.0[bucket as usize]) {
                values.push((
                    format!("R@{k}"),
                    hits as f64 / num_assignments.max(1) as f64,
                ));
            }
            values.push((
                "macroF1".to_owned(),
                mean_f1(labels().map(|(_, counts)| counts)),
            ));
            BucketEvaluation {
                bucket,
                min_train_frequency: self.min_frequency(bucket),
                num_labels: labels().count() as u64,
                num_test_labels: labels().filter(|(_, counts)| counts.num_true > 0).count() as u64,
                num_test_assignments: num_assignments,
                values,
            }
        };
        BucketName::ALL.into_iter().map(report).collect()
    }
}

/// What the hits of buckets are divided by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depths<'a> {
    pub(super) ks: &'a [usize],
    pub(super) num_documents: u64,
}

/// Hits by bucket and depth.
#[derive(Debug, Clone)]
pub(super) struct BucketHits([Vec<u64>; BucketName::ALL.len()]);

impl BucketHits {
    pub(super) fn new(num_depths: usize) -> Self {
        Self(std::array::from_fn(|_| vec![0; num_depths]))
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (count, &more) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *count += more;
        }
    }
}

pub(super) fn train_frequency(train_counts: &[u32], label: LabelId) -> u32 {
    train_counts.get(label.index()).copied().unwrap_or(0)
}

/// The evaluation of one bucket of labels.
#[derive(Debug, Clone, PartialEq)]
pub struct BucketEvaluation {
    /// The bucket.
    pub bucket: BucketName,
    /// Lowest training frequency of its labels.
    pub min_train_frequency: u32,
    /// Number of its labels.
    pub num_labels: u64,
    /// Number of its labels that are true for a test document.
    pub num_test_labels: u64,
    /// Pairs of a test document and a true label of the bucket.
    pub num_test_assignments: u64,
    /// `P@k`: what its hits contribute to the P@k of all labels, to which the buckets add up.
    /// `R@k`: the share of its test assignments that are hits in the first k places. `macroF1` of
    /// its labels.
    pub values: Vec<(String, f64)>,
}

impl Serialize for BucketEvaluation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("min_train_frequency", &self.min_train_frequency)?;
        map.serialize_entry("n_labels", &self.num_labels)?;
        map.serialize_entry("n_test_labels", &self.num_test_labels)?;
        map.serialize_entry("n_test_assignments", &self.num_test_assignments)?;
        for (key, value) in &self.values {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_carries_half_of_the_assignments_and_the_tail_is_rare() {
        use BucketName::{Head, Tail, Torso, Unseen};
        // 100 assignments: 60 | 20 + 10 | 4 + 4 + 1 + 1
        let counts = [4, 60, 1, 10, 4, 20, 1, 0];
        let buckets = Buckets::new(&counts);
        assert_eq!(
            counts.map(|count| buckets.of_frequency(count)),
            [Tail, Head, Tail, Torso, Tail, Torso, Tail, Unseen]
        );
    }

    #[test]
    fn equal_frequencies_share_a_bucket_and_no_labels_are_fine() {
        let buckets = Buckets::new(&[30; 10]);
        assert_eq!(buckets.of_frequency(30), BucketName::Head);
        assert_eq!(Buckets::new(&[3; 10]).of_frequency(3), BucketName::Tail);
        assert_eq!(Buckets::new(&[]).of_frequency(0), BucketName::Unseen);
    }
}
