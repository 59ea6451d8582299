//! What is kept of a trial.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::plan::{Outcome, Step};
use super::search_space::Drawn;

/// How a trial ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It was trained and measured.
    Ok,
    /// Its message says why it was not.
    Failed,
}

/// A finished trial on one rung, a line of `trials.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Counted from 1.
    pub trial: usize,
    /// Counted from 0.
    pub rung: usize,
    /// Share of the documents or epochs that it was trained with.
    pub share: f64,
    /// What differs from the settings of the search.
    pub settings: Drawn,
    pub status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// All metrics, as fractions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
    pub seconds: f64,
    /// The earlier trial that was the same, and was not trained again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<usize>,
}

impl TrialRecord {
    /// Which step of the plan this was.
    pub fn step(&self) -> Step {
        Step {
            trial: self.trial,
            rung: self.rung,
        }
    }

    /// The value of the search's metric.
    pub fn score(&self, metric: &str) -> Option<f64> {
        match self.status {
            Status::Ok => self.metrics.get(metric).copied(),
            Status::Failed => None,
        }
    }

    /// What the plan needs to know.
    pub fn outcome(&self, metric: &str) -> Outcome {
        Outcome {
            step: self.step(),
            score: self.score(metric),
        }
    }
}
