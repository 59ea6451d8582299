//! Takes in rankings one document at a time.

use std::sync::Arc;

use super::buckets::{BucketHits, Buckets, Depths};
use super::evaluation::Evaluation;
use super::judged_document::JudgedDocument;
use super::label_table::LabelTable;
use super::metric::{self, Metric, Totals};
use super::{EvaluationConfig, Propensities, ScoredLabel};
use crate::{LabelId, Result};

/// Compares rankings with true labels, one document at a time, and holds nothing of the documents:
/// memory grows with the number of labels only.
///
/// ```
/// use plethora_core::metrics::{EvaluationConfig, Evaluator};
/// use plethora_core::{LabelId, ScoredLabel};
///
/// let mut evaluator = Evaluator::new(EvaluationConfig::default(), &[40, 2], 100)?;
/// let ranking = [(1, 0.9), (0, 0.2)].map(|(id, score)| ScoredLabel { label: LabelId(id), score });
/// evaluator.add(&[LabelId(1)], &ranking);
/// let evaluation = evaluator.finish();
/// assert_eq!(evaluation.get("P@1"), Some(1.0));
/// # Ok::<(), plethora_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Evaluator {
    pub(super) rules: Arc<Rules>,
    /// The latest document.
    pub(super) document: JudgedDocument,
    num_documents: u64,
    num_documents_without_labels: u64,
    totals: Vec<Totals>,
    labels: LabelTable,
    bucket_hits: BucketHits,
}

/// What evaluators that will be merged have in common.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) config: EvaluationConfig,
    pub(super) train_counts: Arc<[u32]>,
    num_train_documents: u64,
    pub(super) propensities: Propensities,
    pub(super) buckets: Buckets,
    pub(super) metrics: Vec<Metric>,
    /// Thresholds of labels in place of the one of the settings.
    label_thresholds: Option<Vec<f32>>,
}

impl Evaluator {
    /// An evaluator without documents. `train_counts` has for each label the number of training
    /// documents with it; labels with ids beyond it are ones that training never saw.
    ///
    /// # Errors
    /// If the settings cannot work.
    pub fn new(
        config: EvaluationConfig,
        train_counts: &[u32],
        num_train_documents: u64,
    ) -> Result<Self> {
        config.validate()?;
        let rules = Rules {
            propensities: Propensities::new(train_counts, num_train_documents, config.a, config.b),
            buckets: Buckets::new(train_counts),
            metrics: metric::all(&config.ks),
            label_thresholds: None,
            train_counts: train_counts.into(),
            num_train_documents,
            config,
        };
        Ok(Self::with_rules(Arc::new(rules)))
    }

    fn with_rules(rules: Arc<Rules>) -> Self {
        Self {
            document: JudgedDocument::default(),
            num_documents: 0,
            num_documents_without_labels: 0,
            totals: vec![Totals::default(); rules.metrics.len()],
            labels: LabelTable::new(rules.train_counts.len()),
            bucket_hits: BucketHits::new(rules.config.ks.len()),
            rules,
        }
    }

    /// Gives each label of the label space a threshold of its own, before the first document.
    ///
    /// # Panics
    /// If the evaluator was forked already.
    pub fn with_label_thresholds(mut self, thresholds: Vec<f32>) -> Self {
        let rules = Arc::get_mut(&mut self.rules);
        rules
            .expect("thresholds are set before an evaluator is forked")
            .label_thresholds = Some(thresholds);
        self
    }

    /// Another evaluator without documents, for a thread of its own; to be merged into this one.
    pub fn fork(&self) -> Self {
        Self::with_rules(Arc::clone(&self.rules))
    }

    /// Takes in a document: its true labels in any order, and its ranking, best label first.
    pub fn add(&mut self, truth: &[LabelId], ranking: &[ScoredLabel]) {
        let rules = &self.rules;
        let threshold = |label: LabelId| {
            let own = rules.label_thresholds.as_ref();
            let own = own.and_then(|thresholds| thresholds.get(label.index()));
            own.copied().unwrap_or(rules.config.threshold)
        };
        self.document
            .fill(truth, ranking, &rules.propensities, threshold);
        self.num_documents += 1;
        self.num_documents_without_labels += u64::from(truth.is_empty());
        for (metric, totals) in rules.metrics.iter().zip(&mut self.totals) {
            metric.add(&self.document, totals);
        }
        self.labels.add(&self.document);
        let (train_counts, ks) = (&rules.train_counts, &rules.config.ks);
        rules
            .buckets
            .add(&self.document, train_counts, ks, &mut self.bucket_hits);
    }

    /// Takes in all documents of `other`, a [`fork`](Self::fork) of this one. The result does not
    /// depend on how documents were spread over forks, nor on the order of merging.
    ///
    /// # Panics
    /// If `other` was made with other settings or labels.
    pub fn merge(&mut self, other: &Self) {
        let is_alike = Arc::ptr_eq(&self.rules, &other.rules)
            || (self.rules.config == other.rules.config
                && self.rules.train_counts == other.rules.train_counts
                && self.rules.num_train_documents == other.rules.num_train_documents
                && self.rules.label_thresholds == other.rules.label_thresholds);
        assert!(
            is_alike,
            "evaluators of different settings cannot be merged"
        );
        self.num_documents += other.num_documents;
        self.num_documents_without_labels += other.num_documents_without_labels;
        for (totals, more) in self.totals.iter_mut().zip(&other.totals) {
            totals.merge(*more);
        }
        self.labels.merge(&other.labels);
        self.bucket_hits.merge(&other.bucket_hits);
    }

    /// The values of all metrics.
    pub fn finish(self) -> Evaluation {
        let Self {
            rules,
            num_documents,
            totals,
            labels,
            bucket_hits,
            ..
        } = self;
        let values = rules
            .metrics
            .iter()
            .zip(&totals)
            .map(|(metric, totals)| (metric.key.clone(), metric.value(totals, &labels)))
            .collect();
        let depths = Depths {
            ks: &rules.config.ks,
            num_documents,
        };
        let buckets = rules
            .buckets
            .evaluate(&labels, &rules.train_counts, &bucket_hits, depths);
        Evaluation {
            config: rules.config.clone(),
            num_documents,
            num_documents_without_labels: self.num_documents_without_labels,
            num_train_documents: rules.num_train_documents,
            values,
            buckets,
            labels,
            train_counts: Arc::clone(&rules.train_counts),
        }
    }
}
