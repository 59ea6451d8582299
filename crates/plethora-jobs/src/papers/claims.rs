//! The tables in which claims, runs and data are written down.

use std::collections::BTreeMap;

use plethora_system::TrainingSize;
use serde::Deserialize;

use super::rule::Rule;

/// A paper and what is claimed in it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// What commands call it.
    pub id: String,
    /// Its authors, name and year.
    pub title: String,
    /// What it is on, in a sentence or two.
    pub about: String,
    /// What it claims.
    #[serde(rename = "claim")]
    pub claims: Vec<Claim>,
    /// What tests its claims; other papers' claims may use these, too.
    #[serde(rename = "run", default)]
    pub runs: Vec<Run>,
}

/// A table, a figure or a sentence of a paper.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// What commands call it, behind the paper: `table-2`.
    pub id: String,
    /// What it says.
    pub says: String,
    /// Metrics that are shown; rules that name none are judged by the last of them.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// The paper's figures, on its data.
    #[serde(default)]
    pub paper: Vec<Printed>,
    /// Data on which it is tested here.
    #[serde(default)]
    pub data: Vec<String>,
    /// What has to hold if it does.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// Runs that are shown beside those that rules compare.
    #[serde(default)]
    pub beside: Vec<String>,
    /// Whether the runs are ranked over all data and metrics, with a test of their differences.
    #[serde(default)]
    pub ranks: bool,
    /// Why it cannot be tested here.
    pub untestable: Option<String>,
    /// What is to be known of the comparison.
    pub note: Option<String>,
}

/// Figures as a paper prints them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Printed {
    /// The paper's data set.
    pub data: String,
    /// What the figures are of, where they are not those that the claim shows.
    pub metrics: Option<Vec<String>>,
    /// Figures of each system, as the paper calls it.
    pub rows: BTreeMap<String, Vec<f64>>,
}

/// Something that is trained, or made of what is trained, and measured.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// What claims and commands call it.
    pub id: String,
    /// What it is, in a few words.
    pub about: String,
    /// What `plethora train` is told beside the data.
    #[serde(default)]
    pub train: String,
    /// What it needs that only the user has.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// Runs that it is made of.
    #[serde(default)]
    pub of: Vec<String>,
    /// Whether what it is made of is calibrated on validation documents first.
    #[serde(default)]
    pub calibrated: bool,
    /// What `plethora ensemble` is told; absent where nothing is combined.
    pub ensemble: Option<String>,
    /// Whether the ensemble is fitted to validation documents.
    #[serde(default)]
    pub fitted: bool,
    /// Whether it can no longer be run: its figures are of a program that did otherwise.
    #[serde(default)]
    pub past: bool,
    /// Trees or networks that rank, the first ones; absent for all. Two runs that are neither combined nor ranked in part
    /// are compared with each other.
    pub members: Option<usize>,
}

/// What a run needs that only the user has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// Pretrained word vectors.
    Vectors,
    /// A pretrained encoder.
    Encoder,
    /// Names and parents of labels.
    Vocabulary,
}

/// A corpus that claims are tested on.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// What claims and commands call it.
    pub id: String,
    /// What it is, in a sentence.
    pub about: String,
    /// Files below the folder of data that have to be there.
    pub files: Vec<String>,
    /// Training documents, as arguments; `{}` stands for the folder of data.
    pub train: String,
    /// Documents to choose weights by, as arguments of `train`; empty for none.
    #[serde(default)]
    pub valid: String,
    /// The same documents, as arguments of other commands.
    #[serde(default)]
    pub held: String,
    /// Test documents.
    pub test: String,
    /// The file of names of labels.
    pub vocabulary: Option<String>,
    /// Settings that all runs have on it, by the system.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// What decides the cost of training on it.
    pub size: Option<Size>,
    /// The data set of papers that it is, where it is one.
    #[serde(rename = "is")]
    pub own: Option<String>,
}

/// What decides the cost of training, as `plethora check` counts it.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Training documents.
    documents: u64,
    /// Different terms of each document, summed.
    entries: u64,
    /// Different terms.
    features: u64,
    /// Different labels.
    labels: u64,
    /// Labels of all documents.
    assignments: u64,
}

impl From<Size> for TrainingSize {
    fn from(size: Size) -> Self {
        Self {
            num_documents: size.documents,
            num_entries: size.entries,
            num_features: size.features,
            num_labels: size.labels,
            num_assignments: size.assignments,
        }
    }
}
