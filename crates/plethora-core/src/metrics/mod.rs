//! How good rankings are, measured once for every system: precision, recall, nDCG, their
//! propensity-scored forms, F1 at a threshold, coverage, and the same by how frequent labels are.
//!
//! Rules that hold for all of them:
//!
//! - A ranking is a list of labels, best first. One that is shorter than `k` has misses in its
//!   missing places; a label that comes a second time is a miss there.
//! - Documents without true labels count as 0 in every mean, and add nothing to ratios of sums.
//! - True labels that training never saw stay in the truth: they cannot be found, and that counts.
//!
//! To add a metric, write its formula as a function in a file of its own and register it in
//! `metric.rs`.

mod buckets;
mod coverage;
mod detail;
mod evaluation;
mod evaluation_config;
mod evaluator;
mod f1;
mod judged_document;
mod label_table;
mod metric;
mod ndcg;
mod precision;
mod propensity;
mod propensity_scored;
mod ranks;
mod recall;
mod reciprocal_rank;
mod reliability;
mod scored_label;
mod sum;

pub(crate) use buckets::Buckets;
pub use buckets::{BucketEvaluation, BucketName};
pub use detail::{
    BootstrapConfig, BucketEstimates, Comparison, DetailedEvaluation, DetailedEvaluator,
    Difference, Draws, Estimate, Estimates, FrequencyGroup, LengthGroup, LengthGroups, MissedLabel,
    Outcome, TopLabels, Worst,
};
pub use evaluation::Evaluation;
pub use evaluation_config::EvaluationConfig;
pub use evaluator::Evaluator;
pub use label_table::LabelEvaluation;
pub use metric::metric_keys;
pub use propensity::Propensities;
pub use ranks::{average_ranks, wilcoxon};
pub(crate) use reliability::{NUM_BINS, equal_width_bin};
pub use reliability::{Reliability, ReliabilityBin};
pub use scored_label::ScoredLabel;
