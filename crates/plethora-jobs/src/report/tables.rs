//! The tables of a report.

use plethora_core::grouped;
use plethora_core::metrics::{Difference, Estimate, FrequencyGroup, LengthGroup};

use super::content::{ModelReport, Report};
use super::published::PublishedDataset;
use super::table::{Cell, Row, Table};
use crate::figures::percent;

impl Report {
    /// Every metric of every model.
    pub(super) fn metric_table(&self) -> Table {
        let mut headings = vec!["percent".to_owned()];
        headings.extend(self.names().iter().map(|&name| name.to_owned()));
        let share = 100.0 * self.settings.bootstrap.confidence;
        let mut table = Table::new(
            format!("Every metric with its {share} % interval"),
            headings,
        );
        let Some(first) = self.models.first() else {
            return table;
        };
        for (key, _) in first.metrics.iter() {
            let values = self.models.iter().map(|model| model.metrics.get(key));
            let values: Vec<Option<Estimate>> = values.collect();
            table.rows.push(row_with_best(key, &values));
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
        let mut table = Table::new("The models", headings.map(str::to_owned).to_vec());
        for model in &self.models {
            table.rows.push(Row::new(vec![
                Cell::words(&*model.name),
                Cell::words(&*model.system),
                Cell::new(grouped(model.num_train_documents)),
                Cell::new(grouped(model.num_labels)),
                Cell::new(grouped(model.num_unseen_labels)),
                Cell::new(format!("{:.3}", model.speed.ranking_ms_cpu_per_doc)),
                Cell::new(format!("{:.3}", model.speed.features_ms_cpu_per_doc)),
            ]));
        }
        table
    }

    /// Differences of all pairs in the main metrics.
    pub(super) fn difference_table(&self) -> Table {
        let metrics = self.main_metrics();
        let mut headings = vec!["pair".to_owned()];
        headings.extend(metrics.iter().cloned());
        let caption = "First model less second, in points, with interval and p-value";
        let mut table = Table::new(caption, headings);
        for pair in &self.comparisons {
            let name = format!("{} \u{2212} {}", pair.first, pair.second);
            let mut cells = vec![Cell::words(name)];
            cells.extend(metrics.iter().map(|key| difference_cell(pair.get(key))));
            table.rows.push(Row::new(cells));
        }
        table
    }

    /// How many of their first labels models have in common.
    pub(super) fn overlap_table(&self) -> Table {
        let depth = self
            .comparisons
            .first()
            .map_or(0, |pair| pair.overlap.len());
        let mut headings = vec!["pair".to_owned()];
        headings.extend((1..=depth).map(|k| format!("top {k}")));
        let mut table = Table::new("Common labels among the first, in percent", headings);
        for pair in &self.comparisons {
            let name = format!("{} and {}", pair.first, pair.second);
            let mut cells = vec![Cell::words(name)];
            cells.extend(pair.overlap.iter().map(|&share| Cell::new(percent(share))));
            table.rows.push(Row::new(cells));
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
        let mut headings: Vec<String> = names.map(str::to_owned).to_vec();
        headings.extend(metrics.iter().cloned());
        let mut table = Table::new("Labels by training frequency, in percent", headings);
        let num_buckets = self.models.first().map_or(0, |model| model.buckets.len());
        for place in 0..num_buckets {
            for model in &self.models {
                let bucket = &model.buckets[place];
                let mut cells = vec![
                    Cell::words(bucket.bucket),
                    Cell::words(&*model.name),
                    Cell::new(format!(
                        "{}+",
                        grouped(u64::from(bucket.min_train_frequency))
                    )),
                    Cell::new(grouped(bucket.num_labels)),
                    Cell::new(grouped(bucket.num_test_assignments)),
                ];
                let values = metrics.iter().map(|key| bucket.metrics.get(key));
                cells.extend(values.map(Cell::estimate));
                table.rows.push(Row::new(cells));
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
        let mut table = Table::new(caption, headings.map(str::to_owned).to_vec());
        let num_groups = self
            .models
            .first()
            .map_or(0, |model| model.test_frequency.len());
        for place in 0..num_groups {
            for model in &self.models {
                let group = &model.test_frequency[place];
                table.rows.push(Row::new(vec![
                    Cell::words(frequency_name(group)),
                    Cell::words(&*model.name),
                    Cell::new(grouped(group.num_labels)),
                    Cell::new(percent(group.share)),
                    Cell::estimate(Some(group.auc)),
                    Cell::estimate(Some(group.aupr)),
                ]));
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
        let mut headings = vec![
            self.data.length_unit.to_owned(),
            "model".to_owned(),
            "documents".to_owned(),
        ];
        headings.extend(keys.iter().map(|&key| key.to_owned()));
        let mut table = Table::new("Documents by length, in percent", headings);
        let num_groups = self.models.iter().map(|model| model.lengths.len()).min();
        for place in 0..num_groups.unwrap_or(0) {
            for model in &self.models {
                let group = &model.lengths[place];
                let mut cells = vec![
                    Cell::words(length_name(group)),
                    Cell::words(&*model.name),
                    Cell::new(grouped(group.num_documents)),
                ];
                cells.extend(
                    keys.iter()
                        .map(|key| Cell::estimate(group.metrics.get(key))),
                );
                table.rows.push(Row::new(cells));
            }
        }
        table
    }

    /// Expected calibration errors.
    pub(super) fn calibration_table(&self) -> Table {
        let k = self.settings.largest_k();
        let headings = vec![
            "model".to_owned(),
            format!("first {k} places"),
            format!("all {} places", self.settings.depth),
        ];
        let mut table = Table::new("Expected calibration error, in percent", headings);
        for model in &self.models {
            let error = |report: &super::content::ReliabilityReport| {
                Cell::new(percent(report.expected_calibration_error))
            };
            table.rows.push(Row::new(vec![
                Cell::words(&*model.name),
                error(&model.calibration.top),
                error(&model.calibration.all),
            ]));
        }
        table
    }

    /// What papers report, with our models above.
    pub(super) fn published_table(&self, dataset: &PublishedDataset) -> Table {
        let mut keys: Vec<&str> = Vec::new();
        // In the order of our own metrics, whatever the order in which the file has them.
        let Some(first) = self.models.first() else {
            return Table::default();
        };
        for (key, _) in first.metrics.iter() {
            if dataset
                .results
                .iter()
                .any(|result| result.values.contains_key(key))
            {
                keys.push(key);
            }
        }
        let mut headings = vec!["system".to_owned()];
        headings.extend(keys.iter().map(|&key| key.to_owned()));
        headings.push("source".to_owned());
        let mut table = Table::new(format!("{}, in percent", dataset.name), headings);
        for model in &self.models {
            let mut cells = vec![Cell::words(&*model.name)];
            cells.extend(
                keys.iter()
                    .map(|key| Cell::estimate(model.metrics.get(key))),
            );
            cells.push(Cell::words("this report"));
            table.rows.push(Row {
                cells,
                is_ours: true,
            });
        }
        for result in &dataset.results {
            let mut cells = vec![Cell::words(&*result.system)];
            let value = |key: &&str| match result.values.get(*key) {
                Some(value) => Cell::new(format!("{value:.2}")),
                None => Cell::new("-"),
            };
            cells.extend(keys.iter().map(value));
            cells.push(Cell {
                note: result.note.clone().unwrap_or_default(),
                ..Cell::words(&*result.source)
            });
            table.rows.push(Row::new(cells));
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
        let mut table = Table::new(caption, headings.map(str::to_owned).to_vec());
        for missed in &self.missed_labels {
            let name = Cell {
                note: if missed.key == missed.name {
                    String::new()
                } else {
                    missed.key.clone()
                },
                ..Cell::words(&*missed.name)
            };
            let mut cells = vec![name];
            let counts = [
                missed.train_frequency,
                missed.test_frequency,
                missed.num_found,
                missed.num_missed,
            ];
            cells.extend(counts.map(|count| Cell::new(grouped(u64::from(count)))));
            table.rows.push(Row::new(cells));
        }
        table
    }
}

/// A row of values by model with the best of several marked.
fn row_with_best(key: &str, values: &[Option<Estimate>]) -> Row {
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
    Row::new(cells)
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
