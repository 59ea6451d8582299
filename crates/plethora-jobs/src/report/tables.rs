//! The tables of a report.

use std::iter::once;

use plethora_core::grouped;
use plethora_core::metrics::{Difference, Estimate, FrequencyGroup, LengthGroup};

use super::content::{ModelReport, Report};
use super::published::PublishedDataset;
use super::table::{Cell, Row, Table};
use crate::figures::percent;

impl Report {
    /// Every metric of every model.
    pub(super) fn metric_table(&self) -> Table {
        let share = 100.0 * self.settings.bootstrap.confidence;
        let caption = format!("Every metric with its {share} % interval");
        let mut table = Table::new(caption, ["percent"]).and(self.names());
        let Some(first) = self.models.first() else {
            return table;
        };
        for (key, _) in first.metrics.iter() {
            let values = self.models.iter().map(|model| model.metrics.get(key));
            let values: Vec<Option<Estimate>> = values.collect();
            table.push(cells_with_best(key, &values));
        }
        table
    }

    /// What was measured, and how fast.
    pub(super) fn model_table(&self) -> Table {
        let headings = [
            "model",
            "system",
            "training documents",
            "labels",
            "unseen true labels",
            "ranking, CPU ms per document",
            "features, CPU ms per document",
        ];
        let mut table = Table::new("The models", headings);
        for model in &self.models {
            table.push([
                Cell::words(&*model.name),
                Cell::words(&*model.system),
                Cell::count(model.num_train_documents),
                Cell::count(model.num_labels),
                Cell::count(model.num_unseen_labels),
                Cell::new(format!("{:.3}", model.speed.ranking_ms_cpu_per_doc)),
                Cell::new(format!("{:.3}", model.speed.features_ms_cpu_per_doc)),
            ]);
        }
        table
    }

    /// Differences of all pairs in the main metrics.
    pub(super) fn difference_table(&self) -> Table {
        let metrics = self.main_metrics();
        let caption = "First model less second, in points, with interval and p-value";
        let mut table = Table::new(caption, ["pair"]).and(&metrics);
        for pair in &self.comparisons {
            let name = format!("{} \u{2212} {}", pair.first, pair.second);
            let differences = metrics.iter().map(|key| difference_cell(pair.get(key)));
            table.push(once(Cell::words(name)).chain(differences));
        }
        table
    }

    /// How many of their first labels models have in common.
    pub(super) fn overlap_table(&self) -> Table {
        let depth = self
            .comparisons
            .first()
            .map_or(0, |pair| pair.overlap.len());
        let caption = "Common labels among the first, in percent";
        let mut table = Table::new(caption, ["pair"]).and((1..=depth).map(|k| format!("top {k}")));
        for pair in &self.comparisons {
            let name = format!("{} and {}", pair.first, pair.second);
            let shares = pair.overlap.iter().map(|&share| Cell::new(percent(share)));
            table.push(once(Cell::words(name)).chain(shares));
        }
        table
    }

    /// Head, torso and tail.
    pub(super) fn bucket_table(&self) -> Table {
        let names = [
            "labels",
            "model",
            "in training",
            "number",
            "test assignments",
        ];
        let metrics = self.bucket_metrics();
        let mut table = Table::new("Labels by training frequency, in percent", names).and(&metrics);
        let num_buckets = self.models.first().map_or(0, |model| model.buckets.len());
        for place in 0..num_buckets {
            for model in &self.models {
                let bucket = &model.buckets[place];
                let least = grouped(u64::from(bucket.min_train_frequency));
                let cells = [
                    Cell::words(bucket.bucket),
                    Cell::words(&*model.name),
                    Cell::new(format!("{least}+")),
                    Cell::count(bucket.num_labels),
                    Cell::count(bucket.num_test_assignments),
                ];
                let values = metrics.iter().map(|key| bucket.metrics.get(key));
                table.push(cells.into_iter().chain(values.map(Cell::estimate)));
            }
        }
        table
    }

    /// The metrics of buckets that are shown: at the first and the largest depth.
    pub(super) fn bucket_metrics(&self) -> Vec<String> {
        let k = self.settings.largest_k();
        let mut keys = Vec::new();
        for name in ["P", "PSP", "R"] {
            keys.push(format!("{name}@{}", self.settings.k[0]));
            keys.push(format!("{name}@{k}"));
        }
        keys.dedup();
        keys
    }

    /// AUC and AUPR.
    pub(super) fn frequency_table(&self) -> Table {
        let headings = ["test documents", "model", "labels", "share", "AUC", "AUPR"];
        let caption = "Labels by test frequency, in percent";
        let mut table = Table::new(caption, headings);
        let num_groups = self
            .models
            .first()
            .map_or(0, |model| model.test_frequency.len());
        for place in 0..num_groups {
            for model in &self.models {
                let group = &model.test_frequency[place];
                table.push([
                    Cell::words(frequency_name(group)),
                    Cell::words(&*model.name),
                    Cell::count(group.num_labels),
                    Cell::new(percent(group.share)),
                    Cell::estimate(Some(group.auc)),
                    Cell::estimate(Some(group.aupr)),
                ]);
            }
        }
        table
    }

    /// P@k and PSP@k by length.
    pub(super) fn length_table(&self) -> Table {
        let Some(first) = self.models.first().and_then(|model| model.lengths.first()) else {
            return Table::default();
        };
        let keys: Vec<&str> = first.metrics.iter().map(|(key, _)| key).collect();
        let headings = [self.data.length_unit, "model", "documents"];
        let caption = "Documents by length, in percent";
        let mut table = Table::new(caption, headings).and(keys.iter().copied());
        let num_groups = self.models.iter().map(|model| model.lengths.len()).min();
        for place in 0..num_groups.unwrap_or(0) {
            for model in &self.models {
                let group = &model.lengths[place];
                let cells = [
                    Cell::words(length_name(group)),
                    Cell::words(&*model.name),
                    Cell::count(group.num_documents),
                ];
                let values = keys.iter().map(|key| group.metrics.get(key));
                table.push(cells.into_iter().chain(values.map(Cell::estimate)));
            }
        }
        table
    }

    /// Expected calibration errors.
    pub(super) fn calibration_table(&self) -> Table {
        let k = self.settings.largest_k();
        let places = [
            format!("first {k} places"),
            format!("all {} places", self.settings.depth),
        ];
        let mut table = Table::new("Expected calibration error, in percent", ["model"]).and(places);
        for model in &self.models {
            let error = |report: &super::content::ReliabilityReport| {
                Cell::new(percent(report.expected_calibration_error))
            };
            table.push([
                Cell::words(&*model.name),
                error(&model.calibration.top),
                error(&model.calibration.all),
            ]);
        }
        table
    }

    /// What papers report, with our models above.
    pub(super) fn published_table(&self, dataset: &PublishedDataset) -> Table {
        let Some(first) = self.models.first() else {
            return Table::default();
        };
        // In the order of our own metrics, whatever the order in which the file has them.
        let is_reported = |key: &&str| {
            let mut results = dataset.results.iter();
            results.any(|result| result.values.contains_key(*key))
        };
        let keys = first.metrics.iter().map(|(key, _)| key);
        let keys: Vec<&str> = keys.filter(is_reported).collect();
        let mut table = Table::new(format!("{}, in percent", dataset.name), ["system"])
            .and(keys.iter().copied())
            .and(["source"]);
        for model in &self.models {
            let values = keys.iter().map(|key| model.metrics.get(key));
            let cells = once(Cell::words(&*model.name)).chain(values.map(Cell::estimate));
            table.rows.push(Row {
                cells: cells.chain([Cell::words("this report")]).collect(),
                is_ours: true,
            });
        }
        for result in &dataset.results {
            let values = keys.iter().map(|key| match result.values.get(*key) {
                Some(value) => Cell::new(format!("{value:.2}")),
                None => Cell::new("-"),
            });
            let source = Cell {
                note: result.note.clone().unwrap_or_default(),
                ..Cell::words(&*result.source)
            };
            let cells = once(Cell::words(&*result.system)).chain(values);
            table.push(cells.chain([source]));
        }
        table
    }
}

impl ModelReport {
    /// The labels that most documents miss.
    pub(super) fn missed_table(&self, k: usize) -> Table {
        let headings = ["label", "in training", "in test", "found", "missed"];
        let caption = format!(
            "{}: labels most often missing from the first {k} places",
            self.name
        );
        let mut table = Table::new(caption, headings);
        for missed in &self.missed_labels {
            let name = Cell {
                note: if missed.key == missed.name {
                    String::new()
                } else {
                    missed.key.clone()
                },
                ..Cell::words(&*missed.name)
            };
            let counts = [
                missed.train_frequency,
                missed.test_frequency,
                missed.num_found,
                missed.num_missed,
            ];
            table.push(once(name).chain(counts.map(Cell::count)));
        }
        table
    }
}

/// A row of values by model with the best of several marked.
fn cells_with_best(key: &str, values: &[Option<Estimate>]) -> Vec<Cell> {
    let best = values
        .iter()
        .flatten()
        .map(|value| value.value)
        .fold(0.0, f64::max);
    let is_best = |value: Option<Estimate>| {
        values.len() > 1 && value.is_some_and(|value| value.value >= best && best > 0.0)
    };
    let mut cells = vec![Cell::words(key)];
    cells.extend(values.iter().map(|&value| Cell {
        is_best: is_best(value),
        ..Cell::estimate(value)
    }));
    cells
}

fn difference_cell(difference: Option<Difference>) -> Cell {
    let Some(Difference { estimate, p_value }) = difference else {
        return Cell::new("-");
    };
    let signed = |value: f64| format!("{:+.2}", 100.0 * value);
    Cell {
        note: format!(
            "{} to {}\np {}",
            signed(estimate.low),
            signed(estimate.high),
            p_text(p_value)
        ),
        is_best: p_value < 0.05,
        ..Cell::new(signed(estimate.value))
    }
}

fn p_text(p_value: f64) -> String {
    if p_value < 0.001 {
        "< 0.001".to_owned()
    } else {
        format!("{p_value:.3}")
    }
}

/// A group of labels by its bounds.
pub(super) fn frequency_name(group: &FrequencyGroup) -> String {
    range(group.min_test_frequency, group.max_test_frequency)
}

/// A group of documents by its bounds.
pub(super) fn length_name(group: &LengthGroup) -> String {
    range(u64::from(group.min_length), u64::from(group.max_length))
}

fn range(low: u64, high: u64) -> String {
    if low == high {
        grouped(low)
    } else {
        format!("{}\u{2013}{}", grouped(low), grouped(high))
    }
}
