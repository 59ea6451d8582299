//! An evaluation with its uncertainty: what documents and labels add to each metric is kept, a few
//! numbers per document, so that metrics can be computed again for documents drawn anew.
//!
//! Three conventions:
//!
//! - Intervals are percentile bootstrap intervals (Efron 1979). Metrics that are means or ratios of
//!   sums over documents draw documents; metrics that are means over labels (macro-F1, coverage, AUC,
//!   AUPR) draw labels, because a draw of documents loses a third of them and with them the rare
//!   labels, which would shift such means.
//! - Draws depend on the seed, the number of a draw and the number of documents, not on the model,
//!   so that the draws of two models on the same documents are pairs.
//! - A label that a ranking does not hold has a score below all that it holds, the same for all such
//!   labels: they are tied at the bottom.

mod bootstrap;
mod comparison;
mod detailed_evaluation;
mod detailed_evaluator;
mod document_columns;
mod frequency_groups;
mod label_curves;
mod length_groups;
mod observation_table;
mod top_labels;
mod worst;

pub use bootstrap::{BootstrapConfig, Draws, Estimate};
pub use comparison::{Comparison, Difference};
pub use detailed_evaluation::{BucketEstimates, DetailedEvaluation, Estimates, MissedLabel};
pub use detailed_evaluator::{DetailedEvaluator, Outcome};
pub use frequency_groups::FrequencyGroup;
pub use length_groups::{LengthGroup, LengthGroups};
pub use top_labels::TopLabels;
pub use worst::Worst;
