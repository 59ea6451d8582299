//! The list of metrics, and how documents add up to their values.

use super::coverage::coverage_at;
use super::f1::{document_f1, macro_f1, micro_f1};
use super::judged_document::JudgedDocument;
use super::label_table::LabelTable;
use super::ndcg::ndcg_at;
use super::precision::precision_at;
use super::propensity_scored::{psndcg_at, psndcg_by_rows_at, psp_at};
use super::recall::{r_precision_at, recall_at};
use super::reciprocal_rank::reciprocal_rank;
use super::sum::Sum;

/// All metrics at the depths `ks`, in the order in which they are shown.
pub(super) fn all(ks: &[usize]) -> Vec<Metric> {
    use Formula::{Labels, LabelsAt, Mean, MeanAt, Ratio, RatioAt};
    let families: [(&'static str, Formula); 12] = [
        ("P", MeanAt(precision_at)),
        ("R", MeanAt(recall_at)),
        ("nDCG", MeanAt(ndcg_at)),
        ("RP", MeanAt(r_precision_at)),
        ("PSP", RatioAt(psp_at)),
        ("PSnDCG", RatioAt(psndcg_at)),
        ("PSnDCG-rows", RatioAt(psndcg_by_rows_at)),
        ("coverage", LabelsAt(coverage_at)),
        ("MRR", Mean(reciprocal_rank)),
        ("microF1", Ratio(micro_f1)),
        ("macroF1", Labels(macro_f1)),
        ("docF1", Mean(document_f1)),
    ];
    let mut metrics = Vec::new();
    for (name, formula) in families {
        if formula.has_depth() {
            metrics.extend(ks.iter().map(|&k| Metric {
                key: format!("{name}@{k}"),
                formula,
                k,
            }));
        } else {
            metrics.push(Metric {
                key: name.to_owned(),
                formula,
                k: 0,
            });
        }
    }
    metrics
}

/// The keys of all metrics at the depths `ks`, as an [`Evaluation`](super::Evaluation) has them.
pub fn metric_keys(ks: &[usize]) -> Vec<String> {
    all(ks).into_iter().map(|metric| metric.key).collect()
}

/// How a metric comes from documents or labels; `At` where the depth of the ranking matters.
#[derive(Debug, Clone, Copy)]
enum Formula {
    /// Mean over documents.
    Mean(fn(&JudgedDocument) -> f64),
    MeanAt(fn(&JudgedDocument, usize) -> f64),
    /// Quotient of two sums over documents.
    Ratio(fn(&JudgedDocument) -> (f64, f64)),
    RatioAt(fn(&JudgedDocument, usize) -> (f64, f64)),
    /// From the table of labels, once all documents are in it.
    Labels(fn(&LabelTable) -> f64),
    LabelsAt(fn(&LabelTable, usize) -> f64),
}

impl Formula {
    fn has_depth(self) -> bool {
        matches!(self, Self::MeanAt(_) | Self::RatioAt(_) | Self::LabelsAt(_))
    }
}

/// One number of an evaluation.
#[derive(Debug)]
pub(super) struct Metric {
    pub(super) key: String,
    formula: Formula,
    k: usize,
}

/// What documents add to for one metric.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Totals {
    numerator: Sum,
    denominator: Sum,
}

impl Totals {
    pub(super) fn merge(&mut self, other: Self) {
        self.numerator += other.numerator;
        self.denominator += other.denominator;
    }
}

impl Metric {
    pub(super) fn add(&self, document: &JudgedDocument, totals: &mut Totals) {
        if let Some((numerator, denominator)) = self.parts(document) {
            totals.numerator += numerator;
            totals.denominator += denominator;
        }
    }

    /// What a document adds to the two sums whose quotient is the metric; `None` where it comes from
    /// the table of labels.
    pub(super) fn parts(&self, document: &JudgedDocument) -> Option<(f64, f64)> {
        match self.formula {
            Formula::Mean(value) => Some((value(document), 1.0)),
            Formula::MeanAt(value) => Some((value(document, self.k), 1.0)),
            Formula::Ratio(parts) => Some(parts(document)),
            Formula::RatioAt(parts) => Some(parts(document, self.k)),
            Formula::Labels(_) | Formula::LabelsAt(_) => None,
        }
    }

    /// True where documents weigh differently: the denominator is no count of documents.
    pub(super) fn is_ratio(&self) -> bool {
        matches!(self.formula, Formula::Ratio(_) | Formula::RatioAt(_))
    }

    /// True where the metric comes from the table of labels.
    pub(super) fn is_of_labels(&self) -> bool {
        matches!(self.formula, Formula::Labels(_) | Formula::LabelsAt(_))
    }

    /// The metric's value; 0 where there is nothing to divide by.
    pub(super) fn value(&self, totals: &Totals, labels: &LabelTable) -> f64 {
        match self.formula {
            Formula::Labels(value) => value(labels),
            Formula::LabelsAt(value) => value(labels, self.k),
            _ if totals.denominator == Sum::default() => 0.0,
            _ => totals.numerator.value() / totals.denominator.value(),
        }
    }
}
