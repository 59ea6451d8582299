//! Takes in rankings and keeps what intervals need.

use super::super::evaluator::Evaluator;
use super::super::ndcg::ndcg_at;
use super::super::reliability::ReliabilityCounter;
use super::super::{EvaluationConfig, ScoredLabel};
use super::detailed_evaluation::DetailedEvaluation;
use super::document_columns::DocumentColumns;
use super::label_curves::LabelCurves;
use super::observation_table::ObservationTable;
use crate::{LabelId, Result};

/// Compares rankings with true labels as [`Evaluator`] does, and keeps a few numbers of each document
/// and eight bytes of each of its first hundred places.
///
/// ```
/// use plethora_core::metrics::{BootstrapConfig, DetailedEvaluator, EvaluationConfig};
/// use plethora_core::{LabelId, ScoredLabel};
///
/// let mut evaluator = DetailedEvaluator::new(EvaluationConfig::default(), &[40, 2], 100)?;
/// for (truth, score) in [(1, 0.9), (0, 0.7), (1, 0.8)] {
///     let ranking = [ScoredLabel { label: LabelId(1), score }];
///     evaluator.add(&[LabelId(truth)], &ranking, 120);
/// }
/// let evaluation = evaluator.finish();
/// let (metrics, _) = evaluation.metrics(&BootstrapConfig::default());
/// let precision = metrics.get("P@1").expect("a metric that is always there");
/// assert!(precision.low <= precision.value && precision.value <= precision.high);
/// # Ok::<(), plethora_core::Error>(())
/// ```
#[derive(Debug)]
pub struct DetailedEvaluator {
    evaluator: Evaluator,
    columns: DocumentColumns,
    documents: ObservationTable,
    row: Vec<f64>,
    lengths: Vec<u32>,
    curves: LabelCurves,
    /// By label, in how many documents it is a hit in the first places.
    num_found: Vec<u32>,
    top_reliability: ReliabilityCounter,
    reliability: ReliabilityCounter,
    largest_k: usize,
}

/// How a document fared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// nDCG at the largest depth.
    pub ndcg: f64,
    /// True labels that are not in the first places, down to the largest depth.
    pub num_missed: usize,
}

impl DetailedEvaluator {
    /// An evaluator without documents; the arguments are those of [`Evaluator::new`].
    ///
    /// # Errors
    /// If the settings cannot work.
    pub fn new(
        config: EvaluationConfig,
        train_counts: &[u32],
        num_train_documents: u64,
    ) -> Result<Self> {
        Evaluator::new(config, train_counts, num_train_documents).map(Self::from)
    }

    /// Takes in a document: its true labels in any order, its ranking, best label first, and how long
    /// it is, in any unit.
    pub fn add(&mut self, truth: &[LabelId], ranking: &[ScoredLabel], length: u32) -> Outcome {
        self.evaluator.add(truth, ranking);
        let Self {
            evaluator,
            documents,
            row,
            num_found,
            ..
        } = self;
        let document = &evaluator.document;
        DocumentColumns::fill(&evaluator.rules, document, row);
        documents.push(row.iter().copied());
        self.lengths.push(length);
        let judged = ranking.iter().zip(&document.places);
        let first_times = judged.filter(|(_, place)| !place.is_repeat);
        self.curves.add(
            first_times
                .clone()
                .map(|(scored, place)| (scored, place.is_hit)),
        );
        for (rank, (scored, place)) in first_times.enumerate() {
            self.reliability.add(scored.score, place.is_hit);
            if rank < self.largest_k {
                self.top_reliability.add(scored.score, place.is_hit);
            }
        }
        for place in document.top(self.largest_k) {
            if place.is_hit {
                let label = place.label.index();
                if label >= num_found.len() {
                    num_found.resize(label + 1, 0);
                }
                num_found[label] += 1;
            }
        }
        Outcome {
            // A sum of nothing is a negative zero, which people would be shown.
            ndcg: ndcg_at(document, self.largest_k) + 0.0,
            num_missed: document.truth.len() - document.num_hits(self.largest_k) as usize,
        }
    }

    /// The evaluation of all documents.
    pub fn finish(self) -> DetailedEvaluation {
        DetailedEvaluation {
            evaluation: self.evaluator.finish(),
            columns: self.columns,
            documents: self.documents,
            lengths: self.lengths,
            curves: self.curves,
            num_found: self.num_found,
            top_reliability: self.top_reliability.diagram(),
            reliability: self.reliability.diagram(),
        }
    }
}

impl From<Evaluator> for DetailedEvaluator {
    /// Goes by the settings of an evaluator that has no documents yet.
    fn from(evaluator: Evaluator) -> Self {
        let columns = DocumentColumns::new(&evaluator.rules);
        let ks = &evaluator.rules.config.ks;
        Self {
            documents: ObservationTable::new(columns.num_columns),
            columns,
            row: Vec::new(),
            lengths: Vec::new(),
            curves: LabelCurves::default(),
            num_found: vec![0; evaluator.rules.train_counts.len()],
            top_reliability: ReliabilityCounter::default(),
            reliability: ReliabilityCounter::default(),
            largest_k: ks.iter().copied().max().unwrap_or(1),
            evaluator,
        }
    }
}
