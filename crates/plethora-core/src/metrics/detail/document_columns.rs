//! What is kept of a document.

use super::super::buckets::{BucketName, train_frequency};
use super::super::evaluator::Rules;
use super::super::judged_document::JudgedDocument;
use super::observation_table::Quantity;

/// Buckets whose labels can be hits; those that training never saw cannot.
pub(super) const BUCKETS: [BucketName; 3] = [BucketName::Head, BucketName::Torso, BucketName::Tail];

/// The columns of a document's row, and the quantities that are made of them.
#[derive(Debug)]
pub(super) struct DocumentColumns {
    /// All metrics that come from documents, in the order in which to show them.
    pub(super) metrics: Vec<Quantity>,
    /// By bucket: `P@k`, `PSP@k` and `R@k`.
    pub(super) buckets: Vec<(BucketName, Vec<Quantity>)>,
    pub(super) num_columns: usize,
}

impl DocumentColumns {
    pub(super) fn new(rules: &Rules) -> Self {
        let mut num_columns = 0;
        let mut next = || {
            num_columns += 1;
            num_columns - 1
        };
        let mut metrics = Vec::new();
        for metric in rules.metrics.iter().filter(|metric| !metric.is_of_labels()) {
            metrics.push(Quantity {
                key: metric.key.clone(),
                numerator: next(),
                denominator: metric.is_ratio().then(&mut next),
                scale: 1.0,
            });
        }
        let best_gains = |k: usize| {
            let key = format!("PSP@{k}");
            metrics.iter().find(|metric| metric.key == key)?.denominator
        };
        let mut buckets = Vec::new();
        for bucket in BUCKETS {
            let ks = &rules.config.ks;
            let hits: Vec<usize> = ks.iter().map(|_| next()).collect();
            let gains: Vec<usize> = ks.iter().map(|_| next()).collect();
            let num_true = next();
            let mut quantities = Vec::new();
            let quantity = |name: &str, k, numerator, denominator, scale| Quantity {
                key: format!("{name}@{k}"),
                numerator,
                denominator,
                scale,
            };
            for (&k, &hits) in ks.iter().zip(&hits) {
                quantities.push(quantity("P", k, hits, None, 1.0 / k as f64));
            }
            for (&k, &gains) in ks.iter().zip(&gains) {
                quantities.push(quantity("PSP", k, gains, best_gains(k), 1.0));
            }
            for (&k, &hits) in ks.iter().zip(&hits) {
                quantities.push(quantity("R", k, hits, Some(num_true), 1.0));
            }
            buckets.push((bucket, quantities));
        }
        Self {
            metrics,
            buckets,
            num_columns,
        }
    }

    /// A document's row, put into `row`.
    pub(super) fn fill(rules: &Rules, document: &JudgedDocument, row: &mut Vec<f64>) {
        row.clear();
        for metric in &rules.metrics {
            if let Some((numerator, denominator)) = metric.parts(document) {
                row.push(numerator);
                if metric.is_ratio() {
                    row.push(denominator);
                }
            }
        }
        let bucket_of = |label| {
            let frequency = train_frequency(&rules.train_counts, label);
            rules.buckets.of_frequency(frequency)
        };
        let num_depths = rules.config.ks.len();
        let first = row.len();
        let per_bucket = 2 * num_depths + 1;
        row.resize(first + per_bucket * BUCKETS.len(), 0.0);
        let start_of = |label| {
            let bucket = bucket_of(label);
            let place = BUCKETS.iter().position(|&known| known == bucket)?;
            Some(first + place * per_bucket)
        };
        let hits = document.places.iter().enumerate();
        for (rank, place) in hits.filter(|(_, place)| place.is_hit) {
            let Some(start) = start_of(place.label) else {
                continue;
            };
            for (depth, &k) in rules.config.ks.iter().enumerate() {
                if rank < k {
                    row[start + depth] += 1.0;
                    row[start + num_depths + depth] += place.gain;
                }
            }
        }
        for &label in &document.truth {
            if let Some(start) = start_of(label) {
                row[start + 2 * num_depths] += 1.0;
            }
        }
    }
}
