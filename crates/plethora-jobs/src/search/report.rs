//! What came out of a search, for people and for programs.

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::plan::{Method, Step};
use super::range::shown;
use super::record::{Status, TrialRecord};
use super::search_space::{Drawn, UNCHANGED};
use crate::figures::{duration, percent};

/// Trials in the table; `trials.jsonl` has all of them.
const SHOWN_TRIALS: usize = 10;

/// Metrics of the table beside that of the search.
const SHOWN_METRICS: [&str; 4] = ["P@1", "P@5", "nDCG@5", "PSP@5"];

/// What came out of a search.
#[derive(Debug, Serialize)]
pub struct SearchReport {
    pub(super) system: String,
    pub(super) method: Method,
    pub(super) metric: String,
    /// What early rungs have a share of.
    #[serde(rename = "share_of")]
    pub(super) effort: &'static str,
    #[serde(skip)]
    pub(super) best: Step,
    /// The file with the best settings.
    pub(super) best_settings: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<PathBuf>,
    #[serde(rename = "n_valid_documents")]
    pub(super) num_valid: u64,
    /// False if the time ran out before all trials were done.
    pub(super) is_complete: bool,
    pub(super) seconds: f64,
    pub(super) budget_seconds: f64,
    #[serde(rename = "n_planned")]
    pub(super) num_steps: usize,
    /// All trials, in the order in which they ended.
    #[serde(rename = "trials")]
    pub(super) records: Vec<TrialRecord>,
}

/// A report with what else users want to have.
#[derive(Debug, Serialize)]
pub struct CompleteReport<'a> {
    best: Option<&'a TrialRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    train_command: Option<&'a str>,
    #[serde(flatten)]
    report: &'a SearchReport,
}

impl SearchReport {
    /// The file with the best settings.
    pub fn best_settings(&self) -> &std::path::Path {
        &self.best_settings
    }

    /// The report as JSON.
    pub fn to_json<'a>(&'a self, train_command: Option<&'a str>) -> CompleteReport<'a> {
        CompleteReport {
            best: self.record(self.best),
            train_command,
            report: self,
        }
    }

    /// The report as text.
    pub fn render(&self, train_command: &str) -> String {
        let mut text = self.table();
        text.push('\n');
        self.render_best(&mut text);
        self.render_trials(&mut text);
        let _ = write!(
            text,
            "time        {} of {}{}\n\
             settings    {}\n",
            duration(self.seconds),
            duration(self.budget_seconds),
            if self.is_complete {
                ""
            } else {
                "; it ran out before all trials were done; resume the search with more time"
            },
            self.best_settings.display(),
        );
        if let Some(model) = &self.model {
            let _ = writeln!(text, "model       {}", model.display());
        }
        let _ = write!(
            text,
            "\nTrain with them on all documents\n  {train_command}\n"
        );
        text
    }

    fn record(&self, step: Step) -> Option<&TrialRecord> {
        self.records.iter().find(|record| record.step() == step)
    }

    fn score(&self, record: &TrialRecord) -> Option<f64> {
        record.score(&self.metric)
    }

    /// The best trials, each with its highest rung.
    fn table(&self) -> String {
        let metrics: Vec<&str> = std::iter::once(self.metric.as_str())
            .chain(SHOWN_METRICS.into_iter().filter(|key| *key != self.metric))
            .collect();
        let mut text = format!("{:>5} {:>9}", "trial", self.effort);
        for key in &metrics {
            let _ = write!(text, "{key:>9}");
        }
        let _ = writeln!(text, "{:>10}  settings", "time");
        for record in self.ranked().into_iter().take(SHOWN_TRIALS) {
            let _ = write!(text, "{:>5} {:>9}", record.trial, fraction(record.share));
            for key in &metrics {
                let value = record.metrics.get(*key).copied().unwrap_or_default();
                let _ = write!(text, "{:>9}", percent(value));
            }
            let time = match record.same_as {
                Some(trial) => format!("as {trial}"),
                None => duration(record.seconds),
            };
            let _ = writeln!(text, "{time:>10}  {}", shown_settings(&record.settings));
        }
        text
    }

    /// The trials that have a score, each once, the best first.
    fn ranked(&self) -> Vec<&TrialRecord> {
        let scored = self
            .records
            .iter()
            .filter(|record| self.score(record).is_some());
        let is_highest = |record: &&TrialRecord| {
            let mut others = self
                .records
                .iter()
                .filter(|other| other.trial == record.trial);
            others.all(|other| other.rung <= record.rung || self.score(other).is_none())
        };
        let mut ranked: Vec<&TrialRecord> = scored.filter(is_highest).collect();
        ranked.sort_by(|left, right| self.compare(left, right));
        ranked
    }

    fn compare(&self, left: &TrialRecord, right: &TrialRecord) -> Ordering {
        let score = |record: &TrialRecord| self.score(record).unwrap_or_default();
        let by_rung = right.rung.cmp(&left.rung);
        let by_score = || score(right).total_cmp(&score(left));
        by_rung
            .then_with(by_score)
            .then(left.trial.cmp(&right.trial))
    }

    fn render_best(&self, text: &mut String) {
        let Some(best) = self.record(self.best) else {
            return;
        };
        let _ = writeln!(
            text,
            "best        trial {}: {} {} on {} documents that no trial learnt from",
            best.trial,
            self.metric,
            percent(self.score(best).unwrap_or_default()),
            self.num_valid
        );
        if let Some((rung, unchanged, own)) = self.comparison() {
            let place = if rung.share < 1.0 {
                format!(" with {} of the {}", fraction(rung.share), self.effort)
            } else {
                String::new()
            };
            let _ = writeln!(
                text,
                "unchanged   trial {UNCHANGED}: {} where the best has {}{place}",
                percent(unchanged),
                percent(own)
            );
        }
    }

    /// The unchanged settings and the best at the highest rung that both have reached.
    fn comparison(&self) -> Option<(&TrialRecord, f64, f64)> {
        let of_unchanged = self
            .records
            .iter()
            .filter(|record| record.trial == UNCHANGED);
        let highest = of_unchanged
            .filter(|record| self.score(record).is_some())
            .max_by_key(|record| record.rung)?;
        let own = self.record(Step {
            trial: self.best.trial,
            rung: highest.rung,
        })?;
        Some((highest, self.score(highest)?, self.score(own)?))
    }

    fn render_trials(&self, text: &mut String) {
        let failed: Vec<&TrialRecord> = (self.records.iter())
            .filter(|record| record.status == Status::Failed)
            .collect();
        let _ = write!(
            text,
            "trials      {} of {}",
            self.records.len(),
            self.num_steps
        );
        if let Some(message) = failed.first().and_then(|record| record.message.as_ref()) {
            let _ = write!(text, ", {} failed; the first: {message}", failed.len());
        }
        text.push('\n');
    }
}

fn shown_settings(settings: &Drawn) -> String {
    if settings.is_empty() {
        return "unchanged".into();
    }
    let parts: Vec<String> = (settings.iter())
        .map(|(key, value)| format!("{key}={}", shown(value)))
        .collect();
    parts.join(" ")
}

/// A share as people read it.
fn fraction(share: f64) -> String {
    if share < 1.0 {
        format!("1/{:.0}", 1.0 / share)
    } else {
        "all".into()
    }
}
