//! Measuring a model on a corpus, batch by batch.

use std::path::Path;

use plethora_core::artifact::Overlap;
use plethora_core::corpus::{CorpusReader, Document};
use plethora_core::metrics::{Evaluation, EvaluationConfig, Evaluator};
use plethora_core::{LabelId, Result, ScoredLabel};
use plethora_system::resources::cpu_seconds;
use plethora_system::{Predictor, RankOptions};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::Session;
use crate::corpus_reading::{foreign_labels, in_file, no_labels, tell_overlap, tell_warnings};

/// Labels ranked per document, if not told otherwise: what AUC and AUPR need, and what lies deeper
/// hardly reaches a threshold. The same in `eval` and in reports, whose F1 is to be the same.
pub const USUAL_DEPTH: usize = 100;

/// What came out of an evaluation.
#[derive(Debug, Serialize)]
pub struct MeasuredModel {
    /// All metrics.
    #[serde(flatten)]
    pub evaluation: Evaluation,
    /// Labels ranked per document.
    pub depth: usize,
    /// Different true labels that training never saw.
    #[serde(rename = "n_unseen_labels")]
    pub num_unseen_labels: u64,
    /// How often they are true.
    #[serde(rename = "n_unseen_assignments")]
    pub num_unseen_assignments: u64,
    /// Whether tuned thresholds counted.
    #[serde(
        rename = "tuned_thresholds",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub is_tuned: bool,
    /// What ranking cost.
    pub speed: Speed,
    /// Keys of the labels beyond the model's, in the order of their ids.
    #[serde(skip)]
    unseen_keys: Vec<String>,
}

/// CPU time of prediction, in milliseconds per document.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Speed {
    /// Making features, where the system has any.
    pub features_ms_cpu_per_doc: f64,
    /// Ranking labels.
    pub ranking_ms_cpu_per_doc: f64,
}

/// How to evaluate.
#[derive(Debug, Clone)]
pub struct EvaluationRun {
    /// What to measure.
    pub config: EvaluationConfig,
    /// Tree nodes kept per level, if not those of the model.
    pub beam: Option<usize>,
    /// Labels to rank per document, where more are wanted than the metrics need.
    pub depth: Option<usize>,
    /// Whether the model's tuned thresholds count, not the one of the settings.
    pub is_tuned: bool,
}

impl EvaluationRun {
    /// Ranks all documents of `reader`, which comes from `path`, and compares with their labels.
    pub fn run(
        &self,
        predictor: &Predictor,
        reader: CorpusReader,
        path: &Path,
        session: &Session,
    ) -> Result<MeasuredModel> {
        let evaluator = self.evaluator(predictor)?;
        let (evaluator, facts) = self.judge(predictor, reader, path, session, evaluator)?;
        Ok(MeasuredModel::new(evaluator.finish(), facts))
    }

    /// What compares the rankings of a model with the truth.
    pub fn evaluator(&self, predictor: &Predictor) -> Result<Evaluator> {
        let evaluator = Evaluator::new(
            self.config.clone(),
            predictor.labels().train_counts(),
            predictor.num_train_documents(),
        )?;
        Ok(match predictor.label_thresholds() {
            Some(thresholds) if self.is_tuned => evaluator.with_label_thresholds(thresholds),
            _ => evaluator,
        })
    }

    /// Ranks all documents of `reader`, which comes from `path`, and hands them to `judge`.
    pub fn judge<J: Judge>(
        &self,
        predictor: &Predictor,
        mut reader: CorpusReader,
        path: &Path,
        session: &Session,
        judge: J,
    ) -> Result<(J, JudgingFacts)> {
        let largest_k = self.config.ks.iter().copied().max().unwrap_or(1);
        let usual_depth = match predictor.calibration() {
            Some(calibration) if self.is_tuned => calibration.config.depth,
            _ => USUAL_DEPTH,
        };
        let depth = self.depth.unwrap_or(usual_depth).max(largest_k);
        let mut measuring = Measuring {
            predictor,
            options: RankOptions {
                top_k: depth,
                beam: self.beam,
            },
            judge,
            is_tuned: self.is_tuned,
            unseen: FxHashMap::default(),
            named: FxHashSet::default(),
            num_unseen_assignments: 0,
            num_documents: 0,
            num_labelled: 0,
            num_known_assignments: 0,
            overlap: Overlap::default(),
            features_s: 0.0,
            ranking_s: 0.0,
        };
        session.progress().start("evaluating", None);
        let batch_size = predictor.documents_per_batch();
        for_each_batch(&mut reader, batch_size, session, |batch| {
            measuring.add(batch)?;
            session.progress().advance(batch.len() as u64);
            Ok(())
        })
        .map_err(|error| in_file(error, path))?;
        let num_documents = measuring.num_documents;
        session
            .progress()
            .finish(&format!("{num_documents} documents"));
        if measuring.num_labelled == 0 {
            return Err(no_labels(path, reader.format(), "to compare with"));
        }
        tell_warnings(&reader, session.progress());
        if measuring.num_known_assignments == 0 {
            let example = measuring.unseen.keys().min().cloned();
            return Err(foreign_labels(
                path,
                predictor,
                &example.unwrap_or_default(),
            ));
        }
        tell_overlap(measuring.overlap, num_documents, session.progress());
        Ok(measuring.finish(depth))
    }
}

/// Compares rankings with the truth.
pub trait Judge {
    /// Takes in a document with the ids of its true labels and its ranking, best label first.
    fn add(&mut self, document: &Document, truth: &[LabelId], ranking: &[ScoredLabel]);
}

impl Judge for Evaluator {
    fn add(&mut self, _document: &Document, truth: &[LabelId], ranking: &[ScoredLabel]) {
        Self::add(self, truth, ranking);
    }
}

/// What is known after all documents were judged, whatever judged them.
#[derive(Debug)]
pub struct JudgingFacts {
    depth: usize,
    is_tuned: bool,
    unseen_keys: Vec<String>,
    num_named: u64,
    num_unseen_assignments: u64,
    speed: Speed,
}

/// Hands the documents of a corpus to `act` in batches; stops when the user asks to.
pub fn for_each_batch(
    mut documents: impl Iterator<Item = Result<Document>>,
    batch_size: usize,
    session: &Session,
    mut act: impl FnMut(&[Document]) -> Result<()>,
) -> Result<()> {
    let mut batch = Vec::with_capacity(batch_size);
    loop {
        let next = documents.next().transpose()?;
        let is_end = next.is_none();
        batch.extend(next);
        if batch.len() == batch_size || (is_end && !batch.is_empty()) {
            session.check_interrupt()?;
            act(&batch)?;
            batch.clear();
        }
        if is_end {
            return Ok(());
        }
    }
}

/// An evaluation under way.
struct Measuring<'a, J> {
    predictor: &'a Predictor,
    options: RankOptions,
    judge: J,
    is_tuned: bool,
    /// Ids of true labels that the model does not know; they follow the model's own.
    unseen: FxHashMap<String, LabelId>,
    /// True labels that the model knows, but no training document had.
    named: FxHashSet<LabelId>,
    num_unseen_assignments: u64,
    num_documents: u64,
    num_labelled: u64,
    /// How often a label that the model knows is true.
    num_known_assignments: u64,
    overlap: Overlap,
    features_s: f64,
    ranking_s: f64,
}

impl<J: Judge> Measuring<'_, J> {
    fn add(&mut self, documents: &[Document]) -> Result<()> {
        let start = cpu_seconds();
        let rankings = self.predictor.rank_timed(documents, self.options)?;
        self.ranking_s += cpu_seconds() - start - rankings.features_s;
        self.features_s += rankings.features_s;
        for (document, ranking) in documents.iter().zip(&rankings.labels) {
            let truth: Vec<LabelId> = document
                .labels
                .iter()
                .map(|key| self.true_label(key))
                .collect();
            if let Some(trained_on) = self.predictor.trained_on() {
                trained_on.compare(document, &mut self.overlap);
            }
            self.num_documents += 1;
            self.num_labelled += u64::from(!truth.is_empty());
            self.judge.add(document, &truth, ranking);
        }
        Ok(())
    }

    fn true_label(&mut self, key: &str) -> LabelId {
        let labels = self.predictor.labels();
        if let Some(id) = labels.id(key) {
            self.num_known_assignments += 1;
            // Some systems know labels by their names alone.
            if labels.train_counts()[id.index()] == 0 {
                self.num_unseen_assignments += 1;
                self.named.insert(id);
            }
            return id;
        }
        self.num_unseen_assignments += 1;
        let next = LabelId((labels.len() + self.unseen.len()) as u32);
        if let Some(&id) = self.unseen.get(key) {
            return id;
        }
        self.unseen.insert(key.to_owned(), next);
        next
    }

    fn finish(self, depth: usize) -> (J, JudgingFacts) {
        let mut unseen: Vec<(LabelId, String)> =
            self.unseen.into_iter().map(|(key, id)| (id, key)).collect();
        unseen.sort_unstable();
        let per_document = 1000.0 / self.num_documents.max(1) as f64;
        let facts = JudgingFacts {
            depth,
            is_tuned: self.is_tuned,
            unseen_keys: unseen.into_iter().map(|(_, key)| key).collect(),
            num_named: self.named.len() as u64,
            num_unseen_assignments: self.num_unseen_assignments,
            speed: Speed {
                features_ms_cpu_per_doc: self.features_s * per_document,
                ranking_ms_cpu_per_doc: self.ranking_s * per_document,
            },
        };
        (self.judge, facts)
    }
}

impl MeasuredModel {
    /// An evaluation with what else is known.
    pub fn new(evaluation: Evaluation, facts: JudgingFacts) -> Self {
        Self {
            evaluation,
            depth: facts.depth,
            num_unseen_labels: facts.unseen_keys.len() as u64 + facts.num_named,
            num_unseen_assignments: facts.num_unseen_assignments,
            is_tuned: facts.is_tuned,
            speed: facts.speed,
            unseen_keys: facts.unseen_keys,
        }
    }

    /// Key and name of any label of the evaluation.
    pub fn describe<'a>(&'a self, predictor: &'a Predictor, label: LabelId) -> (&'a str, &'a str) {
        let labels = predictor.labels().labels();
        if let Some(label) = labels.get(label.index()) {
            return (&label.key, &label.name);
        }
        let key = &self.unseen_keys[label.index() - labels.len()];
        (key, key)
    }
}
