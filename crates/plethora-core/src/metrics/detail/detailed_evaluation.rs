//! An evaluation that can say how sure it is.

use serde::{Serialize, Serializer};

use super::super::buckets::{BucketName, train_frequency};
use super::super::f1::f1_of;
use super::super::{BucketEvaluation, Evaluation, Reliability};
use super::bootstrap::{BootstrapConfig, Draws, Estimate, resample};
use super::document_columns::DocumentColumns;
use super::frequency_groups::{self, FrequencyGroup, MIN_TEST_FREQUENCY};
use super::label_curves::LabelCurves;
use super::length_groups::{LengthGroup, LengthGroups};
use super::observation_table::{ObservationTable, Quantity};
use super::worst::Worst;
use crate::LabelId;

/// The values of all metrics, and what their intervals are made of.
#[derive(Debug)]
pub struct DetailedEvaluation {
    pub(super) evaluation: Evaluation,
    pub(super) columns: DocumentColumns,
    pub(super) documents: ObservationTable,
    pub(super) lengths: Vec<u32>,
    pub(super) curves: LabelCurves,
    pub(super) num_found: Vec<u32>,
    pub(super) top_reliability: Reliability,
    pub(super) reliability: Reliability,
}

/// Numbers with their names, as `P@5`, in the order in which to show them; an object as JSON.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Estimates(Vec<(String, Estimate)>);

impl Estimates {
    /// Names and numbers.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Estimate)> {
        let all = self.0.iter();
        all.map(|(key, estimate)| (key.as_str(), *estimate))
    }

    /// The number with this name.
    pub fn get(&self, key: &str) -> Option<Estimate> {
        let found = self.iter().find(|(known, _)| *known == key);
        found.map(|(_, estimate)| estimate)
    }
}

impl FromIterator<(String, Estimate)> for Estimates {
    fn from_iter<I: IntoIterator<Item = (String, Estimate)>>(all: I) -> Self {
        Self(all.into_iter().collect())
    }
}

impl Serialize for Estimates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// The metrics of a bucket of labels.
#[derive(Debug, Clone, PartialEq)]
pub struct BucketEstimates {
    /// The bucket and its sizes.
    pub bucket: BucketEvaluation,
    /// `P@k` and `PSP@k`: what its hits contribute to those of all labels, to which the buckets add
    /// up. `R@k`: the share of its test assignments that are hits in the first k places.
    pub metrics: Estimates,
}

/// A label that many documents should have had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissedLabel {
    /// The label.
    pub label: LabelId,
    /// Training documents with the label.
    pub train_frequency: u32,
    /// Test documents with the label.
    pub test_frequency: u32,
    /// Those of them that have it in the first places, down to the largest depth.
    pub num_found: u32,
}

impl MissedLabel {
    /// Test documents with the label that do not have it in the first places.
    pub fn num_missed(&self) -> u32 {
        self.test_frequency - self.num_found
    }
}

impl DetailedEvaluation {
    /// The plain evaluation.
    pub fn evaluation(&self) -> &Evaluation {
        &self.evaluation
    }

    /// The plain evaluation, without the rest.
    pub fn into_evaluation(self) -> Evaluation {
        self.evaluation
    }

    /// All metrics in the order in which to show them, with intervals; and the draws of those that
    /// come from documents, to be compared with those of another model.
    pub fn metrics(&self, config: &BootstrapConfig) -> (Estimates, Draws) {
        let of_documents = self.resample(&self.columns.metrics, config);
        let of_labels = self.label_draws(config);
        let metrics = self.evaluation.values().iter().map(|(key, value)| {
            let draws = of_documents.get(key).or_else(|| of_labels.get(key));
            let estimate = config.estimate(*value, draws.unwrap_or_default());
            (key.clone(), estimate)
        });
        (metrics.collect(), of_documents)
    }

    fn resample(&self, quantities: &[Quantity], config: &BootstrapConfig) -> Draws {
        resample(&self.documents, quantities, &self.all_rows(), config)
    }

    fn all_rows(&self) -> Vec<u32> {
        (0..self.documents.num_rows() as u32).collect()
    }

    /// Macro-F1 and coverage for labels drawn anew, of those that are true or assigned anywhere.
    fn label_draws(&self, config: &BootstrapConfig) -> Draws {
        let ks = &self.evaluation.config().ks;
        let mut table = ObservationTable::new(2 + ks.len());
        for counts in self.evaluation.labels.counts() {
            if counts.num_true + counts.num_assigned > 0 {
                let is_true = counts.num_true > 0;
                let is_found = |&k: &usize| is_true && (counts.best_rank as usize) < k;
                let found = ks.iter().map(|k| f64::from(u8::from(is_found(k))));
                let first = [f1_of(counts), f64::from(u8::from(is_true))];
                table.push(first.into_iter().chain(found));
            }
        }
        let mut quantities = vec![Quantity::mean("macroF1", 0)];
        quantities.extend(ks.iter().enumerate().map(|(place, k)| Quantity {
            key: format!("coverage@{k}"),
            numerator: 2 + place,
            denominator: Some(1),
            scale: 1.0,
        }));
        let rows: Vec<u32> = (0..table.num_rows() as u32).collect();
        resample(&table, &quantities, &rows, config)
    }

    /// Head, torso and tail.
    pub fn buckets(&self, config: &BootstrapConfig) -> Vec<BucketEstimates> {
        let sums = self.documents.sums(0..self.documents.num_rows());
        let num_rows = self.documents.num_rows() as f64;
        let quantities: Vec<Quantity> = (self.columns.buckets.iter())
            .flat_map(|(bucket, quantities)| {
                quantities.iter().map(move |quantity| Quantity {
                    key: bucket_key(*bucket, &quantity.key),
                    ..quantity.clone()
                })
            })
            .collect();
        let draws = self.resample(&quantities, config);
        let estimates = |(bucket, quantities): &(BucketName, Vec<Quantity>)| {
            let evaluated = self.evaluation.buckets().iter();
            let sizes = evaluated.clone().find(|one| one.bucket == *bucket)?;
            let metrics = quantities.iter().map(|quantity| {
                let drawn = draws.get(&bucket_key(*bucket, &quantity.key));
                let value = quantity.of_sums(&sums, num_rows);
                let estimate = config.estimate(value, drawn.unwrap_or_default());
                (quantity.key.clone(), estimate)
            });
            Some(BucketEstimates {
                bucket: sizes.clone(),
                metrics: metrics.collect(),
            })
        };
        self.columns.buckets.iter().filter_map(estimates).collect()
    }

    /// The groups of these documents by their length.
    pub fn length_groups(&self) -> LengthGroups {
        LengthGroups::new(&self.lengths)
    }

    /// P@k and PSP@k of the documents of each group, with intervals from draws within it.
    pub fn by_length(&self, groups: &LengthGroups, config: &BootstrapConfig) -> Vec<LengthGroup> {
        let is_shown = |one: &&Quantity| one.key.starts_with("P@") || one.key.starts_with("PSP@");
        let quantities: Vec<Quantity> = self
            .columns
            .metrics
            .iter()
            .filter(is_shown)
            .cloned()
            .collect();
        let group = |(rows, &(min_length, max_length)): (&Vec<u32>, &(u32, u32))| {
            let draws = resample(&self.documents, &quantities, rows, config);
            let sums = self.documents.sums(rows.iter().map(|&row| row as usize));
            let metrics = quantities.iter().map(|quantity| {
                let value = quantity.of_sums(&sums, rows.len() as f64);
                let drawn = draws.get(&quantity.key).unwrap_or_default();
                (quantity.key.clone(), config.estimate(value, drawn))
            });
            LengthGroup {
                min_length,
                max_length,
                num_documents: rows.len() as u64,
                metrics: metrics.collect(),
            }
        };
        groups.rows.iter().zip(groups.bounds()).map(group).collect()
    }

    /// AUC and AUPR of labels with at least five test documents, in three groups by how many they
    /// have. Gives up what it is made of, for that is
    /// large: a second call finds nothing.
    pub fn by_test_frequency(&mut self, config: &BootstrapConfig) -> Vec<FrequencyGroup> {
        let entries = self.evaluation.labels.entries();
        let labels: Vec<(LabelId, u64)> = entries
            .map(|(label, counts)| (label, u64::from(counts.num_true)))
            .filter(|&(_, num_true)| num_true >= MIN_TEST_FREQUENCY)
            .collect();
        let counts = self.evaluation.labels.counts();
        let num_assignments = counts.map(|counts| u64::from(counts.num_true)).sum();
        let curves = std::mem::take(&mut self.curves).finish(&labels);
        frequency_groups::group(&curves, num_assignments, config)
    }

    /// The scores of the first places, down to the largest depth, against their hits.
    pub fn top_reliability(&self) -> &Reliability {
        &self.top_reliability
    }

    /// The scores of all ranked places against their hits.
    pub fn reliability(&self) -> &Reliability {
        &self.reliability
    }

    /// The labels that most documents miss, worst first; none that every document has.
    pub fn missed_labels(&self, limit: usize) -> Vec<MissedLabel> {
        let mut worst = Worst::new(limit);
        for (label, counts) in self.evaluation.labels.entries() {
            let missed = MissedLabel {
                label,
                train_frequency: train_frequency(&self.evaluation.train_counts, label),
                test_frequency: counts.num_true,
                num_found: self.num_found.get(label.index()).copied().unwrap_or(0),
            };
            if missed.num_missed() > 0 {
                worst.offer(-f64::from(missed.num_missed()), || missed);
            }
        }
        worst.finish()
    }
}

fn bucket_key(bucket: BucketName, key: &str) -> String {
    format!("{}/{key}", bucket.as_str())
}
